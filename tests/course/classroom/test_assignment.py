"""Seats: their names, the digits that they draw, and the drawings that they keep for a test."""

from collections import Counter

import pytest

from fedlab_course.classroom.assignment import MODES, is_held, labels
from fedlab_course.classroom.seats import Seats


@pytest.mark.parametrize("mode", MODES)
def test_a_task_has_its_number_of_labels_and_the_class_has_all(mode: str) -> None:
    tasks = [labels(mode, number) for number in range(40)]
    assert {len(set(one)) for one in tasks} == {MODES[mode][0]}
    assert set().union(*tasks) == set(range(10))
    if mode == "two":
        assert len({tuple(one) for one in tasks}) >= 30


@pytest.mark.parametrize("mode", MODES)
def test_a_quarter_is_held_back_and_every_label_trains_and_is_tested(mode: str) -> None:
    num_labels, each = MODES[mode]
    number = num_labels * each
    tested: Counter[int] = Counter()
    for seat in range(40):
        held = [place for place in range(number) if is_held(place, num_labels, seat)]
        assert abs(len(held) - number / 4) <= 1
        own = Counter(place % num_labels for place in held)
        assert max(own.values()) < each  # every label has a drawing that trains
        tested += own
        if mode == "two":
            assert set(own.values()) == {2}
    assert len(tested) == num_labels
    assert max(tested.values()) <= 1.5 * min(tested.values())


def test_two_phones_with_one_nickname_have_two_names() -> None:
    seats = Seats()
    names = [seats.join(f"{place:032x}", "fox").name for place in range(3)]
    assert names == ["fox", "fox (2)", "fox (3)"]
    assert seats.join(f"{1:032x}", "fox").name == "fox (2)"
    assert seats.join(f"{1:032x}", "owl").name == "owl"
