"""The page on the architecture is true: each of its names exists, and imports go its way."""

import ast
import re
from pathlib import Path

import pytest

from tests.test_imports import graph

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = {"The library": "fedlab_core", "The course": "fedlab_course"}
COMMANDS = {"fedlab-core", "fedlab-course", "fedlab-course grade"}
ENDS = {".py", ".js", ".md", ".toml", ".csv"}
NOT_A_PLACE = {"build", "dist", "hosted", "shared", "node_modules"}  # made by commands, or data


def section(title: str, text: str = PAGE) -> str:
    """The text below a heading of level 2, to the next one."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert match is not None, title
    return match[1]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def is_path(name: str) -> bool:
    return "/" in name or Path(name).suffix in ENDS


def names_of_python(text: str) -> set[str]:
    """What a module defines or imports: functions, classes with their methods, constants."""
    names: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            names |= {f"{node.name}.{method.name}" for method in methods}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def names_of_javascript(text: str) -> set[str]:
    """What a script defines: functions, classes, methods and constants."""
    named = re.findall(r"^\s*(?:async )?(?:function\*?|class|const) (\w+)", text, re.MULTILINE)
    methods = re.findall(r"^\s*(?:async |\*)?(\w+)\(.*\) \{$", text, re.MULTILINE)
    return {*named, *methods} - {"if", "for", "while", "switch", "catch"}


def steps(text: str) -> list[str]:
    """The numbered steps, each with the lines that continue it."""
    return re.findall(r"^\d+\. (.*(?:\n +.*)*)", text, re.MULTILINE)


def missing(step: str, root: Path = ROOT) -> list[str]:
    """The names in a step that are not in the file named last before them, and lost files."""
    faults = []
    path = ""
    for name in quoted(step):
        if is_path(name):
            path = name
            faults += [] if (root / name).exists() else [name]
        elif name not in COMMANDS and (root / path).is_file():
            text = (root / path).read_text(encoding="utf-8")
            find = names_of_python if path.endswith(".py") else names_of_javascript
            faults += [] if name in find(text) else [f"{path}: {name}"]
    return faults


def rooms(package: str) -> set[str]:
    """The modules and folders of a package, without its own beginning."""
    own = {path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("__")}
    return own | {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}


def storeys(title: str) -> dict[str, int]:
    """Room → number of its storey, in the order of the table."""
    rows = re.findall(r"^\| (\d) \w+ \| `(\w+)` \| [A-Z].*\. \|$", section(title), re.MULTILINE)
    return {room: int(storey) for storey, room in rows}


def test_every_path_on_the_page_exists() -> None:
    paths = [name for name in quoted(PAGE) if is_path(name)]
    assert len(paths) > 50
    assert [name for name in paths if not (ROOT / name).exists()] == []


def test_every_name_in_a_walk_is_in_the_file_before_it() -> None:
    walks = re.split(r"^### ", section("Six walks through the code"), flags=re.MULTILINE)[1:]
    assert len(walks) == 6
    assert all(len(steps(walk)) > 5 for walk in walks)
    assert [fault for walk in walks for step in steps(walk) for fault in missing(step)] == []


@pytest.mark.parametrize(
    ("step", "faults"),
    [
        ("`a.py`: `f` calls `C.m` and `N`, in `a.py`", []),
        ("`a.py`: `g`", ["a.py: g"]),
        ("`a.py`: `C.n`", ["a.py: C.n"]),
        ("`b.py`: `f`", ["b.py"]),
        ("`c.js`: `f`, `K`, `m`, `n`, `V`", []),
        ("`c.js`: `call`, `if`", ["c.js: call", "c.js: if"]),
    ],
)
def test_a_lost_name_is_found(tmp_path: Path, step: str, faults: list[str]) -> None:
    (tmp_path / "a.py").write_text("N = 1\n\n\ndef f(): ...\n\n\nclass C:\n    def m(self): ...\n")
    script = "const V = {\n};\nfunction f(a) {\n  call(a);\n  if (a) {\n  }\n}\nclass K {\n"
    (tmp_path / "c.js").write_text(f"{script}  m() {{\n  }}\n  async n(a) {{\n  }}\n}}\n")
    assert missing(step, tmp_path) == faults


def test_every_folder_has_its_line() -> None:
    listed = re.findall(r"^\| `(\w+)/` \| .*\. \|$", section("The folders"), re.MULTILINE)
    there = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] not in "._"}
    built = {name for name in there if name.endswith(".egg-info")} | NOT_A_PLACE
    assert there - built - {*listed} == set()


@pytest.mark.parametrize("title", PACKAGES)
def test_every_room_has_its_line(title: str) -> None:
    assert set(storeys(title)) == rooms(PACKAGES[title])
    assert list(storeys(title).values()) == sorted(storeys(title).values())


@pytest.mark.parametrize("title", PACKAGES)
def test_imports_go_to_the_same_storey_or_to_a_lower_one(title: str) -> None:
    package = PACKAGES[title]
    levels = storeys(title)
    wrong = set()
    for module, imported in graph(ROOT, package).items():
        own = module.split(".")[1:2]
        for name in imported:
            other = name.split(".")[1:2]
            known = own and other and own[0] in levels
            if known and levels[other[0]] > levels[own[0]]:
                wrong.add(f"{module} imports {name}")
    assert wrong == set()
