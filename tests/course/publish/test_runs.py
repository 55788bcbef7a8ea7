"""The grid of runs behind an explorer on a page."""

import dataclasses
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from fedlab_course import Explorer
from fedlab_course.explore import grid
from fedlab_course.explore.choices import Choice
from fedlab_course.publish import outputs, runs
from tests.course.explore.test_grid import whole

SMALL = Choice(
    algorithms=("fedavg",), split="iid", num_clients=5, clients_per_round=2, rounds=2, local_epochs=2, batch_size=100
)


def request(choice: Choice) -> dict[str, Any]:
    return {"choice": dataclasses.asdict(choice), "x": "rounds", "y": "test_accuracy"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def stored(folder: Path) -> dict[str, Any]:
    return runs.stored(request(SMALL), folder)[grid.MIME]


def test_every_position_holds_the_curve_that_the_explorer_would_train(stored: dict[str, Any]) -> None:
    (slider,) = stored["sliders"]
    assert (slider["label"], slider["options"], slider["start"]) == ("local epochs E", ["1", "2", "5", "10"], 1)
    for cell, epochs in zip(stored["cells"], (1, 2, 5, 10), strict=True):
        (curve,) = dataclasses.replace(SMALL, local_epochs=epochs).curves()
        simulation = curve.simulation()
        expected = [record.test_accuracy for record in simulation]
        shown = [trace for trace in whole(stored, cell)["data"] if trace.get("name") == "FedAvg"]
        assert shown[0]["y"] == pytest.approx(expected, abs=1e-5)
    assert stored["note"].startswith("Runs on the digits with seed 0 alone")


def test_what_was_trained_is_not_trained_again(stored: dict[str, Any], folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(before) == 4
    assert runs.stored(request(SMALL), folder)[grid.MIME] == stored
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_run_that_diverges_leaves_words_in_its_place_also_if_the_library_changes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        runs, "_library", lambda: "as it was when the build began"
    )  # not so in the processes that train
    wild = dataclasses.replace(SMALL, lr=1e30, rounds=3)
    stored = runs.stored(request(wild), tmp_path)[grid.MIME]
    cells = [whole(stored, cell) for cell in stored["cells"]]
    assert [cell["error"][:28] for cell in cells] == ["FedAvg diverged in round 1 at"[:28]] * 4


def test_no_grid_of_runs_on_large_data(tmp_path: Path) -> None:
    told = runs.stored(request(dataclasses.replace(SMALL, dataset="mnist")), tmp_path)
    assert list(told) == [grid.STILL]
    assert not list(tmp_path.iterdir())
    figure = grid.plain(go.Figure(go.Scatter(x=[1], y=[2])))
    html = str(outputs.render({"output_type": "display_data", "data": figure | told}))
    assert '<p class="facts">This figure is static: interactive figures are stored for the digits only' in html
    assert "this run is on mnist" in html


@pytest.mark.parametrize(
    ("algorithms", "split", "names"),
    [
        ("fedavg fedprox", "dirichlet", "mu alpha local_epochs"),
        ("scaffold", "labels_per_client", "labels local_epochs"),
        ("fedmas", "iid", "strength local_epochs"),
    ],
)
def test_the_controls_are_those_that_matter(algorithms: str, split: str, names: str) -> None:
    assert list(runs.sliders_of(Choice(algorithms=tuple(algorithms.split()), split=split))) == names.split()


def test_a_headless_explorer_asks_for_its_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    Explorer(live=False, x="bytes", **{k: v for k, v in dataclasses.asdict(SMALL).items()})._ipython_display_()
    (bundle,) = shown
    assert Choice(**bundle[grid.RUNS]["choice"]) == SMALL
    assert bundle[grid.RUNS]["x"] == "bytes"
    assert bundle[grid.PLOTLY]["data"]
