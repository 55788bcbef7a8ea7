"""The suite is a package of its own: it runs where NumPy is all that is installed."""

import ast
import os
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "conformance"
MODULES = sorted((SOURCE / "fedconform").rglob("*.py"))
LATE = {"torch", "pandas"}  # imported inside of the functions that need them
MOST_SECONDS = 5.0


def top_imports(path: Path) -> set[str]:
    """The top-level packages that a module imports when it is imported."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_nothing_but_numpy_and_the_standard_library_is_imported() -> None:
    known = {*sys.stdlib_module_names, "numpy", "fedconform"}
    paths = [path for path in MODULES if path.parent.name != "adapters"]
    assert len(paths) > 20
    assert {name for path in paths for name in top_imports(path)} <= known
    of_numpy = SOURCE / "fedconform" / "adapters" / "textbook_numpy.py"
    assert top_imports(of_numpy) == {"numpy"}


def test_its_project_names_numpy_alone() -> None:
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "fedconform"
    (requirement,) = project["dependencies"]
    assert requirement.startswith("numpy>=") and requirement in root["dependencies"]
    assert project["scripts"] == {"fedconform": "fedconform.command:main"}


BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "pandas", "scipy", "fedlab_core"}:
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Blocked())
from fedconform.command import main
sys.exit(main(sys.argv[1:]))
"""


def test_the_textbook_runs_without_pytorch_and_pandas(tmp_path: Path) -> None:
    files = ["--out", "t.csv", "--json", "t.json", "--junit", "t.xml"]
    command = [sys.executable, "-c", BLOCKED, "textbook_numpy", *files]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "t.json", "t.xml"}
    command[3] = "textbook"
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2 and "blocked: torch" in result.stderr


@pytest.mark.slow
def test_the_textbook_passes_in_an_environment_with_numpy_alone(tmp_path: Path) -> None:
    """Needs an index of packages, for NumPy and setuptools."""
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pip = [scripts / "python", "-m", "pip"]
    source = shutil.copytree(SOURCE, tmp_path / "conformance")  # a build leaves files behind
    subprocess.run([*pip, "install", "--quiet", source], check=True, env=clean)
    listed = subprocess.run([*pip, "list"], check=True, capture_output=True, text=True, env=clean)
    names = {line.split()[0] for line in listed.stdout.splitlines()[2:]}
    assert names == {"fedconform", "numpy", "pip", "setuptools"}
    command = [scripts / "fedconform", "textbook_numpy"]
    subprocess.run(command, check=True, cwd=tmp_path, env=clean, capture_output=True)
    start = time.perf_counter()
    result = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 failed" in result.stdout
    assert seconds < MOST_SECONDS
