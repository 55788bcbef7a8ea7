"""Code is written for its reader: what the style of all packages promises, measured.

Each rule finds its own planted fault, so that no rule passes because it sees nothing.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("conformance/fedconform", "fedlab_core", "fedlab_course")
# The suite is a program of its own: its formulas have the names of the algorithms.
TREES = (("conformance/fedconform",), ("fedlab_core", "fedlab_course"))
PACKED_PER_1000_LINES = 5
MOST_ANY = 120  # in the library: a name for what is not known, where a type would help the reader

_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def packed(tree: ast.Module) -> Iterator[int]:
    """Lines that assign several unrelated values at once, ``a, b = x, y``. A swap is none."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            names = sorted(ast.unparse(name) for name in target.elts)
            values = sorted(ast.unparse(value) for value in node.value.elts)
            if names != values:
                yield node.lineno


def continued(tree: ast.Module) -> Iterator[int]:
    """Lines that continue a literal of the module by ``|=`` or ``+=``."""
    for node in tree.body:
        if isinstance(node, ast.AugAssign):
            yield node.lineno


def nested(tree: ast.Module) -> Iterator[int]:
    """Lines with a conditional expression inside another one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            inside = [part for part in ast.walk(node) if isinstance(part, ast.IfExp)]
            if len(inside) > 1:
                yield node.lineno


def long_comprehensions(tree: ast.Module) -> Iterator[int]:
    """Lines with a comprehension of more than two clauses ``for`` and ``if``."""
    for node in ast.walk(tree):
        if isinstance(node, _LOOPS):
            clauses = len(node.generators) + sum(len(loop.ifs) for loop in node.generators)
            if clauses > 2:
                yield node.lineno


def anys(tree: ast.Module) -> Iterator[int]:
    """Lines with the type ``Any``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "Any":
            yield node.lineno


def found(rule: Callable[[ast.Module], Iterator[int]], package: str) -> list[str]:
    """Every place in the package that the rule finds, as "path:line"."""
    places = []
    for path in sorted((ROOT / package).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        places += [f"{path.relative_to(ROOT)}:{line}" for line in rule(tree)]
    return places


@pytest.mark.parametrize("rule", [continued, nested, long_comprehensions])
@pytest.mark.parametrize("package", PACKAGES)
def test_no_line_asks_for_a_second_reading(
    rule: Callable[[ast.Module], Iterator[int]], package: str
) -> None:
    assert found(rule, package) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_one_statement_assigns_one_thing(package: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / package).rglob("*.py")]
    lines = sum(len(text.splitlines()) for text in texts)
    assert lines > 1000
    places = found(packed, package)
    assert len(places) <= PACKED_PER_1000_LINES * lines / 1000, places


def test_the_library_says_its_types() -> None:
    assert len(found(anys, "fedlab_core")) <= MOST_ANY


@pytest.mark.parametrize(
    ("rule", "fault", "good"),
    [
        (packed, "a, b = f(1), g(2)", "a, b = b, a\nc, d = pair"),
        (continued, "X = [1]\nX += [2]", "X = [1, 2]\ndef f():\n    x = 1\n    x += 1"),
        (nested, "a = 1 if b else 2 if c else 3", "a = 1 if b else 2\nd = (1 if e else 2) + 1"),
        (
            long_comprehensions,
            "[x for y in z for x in y if x]",
            "[x for y in z for x in y]\n[x for x in y if x]",
        ),
        (anys, "def f(x: Any) -> list[Any]: ...", "def f(x: object) -> int: ..."),
    ],
)
def test_each_rule_finds_its_fault(
    rule: Callable[[ast.Module], Iterator[int]], fault: str, good: str
) -> None:
    assert list(rule(ast.parse(fault)))
    assert not list(rule(ast.parse(good)))


SAME_CLASS = {  # class → the two things that have this name
    "Layout": "of the files of a data set, and of the parameters of a model in one vector",
}
BY_DESIGN = {  # files that packages or chapters have by design
    "__init__",
    "__main__",
    "base",
    "cli",
    "command",
    "exercises",
    "figures",
    "ideas",
    "questions",
    "statements",
}
SAME_MODULE = {  # module → the two things that have this name
    "files": "atomic writes and locks, and reading the files of data sets",
    "losses": "of one client, and of all clients of a cohort at once",
    "rerun": "of a stored history, and of the runs behind a statement",
    "server": "of the simulator, and of Flower",
    "tables": "of clients that a reader brings, and of stored results",
}


def classes(path: Path) -> list[str]:
    """The names of the classes in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def repeated(names: Iterable[str]) -> set[str]:
    """The names that come more than once."""
    return {name for name, times in Counter(names).items() if times > 1}


def paths(tree: tuple[str, ...]) -> list[Path]:
    """All modules of some packages."""
    return [path for package in tree for path in sorted((ROOT / package).rglob("*.py"))]


@pytest.mark.parametrize("tree", TREES)
def test_a_class_name_means_one_thing(tree: tuple[str, ...]) -> None:
    names = [name for path in paths(tree) for name in classes(path)]
    assert len(names) > 20
    assert repeated(names) - SAME_CLASS.keys() == set()


@pytest.mark.parametrize("tree", TREES)
def test_a_module_name_means_one_thing(tree: tuple[str, ...]) -> None:
    names = [path.stem for path in paths(tree)]
    assert len(names) > 20
    assert repeated(names) - BY_DESIGN - SAME_MODULE.keys() == set()


def test_a_repeated_name_is_found() -> None:
    assert repeated(["plan", "run", "plan"]) == {"plan"}
