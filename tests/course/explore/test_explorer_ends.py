"""How the runs of an explorer end: they diverge, meet an error, or are stopped."""

import time

import pytest

import fedlab_core as fl
from fedlab_course.explore import goals, grid, view
from tests.course.explore.short import accuracy, make


def test_divergence_is_a_result_headless_and_in_the_widget() -> None:
    explorer = make(algorithms=("fedavg",))
    figure = explorer.run(lr=1e30)
    assert 'role="status"' in explorer.messages.value and "Error" not in explorer.messages.value
    assert "<b>Diverged.</b> FedAvg diverged in round 1 at η=1e+30" in explorer.messages.value
    assert "done, 0 of 5 rounds" in explorer.status.value
    assert [one.text for one in figure.layout.annotations] == [
        "✗ FedAvg diverged in round 1 at η=1e+30"
    ]
    assert fl.plots.describe(figure).endswith("FedAvg diverged in round 1 at η=1e+30.")
    bundle = explorer.bundle()
    assert bundle["text/plain"] == fl.plots.describe(figure) and grid.RUNS in bundle
    explorer.run(lr=0.05)
    assert explorer.messages.value == ""


def test_a_run_that_diverged_reaches_no_goal_and_the_others_may() -> None:
    alone = make(algorithms=("fedprox",), rounds=8, goal=goals.reach(0.0))
    alone.run(lr=1.0, mu=3.0)
    assert alone.histories and alone.reached is False
    assert "Not yet." in alone._goal_line.value
    alone.run(algorithms=("fedavg", "fedprox"))
    assert alone.reached is True
    for winner, loser in (("FedAvg", "FedProx"), ("FedProx", "FedAvg")):
        explorer = make(rounds=8, goal=goals.beats(winner, loser, margin=-1.0))
        explorer.run(lr=1.0, mu=3.0)
        assert explorer.reached is False, "there is nothing to compare with"


def test_a_curve_that_diverges_later_ends_in_a_cross() -> None:
    """At lr·mu = 3 each local step doubles the distance to the start,
    |1 − lr·mu| = 2: the first rounds are finite.
    """
    name = "FedProx μ=3"
    explorer = make(rounds=8)
    figure = explorer.run(lr=1.0, mu=3.0)
    end = len(explorer.histories[name].records) + 1
    assert end >= 3, "the curve is to have a line before its end"
    shown = {trace.name: trace for trace in figure.data}
    words = f"{name} diverged in round {end} at η=1"
    assert set(shown) == {"FedAvg", name, words}, "only the run that diverged has a mark"
    line = shown[name]
    cross = shown[words]
    assert list(line.x) == list(range(1, end)) and len(shown["FedAvg"].x) == 8
    assert (list(cross.x), list(cross.y)) == ([end - 1], [line.y[-1]])
    assert (cross.mode, cross.marker.symbol, cross.marker.color) == (
        "markers",
        "x",
        line.line.color,
    )
    assert [one.text for one in figure.layout.annotations] == [f"✗ {words}"]
    assert fl.plots.describe(figure).endswith(f"{words}.")


def test_a_data_set_that_is_not_there_is_said_in_words(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    explorer = make(dataset="fashion-mnist")
    explorer.start()  # what a live notebook does when it shows the explorer
    with pytest.raises(fl.DatasetNotFound, match="fashion-mnist is not on disk"):
        explorer.wait(60)
    assert "data fetch fashion-mnist" in explorer.messages.value
    explorer.run(dataset="digits")
    assert explorer.messages.value == ""
    assert len(explorer.histories) == 2


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rounds": 0}, ValueError, "rounds=0: must be an integer from 1"),
        ({"num_clients": 3}, ValueError, "clients_per_round=4: must be an integer from 1 to 3"),
        (
            {"split": "labels_per_client", "labels": 11},
            ValueError,
            "labels_per_client=11: must be .* from 1 to 10",
        ),
        ({"dataset": "fashion-mnist"}, fl.DatasetNotFound, "data fetch fashion-mnist"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_a_control_moves(
    monkeypatch, tmp_path, changes: dict, error: type, message: str
) -> None:
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    explorer = make(algorithms=("fedavg",))
    before = explorer.choice
    with pytest.raises(error, match=message):
        explorer.run(**changes)
    assert explorer.choice == before
    assert explorer.runner.runs() == []


def test_an_error_while_drawing_is_shown_and_raised(monkeypatch) -> None:
    explorer = make()
    monkeypatch.setattr(view, "curves", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        explorer.run()
    assert "ZeroDivisionError" in explorer.messages.value


def test_stop_ends_training_and_run_goes_on() -> None:
    explorer = make(rounds=60, algorithms=("fedavg",))
    explorer.start()
    while not explorer.histories:
        time.sleep(0.001)
    explorer.buttons["Stop"].click()
    explorer.wait(60)
    stopped = len(accuracy(explorer, "FedAvg"))
    assert stopped < 60
    assert "stopped" in explorer.status.value
    assert not explorer.buttons["Run"].disabled
    explorer.buttons["Run"].click()
    explorer.wait(60)
    assert len(accuracy(explorer, "FedAvg")) == 60
