"""Resting points with an absent group, against all sets of clients that can be there and all cohorts of them."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from fedlab_course.theory import AbsentGroup, inclusion

MEANS, SIZE, COHORT = (0.0, 1.0, 4.0), 2, 3
E = np.repeat(MEANS, SIZE)


def every_cohort(presence: float) -> list[tuple[float, list[int]]]:
    """Each cohort with its probability."""
    found = []
    for there in product([False, True], repeat=SIZE):
        chance = np.prod([presence if one else 1 - presence for one in there])
        present = [0, 1, 2, 3, *(4 + i for i, one in enumerate(there) if one)]
        found += [(chance / comb(len(present), COHORT), list(S)) for S in combinations(present, COHORT)]
    return found


@pytest.mark.parametrize("presence", [0.05, 0.5, 1.0])
def test_resting_points_are_those_of_all_cohorts(presence: float) -> None:
    """x rests where Σ over cohorts of P(S) Σ_S ω_k (e_k − x) is zero."""
    group = AbsentGroup(SIZE, MEANS, COHORT)
    pi = inclusion(np.array([1.0, 1, 1, 1, presence, presence]), COHORT)
    cohorts = every_cohort(presence)
    assert sum(chance for chance, _ in cohorts) == pytest.approx(1)
    plain = sum(chance * E[S].mean() for chance, S in cohorts)
    unscaled = [sum(chance * (v[S] / pi[S]).sum() for chance, S in cohorts) for v in (E, np.ones(6))]
    ratio = sum(chance * (E[S] @ (1 / pi[S])) / (1 / pi[S]).sum() for chance, S in cohorts)
    assert group.fedavg(presence) == pytest.approx(plain)
    assert group.horvitz_thompson(presence) == pytest.approx(unscaled[0] / unscaled[1])
    assert group.hajek(presence) == pytest.approx(ratio)
    gone = (1 - presence) ** SIZE
    assert group.one_of_each(presence) == pytest.approx((1 - gone) * 5 / 3 + gone * 0.5)


def test_with_everybody_there_all_rest_at_the_optimum_and_with_nobody_at_the_mean_of_the_others() -> None:
    group = AbsentGroup()
    ways = (group.fedavg, group.one_of_each, group.horvitz_thompson, group.hajek)
    assert [way(1.0) for way in ways] == pytest.approx([2.5] * 4)
    assert [way(0.0) for way in ways] == pytest.approx([1.0] * 4)


def test_a_cohort_that_those_who_stay_cannot_fill_is_refused() -> None:
    with pytest.raises(ValueError, match="clients_per_round=4: only 3"):
        AbsentGroup(1)
