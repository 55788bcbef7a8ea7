"""What any notebook keeps to: nothing that was run, stable ids, order, short cells, one spelling."""

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any

from fedlab_course.check import cells, registry
from fedlab_course.publish.symbols import GREEK, NAMES

MOST_LINES = 20
MOST_COLUMNS = 98  # what the site's column holds
# Twelve letters as Colab draws them, with a digit or a capital inside: "introduction" has twelve letters too.
_MADE_BY_A_PROGRAM = re.compile(
    r"[0-9a-f]{8}(-?[0-9a-f]{4}){0,3}(-?[0-9a-f]{12})?|(?=.*(\d|[a-z][A-Z]))[A-Za-z0-9]{12}_?"
)
_FENCED = re.compile(r"^(```|~~~).*?^\1", flags=re.DOTALL | re.MULTILINE)
_NOT_PROSE = re.compile(
    r"(?P<fence>```|~~~).*?(?P=fence)|\$\$.*?\$\$|`[^`]*`|\$[^$\n]+\$|\]\([^)]*\)|https?://\S+|<[^>]+>", flags=re.DOTALL
)
_SPELLING = {name.lower(): name for name in NAMES}
_NAME = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(_SPELLING, key=len, reverse=True))) + r")(?!\w)", re.I
)
_GREEK = re.compile(r"(?<![\w-])(?:" + "|".join(GREEK) + r")(?![\w-])", re.I)


def faults(notebook: Any, names: list[str], stem: str) -> Iterator[str]:
    """What any notebook must not have; ``names``: the ids of its cells as its file has them."""
    yield from (*_nothing_run(notebook), *_ids(names), *_parameters(notebook), *_headings(notebook))
    for cell in notebook.cells:
        rules = _code_rules if cell.cell_type == "code" else _text_rules
        yield from (f"cell {cell.get('id')}: {fault}" for fault in rules(cell))
    renew = "(python -m fedlab_course.check.exercises writes it anew)"
    yield from (f"{fault} {renew}" for fault in cells.drift(notebook, registry.of_chapter(stem)))


def misspelt(prose: str, symbols: bool = True) -> list[str]:
    """Names, and with ``symbols`` Greek letters, in ``prose`` that are not spelt as on the symbol sheet."""
    text = _NOT_PROSE.sub(" ", prose)
    names = [f"{word} is spelt {_SPELLING[word.lower()]}" for word in _NAME.findall(text) if word not in NAMES]
    letters = _GREEK.findall(text) if symbols else []
    return names + [f"{word} is written {GREEK[word.lower()]} in text" for word in letters]


def _nothing_run(notebook: Any) -> Iterator[str]:
    if "widgets" in notebook.metadata:
        yield "widget state is stored"
    for cell in notebook.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield f"cell {cell.get('id')}: holds outputs or an execution count"


def _ids(names: list[str]) -> Iterator[str]:
    """An id that says what the cell is for survives editing; one that a program drew says nothing."""
    yield from (f"cell {name}: its id is used twice" for name in dict.fromkeys(names) if names.count(name) > 1)
    yield from (f"cell {name}: its id is drawn by a program" for name in names if _MADE_BY_A_PROGRAM.fullmatch(name))


def _parameters(notebook: Any) -> Iterator[str]:
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        yield f"{len(tagged)} cells are tagged parameters, and one must be"


def _headings(notebook: Any) -> Iterator[str]:
    texts = [_FENCED.sub("", cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    levels = [len(marks) for text in texts for marks in re.findall(r"^(#{1,6}) ", text, flags=re.MULTILINE)]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield "the first heading must be the title, and the only one of level 1"
    for before, after in itertools.pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def _code_rules(cell: Any) -> Iterator[str]:
    lines = cell.source.splitlines()
    if not cell.source.strip():
        yield "is empty"
    if len(lines) > MOST_LINES:
        yield f"has {len(lines)} lines, more than {MOST_LINES}"
    for line in lines:
        if len(line) > MOST_COLUMNS:
            yield f"has a line of {len(line)} columns, more than {MOST_COLUMNS}: {line.strip()[:40]}…"
    for text, docstring in _sentences(cell.source):
        yield from misspelt(text, symbols=not docstring)


def _text_rules(cell: Any) -> Iterator[str]:
    yield from misspelt(cell.source)


def _sentences(source: str) -> Iterator[tuple[str, bool]]:
    """The texts in code that a reader sees, those with a space in them, and whether each is a docstring."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return
    blocks = [node.body[0] for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    docstrings = [block.value for block in blocks if isinstance(block, ast.Expr)]
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.value, node in docstrings
