"""The library runs where nothing of the course is installed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "fedlab_core").rglob("*.py"))
COURSE = ("IPython", "anywidget", "fedlab_course", "ipykernel", "ipywidgets", "jinja2", "latex2mathml", "mistune")
COURSE += ("nbclient", "nbconvert", "nbformat", "papermill", "traitlets")


def of_the_course(module: str) -> bool:
    """Whether only the course may import ``module``."""
    top = module.partition(".")[0]
    return top in COURSE or top.startswith("jupyter")


BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {COURSE!r} or name.startswith("jupyter"):
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Blocked())
sys.path.insert(0, {str(ROOT)!r})
"""

SIMULATE = """
import fedlab_core as fl

digits = fl.load_dataset("digits")
parts = fl.partition.dirichlet(digits.train.y, num_clients=10, alpha=0.3, seed=0)
fed = fl.FederatedDataset(digits, parts)
model = fl.models.mlp(fed, hidden=(8,), seed=0)
work = {"clients_per_round": 3, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
history = fl.simulate(fed, model, fl.FedProx(mu=0.1), rounds=2, **work)
figure = fl.plots.convergence({"FedProx": history})
figure.to_html()
print(type(figure).__name__, len(history.frame))
"""

COMMANDS = """
from fedlab_core import cli

sizes = ["--rounds", "1", "--num-clients", "10", "--clients-per-round", "3"]
print(cli.main(["run", "--algorithm", "fedavg", *sizes, "--out", "history.npz"]), cli.main(["data", "list"]))
"""


def alone(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BLOCK + script], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("name", [*COURSE, "jupyter_core"])
def test_what_is_blocked_cannot_be_imported(name: str, tmp_path: Path) -> None:
    assert f"blocked: {name}" in alone(f"import {name}", tmp_path).stderr


def test_a_simulation_and_a_figure(tmp_path: Path) -> None:
    result = alone(SIMULATE, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].split() == ["Figure", "2"]


def test_the_command_line(tmp_path: Path) -> None:
    result = alone(COMMANDS, tmp_path)
    assert result.stdout.splitlines()[-1:] == ["0 0"], result.stderr
    assert (tmp_path / "history.npz").is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_of_the_library_imports_what_belongs_to_the_course(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not {name for name in named if of_the_course(name)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_dask_is_imported_only_where_it_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in inside:
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert not {name.partition(".")[0] for name in named} & {"dask", "distributed"}


def test_nothing_of_the_library_imports_the_readers() -> None:
    """Only the package itself and the command line name them."""
    for path in FILES:
        if path.parent.name not in ("read", "cli") and path != ROOT / "fedlab_core" / "__init__.py":
            assert "fedlab_core.read" not in path.read_text(encoding="utf-8"), path


def test_what_only_some_readers_need_is_imported_where_it_is_used() -> None:
    script = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport fedlab_core\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "fedlab_core.read.images" in found
    assert not {"datasets", "flwr_datasets", "kaleido", "pyarrow", "torchvision"} & set(found)
