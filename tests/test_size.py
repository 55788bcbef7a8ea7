"""Files and functions stay small enough to hold in the head; the whole may be as large as it has to be."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = {".py", ".js", ".css", ".j2", ".jinja2", ".sh"}
NOT_OURS = {"build", "dist", "hosted", "node_modules"}  # made by commands
FILE = 420
FUNCTION = 50


def sources() -> dict[str, str]:
    """Path → text, of all files of code in the project."""
    found = {}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts)
        if path.suffix in CODE and not hidden and parts[0] not in NOT_OURS:
            found["/".join(parts)] = path.read_text(encoding="utf-8")
    return found


def functions(text: str) -> dict[str, int]:
    """Function → its number of lines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in nodes}


def test_no_file_is_too_long_to_hold_in_the_head() -> None:
    lines = {name: len(text.splitlines()) for name, text in sources().items()}
    assert len(lines) > 100
    assert {name: number for name, number in lines.items() if number > FILE} == {}


def test_no_function_is_too_long_to_read_at_one_go() -> None:
    long = {}
    for name, text in sources().items():
        if name.endswith(".py"):
            found = functions(text)
            long |= {f"{name}: {one}": number for one, number in found.items() if number > FUNCTION}
    assert not long
