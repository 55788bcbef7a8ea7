"""Data and models from a Python file of one's own on the command line."""

import hashlib
import re
from pathlib import Path

import pytest
import torch

import fedlab_core as fl
from fedlab_core import cli

WORK = ["--rounds", "1", "--clients-per-round", "2", "--local-epochs", "1", "--lr", "0.1"]
DATA = """
import torch

import fedlab_core as fl


def clients():
    generator = torch.Generator().manual_seed(0)
    pairs = [(torch.rand(8, 3, generator=generator), torch.arange(8) % 2) for _ in range(3)]
    return fl.FederatedDataset.from_clients(pairs, test=pairs[0], name="mine")


def whole():
    return clients().dataset


def nothing():
    clients()
"""
MODEL = """
from layers import WIDTH
from torch import nn
import torch


def build(fed, seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(fed.x.shape[1], WIDTH), nn.Tanh(), nn.Linear(WIDTH, fed.num_classes))


def build_wrong(fed, seed):
    return fed.width

"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both files in a folder of their own; the model imports a neighbour. Nothing of them stays imported."""
    import sys

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "layers", raising=False)
    (tmp_path / "my_data.py").write_text(DATA)
    (tmp_path / "my_model.py").write_text(MODEL)
    (tmp_path / "layers.py").write_text("WIDTH = 5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return cli.main(["run", *WORK, *arguments])


def test_data_and_model_come_from_the_files_and_the_history_says_so(files: Path, capsys) -> None:
    with torch.random.fork_rng():
        assert run("--dataset", "my_data.py:clients", "--model", "my_model.py:build", "--seed", "3") == 0
    history = fl.History.load("build/history.npz")
    assert history.config["dataset"] == "mine" and history.config["num_clients"] == 3
    assert re.fullmatch(r"my_data\.py:clients, digest [0-9a-f]{16}", history.config["source"])
    digest = hashlib.sha256((files / "my_model.py").read_bytes()).hexdigest()[:16]
    assert history.config["model"]["source"] == f"my_model.py:build, digest {digest}"
    assert history.config["seed"] == 3
    with pytest.raises(ValueError, match=r"'mine' came from my_data\.py:clients, digest \w+; pass fed="):
        fl.rerun(history.config)
    import own_my_data
    import own_my_model

    fed = own_my_data.clients()
    with pytest.raises(ValueError, match=r"Sequential came from my_model\.py:build, digest \w+; pass model="):
        fl.rerun(history.config, fed=fed)
    with torch.random.fork_rng():
        model = own_my_model.build(fed, 3)
    again = fl.rerun(history.config, fed=fed, model=model, progress=False)
    assert torch.equal(again.params, history.params)


def test_a_data_set_is_dealt_out_by_the_options(files: Path) -> None:
    assert run("--dataset", "my_data.py:whole", "--partition", "iid", "--num-clients", "4") == 0
    config = fl.History.load("build/history.npz").config
    assert config["partition"]["law"] == "iid" and config["num_clients"] == 4
    assert config["model"]["name"] == "mlp" and "source" not in config["model"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dataset", "my_data.py:clients", "--alpha", "0.1"], "--alpha: my_data.py:clients deals out its data"),
        (["--dataset", "my_data.py:nothing"], "a Dataset or a FederatedDataset, got NoneType (is a `return`"),
        (["--dataset", "my_data.py:absent"], "--dataset my_data.py:absent: my_data.py has no function 'absent'"),
        (["--model", "my_model.py:build_wrong"], "line 13: AttributeError: 'FederatedDataset' object"),
        (["--model", "my_model:build"], "model='my_model:build': must be one of"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_paragraph(files: Path, capsys, arguments: list[str], words: str) -> None:
    assert run(*arguments) == 2
    said = capsys.readouterr().err
    assert words in " ".join(said.split()) and "Traceback" not in said
    assert not Path("build").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch\n\n1 / 0\n", "line 3: ZeroDivisionError: division by zero"),
        ("def build(fed, seed)\n    pass\n", "line 1: SyntaxError"),
        ("def build():\n    pass\n", "TypeError: build() takes 0 positional arguments but 2 were given"),
    ],
)
def test_errors_in_the_file_are_shown_with_their_line(files: Path, capsys, text: str, words: str) -> None:
    (files / "my_model.py").write_text(text)
    assert run("--dataset", "my_data.py:clients", "--model", "my_model.py:build") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("error: --model my_model.py:build: ") and words in said
