"""Chapter 4: between and within strata, who is drawn how often, and the rates of the race."""

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.chapters.ch04_fedsso import by_round, cohorts, ideas, rate_race
from fedlab_course.check import exercises, registry
from fedlab_course.evidence import best_rates
from fedlab_course.methods import probes

WORK = {
    "rounds": 20,
    "clients_per_round": 4,
    "local_epochs": 1,
    "batch_size": 5,
    "lr": 0.1,
    "seed": 3,
    "progress": False,
}


@pytest.fixture(scope="module")
def systematic():
    exercise = registry.get("04-systematic")
    return exercise.build(exercise.solution_source)


@pytest.fixture(scope="module")
def strata():
    exercise = registry.get("04-class")
    return exercise.build(exercise.solution_source)


@pytest.fixture(scope="module")
def one_label() -> fl.FederatedDataset:
    """Twelve clients with one of four labels each: three clients a label."""
    rng = np.random.default_rng(0)
    data = [(rng.normal(size=(5, 6)).astype("float32"), np.full(5, k % 4)) for k in range(12)]
    test = rng.normal(size=(40, 6)).astype("float32"), np.arange(40) % 4
    return fl.FederatedDataset.from_clients(data, test=test)


def test_total_is_between_plus_within() -> None:
    models = np.array([[0.0], [2.0], [10.0], [12.0]])  # means 1 and 11, within ±1 of them
    strata = np.array([0, 0, 1, 1])
    assert cohorts.between(models, strata) == pytest.approx(25 / 26)  # 5² of 5² + 1²
    assert cohorts.between(models, np.zeros(4)) == pytest.approx(0)
    assert cohorts.between(models, np.arange(4)) == pytest.approx(1)


def test_whole_shares_leave_what_is_within_and_a_blind_draw_leaves_everything(systematic) -> None:
    """Six strata of two clients with a distance of 2 between the two, one of each drawn: the
    mean of the cohort has the variance Σ 1² / 6² = 1/6.
    """
    strata = np.repeat(np.arange(6), 2)
    models = np.add.outer(10.0 * np.arange(6), [-1.0, 1.0]).reshape(-1, 1)
    blind = theory.simple_variance(models, 6)
    found = cohorts.left(models, strata, systematic, 6)
    assert found * blind == pytest.approx(1 / 6, rel=0.15)  # five standard errors of 2,000 cohorts

    def without_strata(labels, start, num_drawn):
        return np.arange(len(labels))[start :: len(labels) // num_drawn]

    assert cohorts.left(models, strata, without_strata, 6) == pytest.approx(1, abs=0.15)


def test_the_figure_of_parts_has_shares_that_sum_to_one(systematic) -> None:
    models = np.array([[0.0], [2.0], [10.0], [12.0]] * 5)
    given = {"a split": (models, np.array([0, 0, 1, 1] * 5))}
    figure = cohorts.parts(given, systematic, title="parts")
    within, between, diamond = figure.data
    assert within.x[0] + between.x[0] == pytest.approx(1)
    assert between.x[0] == pytest.approx(25 / 26)
    assert 0 < diamond.x[0] < 0.5


def test_a_fixed_start_reaches_only_the_strata_at_its_places(one_label, strata) -> None:
    """Strata of 5, 1, 5 and 1 clients, every third place of the row from the first: places 0, 3, 6
    and 9. The strata of one client lie at places 5 and 11.
    """
    labels = np.array([0] * 5 + [1] + [2] * 5 + [3])
    model = fl.models.softmax_regression(one_label, seed=0)
    work = WORK | {"rounds": 60}
    fixed = by_round.counted(one_label, model, by_round.StartsAtFirst(labels), **work)
    assert fixed[[5, 11]].tolist() == [0, 0] and fixed.sum() == 60 * 4
    free = by_round.counted(one_label, model, strata(labels), **work)
    assert (free[[5, 11]] > 0).all()
    figure = by_round.turns(
        one_label,
        model,
        {"yours": strata(labels), "fixed": by_round.StartsAtFirst(labels)},
        labels,
        title="turns",
        **work,
    )
    assert figure.data[2].y == (20.0, 20.0)  # R K / N
    assert figure.layout.meta["table"]["rows"][1][1] == 2


def test_the_patients_cohorts_have_one_label_and_equal_chances(one_label) -> None:
    labels = np.array([int(one_label.y[part[0]]) for part in one_label.parts])
    model = fl.models.softmax_regression(one_label, seed=0)
    patient = by_round.Neighbours(labels)
    work = WORK | {"clients_per_round": 3, "rounds": 30}
    seen = by_round.watch(one_label, model, patient, **work)
    assert ((seen.clients > 0).sum(1) == 1).all() and (seen.clients.sum(1) == 3).all()
    counts = by_round.counted(one_label, model, patient, **work | {"rounds": 2000})
    chance = 3 / 12
    assert abs(counts / 2000 - chance).max() < 5 * np.sqrt(chance * (1 - chance) / 2000)


def test_watching_tells_held_labels_from_missing_ones() -> None:
    seen = by_round.LabelStory(
        clients=np.array([[1, 1], [2, 0], [0, 1]]),
        accuracy=np.array([[0.5, 0.5], [0.7, 0.2], [0.6, 0.9]]),
    )
    held, missing = seen.changes()
    assert held == pytest.approx((0.2 + 0.7) / 2)
    assert missing == pytest.approx((-0.3 - 0.1) / 2)
    figure = by_round.story({"a draw": seen}).figure(value=2.0)
    bars = figure.data[0]
    assert list(bars.y) == [0.7, 0.2]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert list(figure.data[1].y) == [0.5, 0.5]  # the round before
    assert len(figure.data[2].x) == 2 and set(figure.data[2].x) == {0}
    assert "labels missing 1" in fl.plots.describe(figure)
    unseen = by_round.before({"a draw": seen}, 2)
    assert [list(trace.y) for trace in unseen.data] == [list(one.y) for one in figure.data[1:]]
    columns = unseen.layout.meta["table"]["columns"]
    assert "accuracy after" not in columns and len(unseen.layout.meta["table"]["rows"][0]) == 4


def test_the_opening_has_ten_clients_in_every_round() -> None:
    idea = ideas.blind(fl.load_dataset("digits"))
    for shown in ("1", "30, before", "30, after"):
        rows = idea.figure(shown=shown).layout.meta["table"]["rows"]
        assert sum(row[2] for row in rows) == 10
    assert idea.values == {"shown": "30, before"}


def test_the_best_rate_has_the_highest_mean_on_validation_samples() -> None:
    rows = pd.read_csv(best_rates.tables.TABLES / "rates_digits.csv")
    mine = rows[(rows.partition == "one_label") & (rows.method == "FedSSO") & (rows.epochs == 5)]
    means = mine.groupby("lr").end_accuracy.mean()
    rate = best_rates.best_rate("one_label", "FedSSO")
    assert means[rate] == means.max()
    found = best_rates.judged("one_label", "FedSSO")
    assert len(found) == 20 and found.index.is_unique
    assert best_rates.judged("one_label", "no such method").empty
    gap = best_rates.ahead("one_label", "FedSSO", "FedAvg")
    assert gap.mean() == pytest.approx(
        found.mean() - best_rates.judged("one_label", "FedAvg").mean()
    )


def test_the_race_draws_a_curve_for_each_method_and_a_dot_for_each_seed() -> None:
    names = {
        trace.name for trace in rate_race.stored().figure(value=1.0).data if "," not in trace.name
    }
    assert names == {"FedAvg", "SCAFFOLD", "FedSSO"}
    rows = rate_race.at_best().layout.meta["table"]["rows"]
    assert [row[-1] for row in rows] == [20] * 12
    means = {(row[0], row[1]): row[2] for row in rows}
    assert means["one label", "less FedAvg"] == "+5.1"
    assert means["one label", "less SCAFFOLD, 1/|S|"] == "-2.5"
    assert means["Dirichlet 0.1", "less SCAFFOLD"] == "-1.2"
    rows = rate_race.at_best("bytes").layout.meta["table"]["rows"]
    means = {(row[0], row[1]): row[2] for row in rows}
    assert means["one label", "less FedAvg"] == "+2.6"
    splits = ("one label", "two labels", "Dirichlet 0.1", "Dirichlet 0.3")
    assert all(means[split, "less SCAFFOLD"].startswith("+") for split in splits)


def test_a_run_that_diverges_ends_at_chance(one_label) -> None:
    model = fl.models.mlp(one_label, (8,), seed=0)
    work = WORK | {"lr": 1e30}
    with pytest.raises(fl.Diverged):
        fl.simulate(one_label, model, fl.FedAvg(), **work)
    assert rate_race.end(one_label, model, fl.FedAvg(), **work) == 1 / 4


def test_at_a_steepness_of_0_7_most_clients_of_the_chapter_are_noise() -> None:
    digits = fl.load_dataset("digits")
    law = {"num_clients": 100, "labels_per_client": 2, "seed": 50}
    fed = fl.FederatedDataset(digits, fl.partition.labels_per_client(digits.train.y, **law))
    models = probes.probe(fed, "epoch", 50)
    found = {xi: fl.clustering.optics(models, xi=xi) for xi in (0.25, 0.5, 0.7)}
    assert {xi: one.num_clusters for xi, one in found.items()} == {0.25: 33, 0.5: 33, 0.7: 10}
    assert [found[xi].num_noise for xi in (0.25, 0.7)] == [18, 76]


def test_the_class_may_call_the_systematic_draw_of_the_reader(systematic) -> None:
    class Calls(fl.Algorithm):
        def __init__(self, labels):
            self.labels = np.asarray(labels)

        def cohorts(self, server):
            rng = server.stream("cohort")
            shuffled = rng.permutation(server.num_clients)
            start = rng.integers(server.num_clients // server.clients_per_round)
            labels = self.labels[shuffled]
            yield shuffled[systematic(labels, start, server.clients_per_round)]

    assert exercises.judge(registry.get("04-class"), Calls).status == "solved"
