"""The explorer of margins: its words are those of an interval worked out by hand."""

import pytest

from fedlab_course.chapters.ch15_reproduction import ideas

# Mean 0.03, standard deviation 0.01, t = 4.3027 for two degrees of freedom: 0.03 ± 0.0248.
DIFFERENCES = [0.02, 0.03, 0.04]


@pytest.mark.parametrize(
    ("delta", "word"), [(0.005, "holds"), (0.01, "undecided"), (0.05, "undecided"), (0.055, "equivalent")]
)
def test_the_word_follows_from_the_interval_and_the_margin(delta: float, word: str) -> None:
    figure = ideas.margin(DIFFERENCES, delta=delta).figure()
    assert word in figure.layout.xaxis.title.text
    assert word in figure.layout.meta["alt"]
    [row] = figure.layout.meta["table"]["rows"]
    assert row[:5] == ["3", f"{delta:g}", "+0.0300", "+0.0052", "+0.0548"]


def test_fewer_seeds_widen_the_interval() -> None:
    """Two differences, 0.02 and 0.03: 0.025 ± 12.706 · 0.005."""
    figure = ideas.margin(DIFFERENCES).figure(seeds=2)
    assert figure.layout.meta["table"]["rows"][0][3:5] == ["-0.0385", "+0.0885"]


def test_the_goal_asks_for_all_seeds_and_an_undecided_word() -> None:
    idea = ideas.margin(DIFFERENCES, delta=0.005, goal=ideas.undecided(DIFFERENCES))
    assert idea.reached is False
    idea.sliders["delta"].value = 0.01
    assert idea.reached is True
    idea.sliders["seeds"].value = 2
    assert idea.reached is False
