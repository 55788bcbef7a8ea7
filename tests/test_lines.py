"""The counter of lines, on small files counted by hand."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPECIFICATION = importlib.util.spec_from_file_location("lines", ROOT / "tools" / "lines.py")
assert SPECIFICATION is not None and SPECIFICATION.loader is not None
lines = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(lines)

PYTHON = '''"""A module.

Its docstring has three lines, one of them blank.
"""

# a comment
x = "# no comment"  # this line is code


def f() -> None:
    """One line."""
'''
SCRIPT = """// a comment
/* two
   lines */
const x = 1; // code

f();
"""


def test_lines_of_python() -> None:
    assert lines.of_python(PYTHON) == (2, 5, 4)
    assert sum(lines.of_python(PYTHON)) == len(PYTHON.splitlines())


def test_lines_of_a_script() -> None:
    assert lines.of_script(SCRIPT) == (2, 3, 1)


def test_the_table_has_a_line_for_each_room_and_the_sum(tmp_path: Path) -> None:
    for name in ("tools/a.py", "tests/core/b.py", "tests/core/deep/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(PYTHON)
    (tmp_path / "tools" / "d.js").write_text(SCRIPT)
    head, *rows = [line.split() for line in lines.table(tmp_path).splitlines()]
    assert head == ["folder", "files", "code", "comments", "blank", "all"]
    assert rows == [
        ["tests/core", "2", "4", "10", "8", "22"],
        ["tools", "2", "4", "8", "5", "17"],
        ["all", "4", "8", "18", "13", "39"],
    ]


def test_every_folder_that_is_counted_is_there() -> None:
    assert all((ROOT / folder).is_dir() for folder in lines.FOLDERS)
