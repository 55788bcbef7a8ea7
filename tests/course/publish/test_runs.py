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
from tests.course.light import InThisProcess

SMALL = Choice(
    algorithms=("fedavg",), split="iid", num_clients=5, clients_per_round=2, rounds=2, local_epochs=2, batch_size=100
)


def request(choice: Choice) -> dict[str, Any]:
    return {"choice": dataclasses.asdict(choice), "x": "rounds", "y": "test_accuracy"}


def test_every_position_has_the_curve_that_the_explorer_would_train_and_none_is_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = runs.stored(request(SMALL), tmp_path)[grid.MIME]
    (slider,) = stored["sliders"]
    assert (slider["label"], slider["options"], slider["start"]) == ("local epochs E", ["1", "2", "5", "10"], 1)
    for cell, epochs in zip(stored["cells"], (1, 2, 5, 10), strict=True):
        (curve,) = dataclasses.replace(SMALL, local_epochs=epochs).curves()
        expected = [record.test_accuracy for record in curve.simulation()]
        shown = [trace for trace in whole(stored, cell)["data"] if trace.get("name") == "FedAvg"]
        assert shown[0]["y"] == pytest.approx(expected, abs=1e-5)
    assert stored["note"].startswith("Runs on the digits with seed 0 alone")
    assert len(list(tmp_path.iterdir())) == 4
    monkeypatch.setattr(runs, "workers_of", None)
    assert runs.stored(request(SMALL), tmp_path)[grid.MIME] == stored


def test_runs_of_another_version_of_the_library_go_and_other_files_stay(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(runs, "workers_of", InThisProcess)
    old = [f"{'0' * 12}-{'a' * 24}.npz", f"{'a' * 24}.npz"]  # the second as earlier versions named it
    mine = ["mine.npz", f"{'0' * 12}-{'a' * 24}.csv"]
    for name in (*old, *mine):
        (tmp_path / name).touch()
    runs.stored(request(SMALL), tmp_path)
    found = {path.name for path in tmp_path.iterdir()}
    assert set(mine) < found and not found & set(old)
    assert len(found) == 4 + len(mine)


def test_a_run_that_diverges_leaves_words_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "workers_of", InThisProcess)
    stored = runs.stored(request(dataclasses.replace(SMALL, lr=1e30, rounds=3)), tmp_path)[grid.MIME]
    cells = [whole(stored, cell) for cell in stored["cells"]]
    assert [cell["error"][:28] for cell in cells] == ["FedAvg diverged in round 1 a"] * 4


def test_no_grid_of_runs_on_large_data(tmp_path: Path) -> None:
    note = runs.stored(request(dataclasses.replace(SMALL, dataset="mnist")), tmp_path)
    assert list(note) == [grid.STILL] and not list(tmp_path.iterdir())
    html = str(outputs.figure(grid.plain(go.Figure(go.Scatter(x=[1], y=[2]))) | note))
    assert '<p class="facts">This figure is static: interactive figures are stored for the digits only' in html
    assert "this run is on mnist" in html


@pytest.mark.parametrize(
    ("algorithms", "split", "names"),
    [("fedavg fedprox", "dirichlet", "mu alpha local_epochs"), ("fedmas", "labels_per_client", "strength labels")],
)
def test_the_controls_are_those_that_matter(algorithms: str, split: str, names: str) -> None:
    found = runs.sliders_of(Choice(algorithms=tuple(algorithms.split()), split=split))
    assert list(dict.fromkeys([*names.split(), "local_epochs"])) == list(found)


def test_a_headless_explorer_asks_for_its_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.setenv("FEDLAB_HEADLESS", "1")
    Explorer(x="bytes", **dataclasses.asdict(SMALL))._ipython_display_()
    (bundle,) = shown
    assert Choice(**bundle[grid.RUNS]["choice"]) == SMALL
    assert bundle[grid.RUNS]["x"] == "bytes" and bundle[grid.PLOTLY]["data"]
