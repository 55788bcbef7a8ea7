"""Files and functions stay small enough to hold in the head; the whole may be as large as it has to
be.
"""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = {".py", ".js", ".css", ".j2", ".jinja2", ".sh"}
NOT_OURS = {"build", "dist", "hosted", "node_modules"}  # made by commands
FILE = 400  # lines
FUNCTION = 40  # lines below its docstring
LINE = 100  # columns
OUTPUT = "what a program prints"  # a block without a language
PRINTED = ("results/claims/", "results/report/", "results/REPRODUCTION.md", "results/COURSE.md")


def sources(endings: Collection[str] = CODE) -> dict[str, str]:
    """Path → text, of all files of the project with these ``endings``: all code by default."""
    found = {}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts)
        if path.suffix in endings and not hidden and parts[0] not in NOT_OURS:
            found["/".join(parts)] = path.read_text(encoding="utf-8")
    return found


def functions(text: str) -> dict[str, int]:
    """Function → its number of lines, without its signature and its docstring."""
    counted = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            counted[node.name] = (node.end_lineno or 0) - body[0].lineno + 1
    return counted


def test_no_file_is_too_long_to_hold_in_the_head() -> None:
    lines = {name: len(text.splitlines()) for name, text in sources().items()}
    assert len(lines) > 100
    assert {name: number for name, number in lines.items() if number > FILE} == {}


def test_no_line_is_too_wide() -> None:
    """Ruff counts the columns of Python; here are scripts, style sheets and templates."""
    wide = {}
    for name, text in sources().items():
        if not name.endswith(".py"):
            numbers = [i for i, line in enumerate(text.splitlines(), 1) if len(line) > LINE]
            if numbers:
                wide[name] = numbers
    assert wide == {}


def test_no_function_is_too_long_to_read_at_one_go() -> None:
    long = {}
    for name, text in sources().items():
        if name.endswith(".py"):
            found = functions(text)
            long |= {f"{name}: {one}": number for one, number in found.items() if number > FUNCTION}
    assert not long


def fenced(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, line and language of each line of a page; "" outside of blocks."""
    language = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            language = "" if language else line.removeprefix("```").split(" ")[0] or OUTPUT
        yield number, line, language


def too_long(text: str) -> list[int]:
    """The numbers of the lines of a page that are too long and can be broken.

    A table has one line a row, and a program prints what it prints. One word of more than half a
    line is an address. Windows has no sign that continues a line in both of its shells.
    """
    found = []
    for number, line, language in fenced(text):
        is_table = line.startswith("|")
        is_address = max(map(len, line.split()), default=0) > LINE / 2
        if not is_table and not is_address and language not in (OUTPUT, "bat"):
            found += [number] if len(line) > LINE else []
    return found


def test_ruff_refuses_a_line_of_python_that_is_too_long() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    assert ruff["line-length"] == LINE
    assert "E" in ruff["lint"]["select"]
    allowed = [ruff["lint"]["ignore"], *ruff["lint"]["per-file-ignores"].values()]
    assert not [rule for rules in allowed for rule in rules if "E501".startswith(rule)]


def test_no_line_of_a_page_is_too_long_to_read_without_scrolling() -> None:
    pages = {name: text for name, text in sources({".md"}).items() if not name.startswith(PRINTED)}
    # Chinese has no blanks at which a paragraph could be wrapped without one being shown.
    pages = {name: text for name, text in pages.items() if not re.search(r"\.zh(-CN)?\.md$", name)}
    assert len(pages) > 20
    assert {name: lines for name, text in pages.items() if (lines := too_long(text))} == {}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", "", True),
        ("| ", " |", False),
        ("```python\n", "\n```", True),
        ("```\n", "\n```", False),
        ("```\n```\n", "", True),
        ("[a page](https://example.org/", ")", True),
        (f"[a page](https://example.org/{'x' * 30}) ", "", False),
    ],
)
def test_a_line_of_a_page_that_is_too_long_is_found(before: str, after: str, found: bool) -> None:
    words = "word " * 21
    assert len(words) > LINE
    assert bool(too_long(f"{before}{words}{after}")) == found
