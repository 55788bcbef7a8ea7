"""The last ward: what convicts each of four comparisons, from counting."""

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas.ablation import FedMasTrueTiers, RotatedPairs
from fedlab_course.chapters.ch07_bug_clinic import last_ward
from fedlab_course.evidence import tables
from tests.support import blobs


@pytest.fixture(scope="module")
def digits():
    return fl.load_dataset("digits")


def test_scaffold_without_communication_is_charged_what_fedavg_sends() -> None:
    """Two rounds, K = 2: P numbers of float64 down and up per client, and twice that."""
    fed = blobs((3, 17, 8, 30))
    model = fl.models.softmax_regression(fed, seed=0)
    work = {"rounds": 2, "clients_per_round": 2, "local_steps": 1, "batch_size": None}
    work |= {"lr": 0.1, "progress": False}
    parameters = sum(one.numel() for one in model.parameters())
    size = next(model.parameters()).element_size()
    runs = [
        fl.simulate(fed, model, rule, **work)
        for rule in (last_ward.UncountedScaffold(), fl.Scaffold())
    ]
    sent = [float((run.frame.bytes_down + run.frame.bytes_up).iloc[-1]) for run in runs]
    fedavg = 2 * 2 * 2 * parameters * size
    assert sent == [fedavg, 2 * fedavg]
    assert runs[0].params.equal(runs[1].params)


def test_the_control_differs_from_tiers_in_two_things(digits) -> None:
    tiers = last_ward.turns(digits, FedMasTrueTiers(0.01))
    pairs = last_ward.turns(digits, RotatedPairs())
    assert [len(labels) for labels in tiers] == [1] * 20
    assert [len(labels) for labels in pairs] == [2] * 20
    counts = [
        sum(label in labels for labels in found) for found in (tiers, pairs) for label in range(10)
    ]
    assert counts == [2] * 10 + [4] * 10
    assert set(last_ward.waits(tiers)) == {10}
    assert set(last_ward.waits(pairs)) == {5}


def test_waits_are_counted_for_each_label() -> None:
    assert last_ward.waits([{0}, {1}, {0, 1}, {0}]) == [2, 1, 1]


def test_ends_are_measured_at_each_rate(digits) -> None:
    found = last_ward.ends_by_rate(digits, rates=(0.05, 0.4), rounds=2)
    assert list(found) == ["FedAvg", "FedSSO"]
    assert all(list(line.index) == [0.05, 0.4] for line in found.values())
    assert all(isinstance(line, pd.Series) and line.between(0, 1).all() for line in found.values())


def test_the_figures_have_short_titles_and_words(monkeypatch, digits) -> None:
    line = pd.Series([0.4, 0.9], index=[0.05, 0.4])
    monkeypatch.setattr(last_ward, "ends_by_rate", lambda data: {"FedAvg": line, "FedSSO": line})
    for draw in last_ward.FIGURES.values():
        figure = draw(digits)
        assert 0 < len(figure.layout.title.text) <= 45
        assert np.all([len(row) for row in figure.layout.meta["table"]["rows"]])
        assert fl.plots.describe(figure)


def test_each_clustering_has_the_mean_of_its_stored_seeds() -> None:
    """The numbers that the page quotes, with all samples in training."""
    table = tables.read("concept_probes")
    every = table[table.held_out == 0]
    figure = last_ward.one_clustering(None)
    for (name, mean), stored in zip(
        figure.layout.meta["table"]["rows"], ("OPTICS", "DBSCAN", "k-means", "IFCA"), strict=True
    ):
        assert name.startswith(stored)
        assert mean == f"{every[every.clustering == stored].adjusted_rand.mean():.2f}"
    assert list(figure.data[0].text) == ["0.00", "0.47", "0.88", "0.92"]
