"""Count the lines of each folder: ``python tools/lines.py`` prints code, comments and blank lines.

Docstrings count as comments. In JavaScript and style sheets, a line counts as a comment if it
begins one or lies inside one.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "conformance",
    "fedlab_core",
    "fedlab_course",
    "tests",
    "benchmarks",
    "tools",
    "data_scripts",
    "docker",
)
SCRIPTS = {".js", ".css"}
_HEADS = ("folder", "files", "code", "comments", "blank", "all")


class Lines(NamedTuple):
    """How many lines are code, comments (with docstrings) and blank."""

    code: int
    comments: int
    blank: int


def of_python(text: str) -> Lines:
    """Count the lines of a Python file. A line of code with a comment at its end is code."""
    texts = text.splitlines()
    comments = set(_docstrings(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith("#"):
            comments.add(token.start[0])
    return _counted(texts, comments)


def of_script(text: str) -> Lines:
    """Count the lines of a JavaScript file or a style sheet."""
    texts = text.splitlines()
    comments = set()
    is_inside = False
    for number, line in enumerate(texts, start=1):
        start = line.strip()
        is_inside = is_inside or start.startswith("/*")
        if is_inside or start.startswith("//"):
            comments.add(number)
        is_inside = is_inside and "*/" not in line
    return _counted(texts, comments)


def _docstrings(text: str) -> Iterator[int]:
    """Yield the numbers of all lines of docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            first = node.body[0]
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _counted(texts: list[str], comments: set[int]) -> Lines:
    blank = sum(not line.strip() for line in texts)
    spoken = sum(bool(texts[number - 1].strip()) for number in comments)
    return Lines(len(texts) - blank - spoken, spoken, blank)


def rooms(root: Path = ROOT) -> dict[str, list[Path]]:
    """Room → its files. The folders of a folder are rooms, and so are the files directly in it."""
    found: dict[str, list[Path]] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".py", *SCRIPTS}:
                parts = path.relative_to(root).parts
                found.setdefault("/".join(parts[:-1][:2]), []).append(path)
    return found


def total(paths: Iterable[Path]) -> Lines:
    """Add up the lines of several files."""
    counted = []
    for path in paths:
        count = of_script if path.suffix in SCRIPTS else of_python
        counted.append(count(path.read_text(encoding="utf-8")))
    return Lines(*map(sum, zip(*counted, strict=True)))


def table(root: Path = ROOT) -> str:
    """The table of all rooms, with the sum below it."""
    by_room = rooms(root)
    rows = [(name, len(paths), total(paths)) for name, paths in by_room.items()]
    every = [path for paths in by_room.values() for path in paths]
    rows.append(("all", len(every), total(every)))
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{_HEADS[0]:<{width}}" + "".join(f"{head:>10}" for head in _HEADS[1:])]
    for name, files, count in rows:
        numbers = (files, *count, sum(count))
        lines.append(f"{name:<{width}}" + "".join(f"{number:>10,}" for number in numbers))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
