"""The explorers of chapter 4: cohorts drawn blindly and from strata, and clients that are away."""

from math import comb

import numpy as np
import pytest

from fedlab_course import goals, ideas, theory
from fedlab_course.chapters.ch04_who_is_asked import ideas as ideas_04
from fedlab_course.chapters.ch04_who_is_asked.ideas import expected_missing


def means(idea: ideas.Idea, **values: float) -> dict[str, float]:
    return {row[0]: float(row[1]) for row in idea.figure(**values).layout.meta["table"]["rows"]}


def test_a_blind_cohort_misses_what_the_formula_says_and_strata_of_one_label_nothing() -> None:
    found = means(ideas_04.cohorts())
    expected = 10 * comb(90, 10) / comb(100, 10)  # ten holders of each label
    assert found["blind"] == pytest.approx(expected, abs=0.2)  # four standard errors of 400 cohorts
    assert found["from strata"] == 0


def test_the_expectation_is_that_of_all_cohorts() -> None:
    """Four clients and cohorts of two: the label of one client is missed by 3 of 6, that of two by 1 of 6."""
    holds = np.array([[1, 0], [0, 1], [0, 1], [0, 0]], dtype=bool)
    assert expected_missing(holds, 2) == pytest.approx(3 / 6 + 1 / 6)


def test_absence_is_drawn_by_its_formulas_and_marks_stand_where_they_are_given() -> None:
    idea = ideas_04.absence(marks={"FedAvg": (0.4, 1.6)})
    traces = {trace.name: trace for trace in idea.figure().data}
    group = theory.AbsentGroup()
    line = traces["FedAvg, formula"]
    assert list(line.y) == pytest.approx([group.fedavg(phi) for phi in line.x])
    assert list(traces["Horvitz–Thompson, formula"].y) == pytest.approx([2.5] * len(line.x))
    assert traces["FedAvg, one run"].y == (1.6,)


def test_a_last_group_that_wants_what_the_others_want_on_average_leaves_no_bias() -> None:
    idea = ideas_04.absence(goal=goals.Goal("no bias", lambda size, last: last == 1))
    assert idea.reached is False
    figure = idea.figure(last=1.0)
    assert all(list(trace.y) == pytest.approx([1.0] * len(trace.y)) for trace in figure.data)
    idea.sliders["last"].value = 1.0
    assert idea.reached is True
