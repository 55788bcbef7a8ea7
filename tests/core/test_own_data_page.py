"""docs/own-data.md: its code runs from top to bottom in an empty folder, and does what the page says."""

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

import fedlab_core as fl
from fedlab_core import cli

PAGE = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|sh)(?: needs=(\w+))?\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The names after all blocks; ``seen``: the federations on the way. Blocks that name a file write it."""
    pytest.importorskip("PIL")
    names: dict = {"seen": []}
    with pytest.MonkeyPatch.context() as patch, torch.random.fork_rng():
        folder = tmp_path_factory.mktemp("page")
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        for kind, needs, block in BLOCKS:
            file = re.match(r"# (\w+\.py)\n", block)
            if needs and importlib.util.find_spec(needs) is None:
                continue
            if kind == "sh":
                program, *arguments = shlex.split(block)
                assert (program, arguments[:2]) == ("python", ["-m", "fedlab_core"])
                names["status"] = cli.main(arguments[2:])
            elif file:
                (folder / file[1]).write_text(block)
            else:
                exec(block, names)
                names["seen"].append(names.get("fed"))
        names["folder"] = folder
    return names


def test_every_reader_has_its_example() -> None:
    code = "".join(block for _, _, block in BLOCKS)
    assert {name for name in fl.read.__all__ if f"fl.read.{name}(" not in code} == set()


def test_the_table_and_the_file_have_the_users_and_classes_of_the_page(page) -> None:
    _, table, file, *_ = page["seen"]
    assert table.names == file.names == ("Basel", "Bern", "Chur", "Genf", "Uri")
    assert table.dataset.classes == ("ill", "well")
    assert int(table.sizes.sum()) + len(table.test) == 300


def test_the_images_have_the_size_and_the_colours_asked_for(page) -> None:
    (images,) = [fed for fed in page["seen"] if fed is not None and fed.x.shape[1:] == (1, 16, 16)][:1]
    assert images.names == ("ann", "bob", "cem") and images.dataset.classes == ("bat", "owl")


def test_only_the_head_of_the_frozen_model_is_counted(page) -> None:
    parameters = 32 * 2 + 2
    assert page["history"].config["model"]["num_parameters"] == parameters
    assert page["history"].frame["bytes_up"].iloc[0] == 3 * 4 * parameters
    assert page["again"].model.enter.in_features == 2


def test_the_command_runs_the_files(page) -> None:
    assert page["status"] == 0
    config = fl.History.load(page["folder"] / "build" / "history.npz").config
    assert config["source"].startswith("my_data.py:load") and config["model"]["source"].startswith("my_model.py:build")
