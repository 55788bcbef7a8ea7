"""The library runs where nothing of the course is installed."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "fedlab_core").rglob("*.py"))
COURSE = (
    "IPython",
    "anywidget",
    "fedlab_course",
    "ipykernel",
    "ipywidgets",
    "jinja2",
    "latex2mathml",
    "mistune",
    "nbclient",
    "nbconvert",
    "nbformat",
    "papermill",
    "traitlets",
)


def of_the_course(module: str) -> bool:
    """Whether only the course may import ``module``."""
    top = module.partition(".")[0]
    return top in COURSE or top.startswith("jupyter")


BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {(*COURSE, "torchvision")!r} or name.startswith("jupyter"):
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Blocked())
sys.path.insert(0, {str(ROOT)!r})
"""

SCRIPT = """
import fedlab_core as fl

SEEN = [*sys.modules]
from fedlab_core import cli

digits = fl.load_dataset("digits")
parts = fl.partition.dirichlet(digits.train.y, num_clients=10, alpha=0.3, seed=0)
fed = fl.FederatedDataset(digits, parts)
model = fl.models.mlp(fed, hidden=(8,), seed=0)
work = {"clients_per_round": 3, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
history = fl.simulate(fed, model, fl.FedProx(mu=0.1), rounds=2, **work)
figure = fl.plots.convergence({"FedProx": history})
figure.to_html()
sizes = ["--rounds", "1", "--num-clients", "10", "--clients-per-round", "3"]
ran = cli.main(["run", "--algorithm", "fedavg", *sizes, "--out", "history.npz"])
listed = cli.main(["data", "list"])
import fedlab_core.sweep.workers
print(type(figure).__name__, len(history.frame), ran, listed, "distributed" in sys.modules, *SEEN)
"""


def test_a_simulation_a_figure_and_the_command_line(tmp_path: Path) -> None:
    """Block everything of the course and torchvision. What only some readers need is not imported
    at the start.
    """
    command = [sys.executable, "-c", BLOCK + SCRIPT]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    last = result.stdout.splitlines()[-1].split()
    assert last[:5] == ["Figure", "2", "0", "0", "False"] and (tmp_path / "history.npz").is_file()
    assert "fedlab_core.read.samples" in last
    late = {"datasets", "flwr_datasets", "kaleido", "pyarrow", "torchvision"}
    assert not late & set(last)


def test_no_file_of_the_library_imports_what_belongs_to_the_course() -> None:
    for path in FILES:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = {
            alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
        }
        named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not {name for name in named if of_the_course(name)}, path
    assert (
        of_the_course("nbformat.v4")
        and of_the_course("jupyter_core")
        and not of_the_course("numpy")
    )


def test_nothing_of_the_library_imports_the_readers() -> None:
    """Only the package itself and the command line name them."""
    for path in FILES:
        if path.parent.name not in ("read", "cli") and path != ROOT / "fedlab_core" / "__init__.py":
            assert "fedlab_core.read" not in path.read_text(encoding="utf-8"), path
