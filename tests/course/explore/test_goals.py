"""Goals: reached exactly where the curves are, for what they
cost, and the same after being stored.
"""

import numpy as np
import plotly.graph_objects as go
import pytest

from fedlab_core.history import History, RoundRecord
from fedlab_course.explore import goals, grid, ideas
from fedlab_course.explore.widgets import slider


def history(accuracies: list[float], megabytes: float) -> History:
    """A run with these accuracies, whose rounds send so many MB up and as many down."""
    return History(
        {},
        [
            RoundRecord(
                round=t,
                server_updates=2 * t,
                test_accuracy=accuracy,
                test_loss=1.0,
                train_loss=1.0,
                bytes_up=int(t * megabytes * 1e6),
                bytes_down=int(t * megabytes * 1e6),
                drift=0.0,
                lr=0.1,
                seconds=0.0,
            )
            for t, accuracy in enumerate(accuracies, start=1)
        ],
        template=None,
    )


def test_reach_counts_both_directions() -> None:
    curves = {"FedAvg": history([0.5, 0.8], 1.0)}  # 2 rounds, 4 MB, 4 updates
    assert goals.reach(0.8).check(curves)
    assert not goals.reach(0.81).check(curves)
    assert goals.reach(0.8, megabytes=4).check(curves) and not goals.reach(
        0.8, megabytes=3.9
    ).check(curves)
    curves = {"FedAvg": history([0.5, 0.9, 0.5], 1.0)}  # 4 MB at 0.9, 2 MB before
    assert goals.reach(0.9, megabytes=4).check(curves) and not goals.reach(0.9, megabytes=3).check(
        curves
    )
    assert not goals.reach(0.0).check({"FedAvg": history([np.nan], 1.0)})


def test_beats_compares_what_both_have_spent() -> None:
    slow = history([0.1, 0.2, 0.3, 0.4, 0.5], 1.0)
    fast = history([0.3, 0.4, 0.4, 0.4, 0.4], 2.0)
    curves = {"FedAvg": slow, "SCAFFOLD": fast}
    assert goals.beats("FedAvg", "SCAFFOLD").check(curves)  # .5 against .4 after five rounds
    assert goals.beats("FedAvg", "SCAFFOLD", margin=0.2).check(curves) is False
    # For 10 MB one made five rounds, the other two: .5 against .4
    # again; and the other way round not.
    assert goals.beats("FedAvg", "SCAFFOLD", x="bytes").check(curves)
    assert not goals.beats("SCAFFOLD", "FedAvg", x="bytes").check(curves)
    assert not goals.beats("FedAvg", "FedProx").check(curves)


def test_a_run_that_ended_in_its_first_round_reaches_nothing() -> None:
    for curves in (
        {"FedAvg": history([], 1.0), "FedProx": history([0.9], 1.0)},
        {"FedAvg": history([], 1.0)},
        {},
    ):
        for winner, loser in (("FedAvg", "FedProx"), ("FedProx", "FedAvg")):
            assert goals.beats(winner, loser).check(curves) is False
        assert goals.reach(0.8).check(curves) is ("FedProx" in curves)


def test_bad_goals_are_named() -> None:
    with pytest.raises(ValueError, match="bytes"):
        goals.beats("FedAvg", "SCAFFOLD", x="byte")


def test_known_goals_survive_storage() -> None:
    for goal in (
        goals.reach(0.8, megabytes=15),
        goals.beats("FedAvg", "FedProx", x="bytes", margin=0.02),
    ):
        again = goals.of_data(goal.data)
        assert (again.text, again.data) == (goal.text, goal.data)
    assert goals.of_data(goals.Goal("find it", lambda **values: True).data) is None


def test_an_idea_says_whether_its_sliders_reach_the_goal() -> None:
    goal = goals.Goal("make x larger than 1", lambda x: x > 1)
    idea = ideas.Idea(lambda x: go.Figure(), {"x": slider("x", (0, 1, 2), 0, "x")}, goal=goal)
    assert idea.reached is False
    idea.sliders["x"].value = 2
    assert idea.reached is True
    stored = idea.bundle()[grid.MIME]
    assert stored["goal"] == {"text": "make x larger than 1", "met": [False, False, True]}
