"""The experiments of chapters 4 and 9, against closed forms and by hand."""

import numpy as np
import pytest

from fedlab_course import theory
from fedlab_course.experiments.studies import cluster_race, strata_absence


@pytest.mark.slow
def test_absence_comes_near_its_closed_forms() -> None:
    """The standard deviation over seeds is about 0.1, and 0.2 for Horvitz and Thompson."""
    group = theory.AbsentGroup()
    for method, expected in (
        ("fedavg", group.fedavg(0.4)),
        ("fedsso, one of each", group.one_of_each(0.4)),
    ):
        rows = [strata_absence.run(seed, method=method, presence=0.4)[0] for seed in (1, 2)]
        assert np.mean([row["off"] for row in rows]) == pytest.approx(expected - 2.5, abs=0.2)
        assert all(row["pull"] > 0 for row in rows)


def test_with_everybody_there_both_kinds_of_weights_do_the_same() -> None:
    """π = 1/10 for all and ρ = 1/40, so the weights of a cohort of four sum to 1."""
    [plain], [ratio] = (
        strata_absence.run(3, method=method, presence=1.0)
        for method in ("horvitz-thompson", "hajek")
    )
    assert plain["off"] == pytest.approx(ratio["off"], abs=1e-12)


def test_one_stratum_has_the_variance_of_the_simple_draw() -> None:
    labels, _ = cluster_race.strata(0, split="iid")
    assert (labels["strata"], labels["ratio"]) == ("labels", pytest.approx(1))
    of_labels, _ = cluster_race.strata(0, split="one label")
    assert of_labels["systematic"] < of_labels["simple"]


def test_probes_are_counted_against_the_groups_that_two_clients_share() -> None:
    rows = cluster_race.probes(0, split="one label", kind="epoch")
    assert [row["xi"] for row in rows] == list(cluster_race.XI)
    assert all(row["shared"] == 10 and row["surplus"] == row["clusters"] - 10 for row in rows)
    [sample] = cluster_race.probes(0, split="iid", kind="sample")
    assert sample["shared"] == 1
