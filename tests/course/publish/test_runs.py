"""The grid of runs behind an explorer on a page."""

import dataclasses
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from fedlab_core.history import History
from fedlab_core.simulation import Diverged
from fedlab_course import Explorer
from fedlab_course.explore import goals, grid
from fedlab_course.explore.choices import Choice
from fedlab_course.publish import outputs, runs
from tests.course.explore.test_grid import whole
from tests.course.light import InThisProcess

SMALL = Choice(
    algorithms=("fedavg",),
    split="iid",
    num_clients=5,
    clients_per_round=2,
    rounds=2,
    local_epochs=2,
    batch_size=100,
)


def request(choice: Choice) -> dict[str, Any]:
    return {"choice": dataclasses.asdict(choice), "x": "rounds", "y": "test_accuracy"}


def test_every_position_has_the_curve_that_the_explorer_would_train_and_none_is_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = runs.stored(request(SMALL), tmp_path)[grid.MIME]
    (slider,) = stored["sliders"]
    assert (slider["label"], slider["options"], slider["start"]) == (
        "local epochs E",
        ["1", "2", "5", "10"],
        1,
    )
    for cell, epochs in zip(stored["cells"], (1, 2, 5, 10), strict=True):
        (curve,) = dataclasses.replace(SMALL, local_epochs=epochs).curves()
        expected = [record.test_accuracy for record in curve.simulation()]
        shown = [trace for trace in whole(stored, cell)["data"] if trace.get("name") == "FedAvg"]
        assert shown[0]["y"] == pytest.approx(expected, abs=1e-5)
    assert stored["note"].startswith("Runs on the digits with seed 0 alone")
    assert len(list(tmp_path.iterdir())) == 4
    monkeypatch.setattr(runs, "workers_of", None)
    assert runs.stored(request(SMALL), tmp_path)[grid.MIME] == stored


def test_runs_of_another_version_of_the_library_go_and_other_files_stay(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(runs, "workers_of", InThisProcess)
    # the second as earlier versions named it
    old = [f"{'0' * 12}-{'a' * 24}.npz", f"{'a' * 24}.npz"]
    mine = ["mine.npz", f"{'0' * 12}-{'a' * 24}.csv"]
    for name in (*old, *mine):
        (tmp_path / name).touch()
    runs.stored(request(SMALL), tmp_path)
    found = {path.name for path in tmp_path.iterdir()}
    assert set(mine) < found and not found & set(old)
    assert len(found) == 4 + len(mine)


@pytest.fixture
def two_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grids with a slider for μ alone, at 0 and 3, trained in this process."""
    monkeypatch.setattr(runs, "workers_of", InThisProcess)
    monkeypatch.setattr(runs, "SHOWN", ("mu",))
    few = dataclasses.replace(runs.PARAMETERS["mu"], stored=(0.0, 3.0))
    monkeypatch.setitem(runs.PARAMETERS, "mu", few)


def test_a_run_that_diverges_keeps_its_curve_which_ends_in_a_cross(
    tmp_path: Path, two_positions: None
) -> None:
    """At lr·mu = 3 each local step doubles the distance to the start,
    |1 − lr·mu| = 2: the first rounds are finite.
    """
    choice = Choice(algorithms=("fedavg", "fedprox"), split="iid", lr=1.0, mu=3.0, rounds=8)
    stored = runs.stored(request(choice), tmp_path)[grid.MIME]
    good, bad = (whole(stored, cell) for cell in stored["cells"])
    curve = dataclasses.replace(choice, algorithms=("fedprox",)).curves()[0]
    with pytest.raises(Diverged) as caught:
        curve.simulation().run()
    end = caught.value.round
    assert 3 <= end <= 8, "the curve is to have a line before its end"
    words = f"FedProx μ=3 diverged in round {end} at η=1"
    shown = {trace["name"]: trace for trace in bad["data"]}
    assert list(shown) == ["FedAvg", "FedProx μ=3", words]
    line = shown["FedProx μ=3"]
    cross = shown[words]
    assert line["x"] == list(range(1, end)) and len(shown["FedAvg"]["x"]) == 8
    assert (cross["x"], cross["y"]) == ([end - 1], line["y"][-1:])
    assert (cross["marker"]["symbol"], cross["marker"]["color"]) == ("x", line["line"]["color"])
    assert cross["legendgroup"] == line["legendgroup"], "the legend hides both"
    assert [one["text"] for one in bad["layout"]["annotations"]] == [f"✗ {words}"]
    assert bad["layout"]["meta"]["alt"].endswith(f"{words}.")
    assert not any("diverged" in trace["name"] for trace in good["data"])
    assert "diverged" not in good["layout"]["meta"]["alt"]


def test_a_run_that_diverges_in_its_first_round_leaves_words_on_an_empty_chart(
    tmp_path: Path, two_positions: None
) -> None:
    choice = dataclasses.replace(SMALL, algorithms=("fedavg", "fedprox"), lr=1e30)
    goal = goals.beats("FedAvg", "FedProx")
    stored = runs.stored(request(choice) | {"goal": goal.data}, tmp_path)[grid.MIME]
    for cell in stored["cells"]:
        (words,) = (one["text"] for one in whole(stored, cell)["layout"]["annotations"])
        assert words.startswith("✗ FedAvg diverged in round 1 at η=1e+30<br>✗ FedProx μ=")
    assert stored["goal"]["met"] == [False] * len(stored["cells"])


def test_a_run_that_diverged_reaches_no_goal(tmp_path: Path, two_positions: None) -> None:
    choice = Choice(algorithms=("fedprox",), split="iid", lr=1.0, mu=3.0, rounds=8)
    stored = runs.stored(request(choice) | {"goal": goals.reach(0.0).data}, tmp_path)[grid.MIME]
    assert stored["goal"]["met"] == [True, False]


def test_a_probe_that_diverges_is_not_called_a_round(tmp_path: Path, two_positions: None) -> None:
    (curve,) = SMALL.curves()
    runs._train([curve], tmp_path)
    (path,) = tmp_path.iterdir()
    history = History.load(path)
    history.records.clear()
    history.config[runs._DIVERGED] = {"round": 0, "client": 2, "lr": 0.5}
    history.save(path)
    stored = runs.stored(request(SMALL), tmp_path)[grid.MIME]
    (cell,) = stored["cells"]
    assert (
        whole(stored, cell)["layout"]["annotations"][0]["text"]
        == "✗ FedAvg diverged in its probe at η=0.5"
    )


def test_no_grid_of_runs_on_large_data(tmp_path: Path) -> None:
    note = runs.stored(request(dataclasses.replace(SMALL, dataset="mnist")), tmp_path)
    assert list(note) == [grid.STILL] and not list(tmp_path.iterdir())
    html = str(outputs.figure(grid.plain(go.Figure(go.Scatter(x=[1], y=[2]))) | note))
    assert (
        '<p class="facts">This figure is static: interactive figures are stored for the digits only'
        in html
    )
    assert "this run is on mnist" in html


@pytest.mark.parametrize(
    ("algorithms", "split", "names"),
    [
        ("fedavg fedprox", "dirichlet", "mu alpha local_epochs"),
        ("fedmas", "labels_per_client", "strength labels"),
    ],
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
