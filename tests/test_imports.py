"""Imports flow one way: neither package has a cycle. Imports
for type checkers alone do not count.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# the folder of a package, its name, and fewer modules than it has
PACKAGES = [("", "fedlab_core", 50), ("", "fedlab_course", 50), ("conformance", "fedconform", 20)]


def modules(root: Path, package: str) -> dict[str, Path]:
    """Dotted name → file."""
    files = {
        path.relative_to(root).with_suffix(""): path for path in (root / package).rglob("*.py")
    }
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in files.items()}


def at_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports outside of functions: at the top, and in ``if``, ``try``, ``with`` and ``class``.

    Those under ``if TYPE_CHECKING`` never run, and are left out.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from at_import(child)


def graph(root: Path, package: str) -> dict[str, set[str]]:
    """Module → the modules of the package that it imports by name; packages on the way to those are
    not counted.
    """
    known = modules(root, package)
    edges: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for node in at_import(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                edges[name].update(alias.name for alias in node.names if alias.name in known)
                continue
            base = node.module or ""
            if node.level:
                above = name.split(".")[: None if path.name == "__init__.py" else -1]
                above = above[: len(above) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            if base in known:
                inner = {f"{base}.{alias.name}" for alias in node.names}
                edges[name] |= (inner & set(known)) | ({base} if inner - set(known) else set())
    return edges


def cycle(root: Path, package: str) -> list[str]:
    """A cycle of imports, or nothing."""
    try:
        TopologicalSorter(graph(root, package)).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize(("folder", "package", "least"), PACKAGES)
def test_no_module_imports_itself_in_a_circle(folder: str, package: str, least: int) -> None:
    assert len(graph(ROOT / folder, package)) > least
    assert cycle(ROOT / folder, package) == []


def test_the_suite_imports_neither_the_library_nor_the_course() -> None:
    """An adapter is a file for another program."""
    for path in (ROOT / "conformance").rglob("*.py"):
        if path.parent.name != "adapters":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
            assert not [one for one in found if "fedlab_" in ast.unparse(one)], path


def rooms(modules: dict[str, set[str]]) -> dict[str, set[str]]:
    """Folder or loose module of a package → the others that it imports. The package's own
    ``__init__`` imports what it offers, and an adapter is a file for another program: both are left
    out.
    """
    edges: dict[str, set[str]] = {}
    for name, imported in modules.items():
        parts = name.split(".")
        if len(parts) == 1 or "adapters" in parts:
            continue
        others = {other.split(".")[1] for other in imported if "." in other}
        edges.setdefault(parts[1], set()).update(others - {parts[1]})
    return edges


@pytest.mark.parametrize(("folder", "package", "least"), PACKAGES)
def test_no_folder_imports_another_that_imports_it(folder: str, package: str, least: int) -> None:
    TopologicalSorter(rooms(graph(ROOT / folder, package))).prepare()


def test_two_folders_that_import_one_another_are_seen() -> None:
    modules = {
        "p.a.one": {"p.b.two"},
        "p.a.last": set(),
        "p.b.two": set(),
        "p.b.three": {"p.a.last"},
    }
    with pytest.raises(CycleError):
        TopologicalSorter(rooms(modules)).prepare()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("import pack.b", "import pack.a"),
        ("from . import b", "from .a import name"),
        (
            "if True:\n    from pack.b import name",
            "try:\n    import pack.a\nexcept ImportError:\n    pass",
        ),
    ],
)
def test_a_circle_is_seen(tmp_path: Path, first: str, second: str) -> None:
    (tmp_path / "pack" / "inner").mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("from pack.a import name\n")
    (tmp_path / "pack" / "a.py").write_text(first)
    (tmp_path / "pack" / "b.py").write_text(second)
    (tmp_path / "pack" / "inner" / "__init__.py").write_text("from pack.b import name")
    assert {"pack.a", "pack.b"} <= set(cycle(tmp_path, "pack"))


def test_an_import_for_types_alone_is_no_circle(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "a.py").write_text("import pack.b")
    (tmp_path / "pack" / "b.py").write_text("if TYPE_CHECKING:\n    import pack.a")
    assert cycle(tmp_path, "pack") == []
