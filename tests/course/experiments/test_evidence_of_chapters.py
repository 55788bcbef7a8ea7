"""Experiments that put a missing rival, threshold or start beside what a chapter shows."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.experiments.studies import (
    concept_clusters,
    noisy_sums,
    partial_work,
    private_runs,
    scaffold_starts,
)
from fedlab_course.methods import several
from tests.support import blobs


def _server_of(algorithm: fl.Algorithm, points: np.ndarray) -> np.ndarray:
    """The labels that ``algorithm`` gives to ``points``."""

    class Seeded:
        seed = 0

    return algorithm.cluster_labels(Seeded(), points)


def test_each_clustering_of_the_probe_finds_two_distant_pairs() -> None:
    """Within a pair the distance is 0.1, and between the pairs 10."""
    points = np.array([[0.0, 0.0], [0.1, 0.0], [10.0, 0.0], [10.1, 0.0]])
    for algorithm in (several.PerKMeans(num_clusters=2), several.PerDbscan()):
        labels = _server_of(algorithm, points)
        assert labels[0] == labels[1] != labels[2] == labels[3]


def test_the_nearest_client_is_another_one() -> None:
    points = np.array([[0.0], [1.0], [5.0], [5.5]])
    assert concept_clusters._nearest(points).tolist() == [1, 0, 3, 2]


def test_without_noise_all_thresholds_name_the_same_labels() -> None:
    rows = [row for row in noisy_sums.run(3, split="two labels") if row["noise"] == 0]
    zero, above = rows
    assert (zero["threshold"], above["threshold"]) == noisy_sums.THRESHOLDS
    assert {**zero, "threshold": 0} == {**above, "threshold": 0}
    assert zero["precision"] == 1.0


def test_a_higher_threshold_names_no_label_more() -> None:
    """With more labels named, recall cannot be lower."""
    rows = [row for row in noisy_sums.run(3, split="two labels") if row["noise"] == 0.1]
    assert rows[0]["recall"] >= rows[1]["recall"]
    assert rows[0]["sums_rand"] == rows[1]["sums_rand"]


def test_remedies_for_slow_clients_get_five_times_the_rounds_at_a_fifth_of_the_rate() -> None:
    found = partial_work.remedies(0, rounds=2, local_epochs=2)
    rows = {row["algorithm"]: row for row in found if "table" not in row}
    assert list(rows) == ["mu=10", "keep, small"]
    assert rows["keep, small"]["bytes"] == 5 * rows["mu=10"]["bytes"]
    assert [row["algorithm"] for row in partial_work.rates(0, lr=0.1, rounds=1)] == [
        "even",
        "keep",
        "nova",
    ]
    lengths = partial_work.lengths(0, rounds=1, local_epochs=2)
    assert [row["algorithm"] for row in lengths] == ["mu=10, long", "nova, mu=10, short"]
    assert partial_work._small_steps({"lr": 0.5, "rounds": 3}) == {"lr": 0.1, "rounds": 15}


def test_noise_of_zero_is_clipping_alone() -> None:
    """At a rate of 1e-6 no move is as long as 0.3, so that clipping changes nothing."""
    found = private_runs.run(0, rounds=1, lr=1e-6)
    ends = {row["algorithm"]: row["end_accuracy"] for row in found if "table" not in row}
    assert list(ends) == ["FedAvg", "sigma=0", "sigma=1", "sigma=5", "sigma=20"]
    assert ends["FedAvg"] == ends["sigma=0"]


def test_controls_that_start_from_gradients_correct_the_first_round() -> None:
    """With c_k = ∇F_k(w) and one full step every client moves along c = ∇F(w): no drift apart."""
    fed = blobs((5, 5))
    model = fl.models.softmax_regression(fed, seed=0)
    work = {"rounds": 1, "local_steps": 1, "batch_size": None, "lr": 0.1, "progress": False}
    ends = {}
    for name in ("gradients", "FedAvg"):
        algorithm = scaffold_starts.STARTS[name]
        ends[name] = fl.simulate(fed, model, algorithm, clients_per_round=2, **work).params
    assert torch.allclose(ends["gradients"], ends["FedAvg"], atol=1e-6)


@pytest.mark.slow
def test_starts_have_the_same_price_and_other_first_rounds() -> None:
    found = scaffold_starts.run(0, clients_per_round=2, rounds=3)
    rows = {row["algorithm"]: row for row in found if "table" not in row}
    assert rows["zero"]["bytes"] == rows["gradients"]["bytes"] == 2 * rows["FedAvg"]["bytes"]
    assert rows["zero"]["end_loss"] != rows["gradients"]["end_loss"]
