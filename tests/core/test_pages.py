"""The code of docs/own-data.md and docs/logging-and-figures.md runs, and does what the pages
say.
"""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from tests.conftest import browser

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = [
    "round",
    "server_updates",
    "test_accuracy",
    "test_loss",
    "train_loss",
    "bytes_up",
    "bytes_down",
    "drift",
]


def names_after(page: str, folder: Path) -> dict:
    """Run a page's blocks from top to bottom in an empty folder, and return their names.

    ``feds``: the federation after each block. A block is left out if the library it needs is not
    installed.
    """
    names: dict = {"feds": []}
    blocks = re.findall(
        r"```python(?: needs=(\w+))?\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL
    )
    with pytest.MonkeyPatch.context() as patch, torch.random.fork_rng():
        patch.chdir(folder)
        for needs, block in blocks:
            if needs and (
                importlib.util.find_spec(needs) is None
                or (needs == "kaleido" and browser() is None)
            ):
                continue
            exec(block, names)
            names["feds"].append(names.get("fed"))
    return names | {"folder": folder}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict:
    pytest.importorskip("PIL")
    return names_after("own-data.md", tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def logging(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """``expected``: what the logged run measures, apart from the time."""
    names = names_after("logging-and-figures.md", tmp_path_factory.mktemp("logging"))
    run = fl.simulate(
        names["fed"], names["model"], fl.FedAvg(), **names["settings"], progress=False
    )
    return names | {"expected": run.frame[MEASURED]}


def test_the_readers_give_the_users_classes_and_shapes_of_the_page(data) -> None:
    _, table, file, *_ = data["feds"]
    assert table.names == file.names == ("Basel", "Bern", "Chur", "Genf", "Uri")
    assert table.dataset.classes == ("ill", "well")
    assert int(table.sizes.sum()) + len(table.test) == 300
    images = next(fed for fed in data["feds"] if fed is not None and fed.x.shape[1:] == (1, 16, 16))
    assert images.names == ("ann", "bob", "cem") and images.dataset.classes == ("bat", "owl")


@pytest.mark.usefixtures("vision")
def test_transforms_crop_and_normalise_the_images_of_a_folder(data) -> None:
    """Images of 20 × 30 pixels, of which the middle 16 × 16
    remain, minus 0.5 and divided by 0.25.
    """
    from PIL import Image

    dataset = data["dataset"]
    assert dataset.classes == ("bat", "owl") and (len(dataset.train), len(dataset.test)) == (9, 3)
    read = torch.cat([dataset.train.x, dataset.test.x])
    for file in (data["folder"] / "photos" / "ann").rglob("*.png"):
        middle = np.asarray(Image.open(file))[2:18, 7:23].astype(np.float32)
        expected = torch.from_numpy((middle / 255 - 0.5) / 0.25).permute(2, 0, 1)
        assert sum(torch.allclose(image, expected, atol=1e-6) for image in read) == 1


def test_only_the_head_of_the_frozen_model_is_counted(data) -> None:
    parameters = 32 * 2 + 2
    assert data["history"].config["model"]["num_parameters"] == parameters
    assert data["history"].frame["bytes_up"].iloc[0] == 3 * 4 * parameters
    assert data["again"].model.enter.in_features == 2


@pytest.mark.slow
def test_a_json_lines_file_holds_the_history(logging) -> None:
    rows = [
        json.loads(line) for line in (logging["folder"] / "fedavg.jsonl").read_text().splitlines()
    ]
    pd.testing.assert_frame_equal(pd.DataFrame(rows)[MEASURED], logging["expected"])


@pytest.mark.slow
def test_tensorboard_has_every_round(logging) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(logging["folder"] / "runs" / "fedavg"))
    events.Reload()
    losses = [event.value for event in events.Scalars("test_loss")]
    assert losses == pytest.approx(logging["expected"]["test_loss"].tolist(), rel=1e-6)


@pytest.mark.slow
def test_weights_and_biases_writes_a_run_without_a_network(logging) -> None:
    pytest.importorskip("wandb", reason="Weights & Biases is not installed")
    [run] = (logging["folder"] / "wandb").glob("offline-run-*")
    assert next(run.glob("*.wandb")).stat().st_size > 0


@pytest.mark.slow
def test_tables_are_written(logging) -> None:
    rounds, clients = (
        pd.read_csv(logging["folder"] / f"{name}.csv") for name in ("rounds", "clients")
    )
    pd.testing.assert_frame_equal(rounds, logging["history"].frame)
    assert clients["client"].tolist() == list(range(10))
    read = pd.read_csv(logging["folder"] / "accuracy.csv", index_col=0)
    pd.testing.assert_frame_equal(read, logging["summary"], check_names=False)
    pytest.importorskip("jinja2")
    race, accuracy = (
        logging["folder"].joinpath(name).read_text() for name in ("race.tex", "accuracy.tex")
    )
    assert r"FedProx $\mu$=0.1 & " in race and r"\label{tab:race}" in race
    assert rf"\textbf{{{logging['summary']['mean'].max():.3f}}}" in accuracy


@pytest.mark.slow
@pytest.mark.needs_browser
def test_figures_are_written(logging) -> None:
    pytest.importorskip("kaleido")
    starts = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    for suffix, start in starts.items():
        assert (logging["folder"] / f"convergence.{suffix}").read_bytes().startswith(start)


def test_the_pages_name_every_reader_and_every_field_of_a_record() -> None:
    own_data, log = (
        (DOCS / page).read_text(encoding="utf-8")
        for page in ("own-data.md", "logging-and-figures.md")
    )
    assert {name for name in fl.read.__all__ if f"fl.read.{name}(" not in own_data} == set()
    assert set(fl.RoundRecord.__dataclass_fields__) <= set(re.findall(r"`(\w+)`", log))
