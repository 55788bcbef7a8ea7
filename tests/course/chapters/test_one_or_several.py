"""Chapter 11: the scene of the opening, the test of λ⋆ = ν / V on mean images, and the groups."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.chapters.ch11_one_or_several import (
    exercises,
    figures,
    groups,
    label_limits,
    mean_images,
)
from fedlab_course.chapters.ch11_one_or_several.ideas import scene
from fedlab_course.chapters.ch11_one_or_several.mean_images import ClientHalves
from fedlab_course.check import own, registry
from fedlab_course.evidence import tables
from fedlab_course.methods import several
from tests.course.check import answer_variants as variants

SETTING = {
    "rounds": 2,
    "clients_per_round": 4,
    "local_epochs": 1,
    "batch_size": 10,
    "lr": 0.05,
    "progress": False,
    "seed": 3,
}


@pytest.mark.parametrize("strength", [0.0, 0.5, 4.0, 100.0])
@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0])
def test_the_eight_clients_have_exactly_the_error_of_many(strength: float, spread: float) -> None:
    now = scene(strength, spread)
    assert now.known.mean() == pytest.approx(0, abs=1e-12)
    error = np.mean((now.used - now.needed) ** 2)
    assert error == pytest.approx(sum(theory.ditto_error(strength, 1.0, spread)))


def gaussian(nu_sample: float, spread: float, count: int, size: int) -> ClientHalves:
    """Clients of two numbers a sample whose optima have the variance ``spread`` in each number."""
    rng = np.random.default_rng(1)
    centres = rng.normal(scale=np.sqrt(spread), size=(count, 1, 2))
    every = centres + rng.normal(scale=np.sqrt(nu_sample), size=(count, 2 * size, 2))
    return ClientHalves(list(every[:, :size]), every[:, size:].mean(axis=1))


def test_the_prediction_is_near_the_best_pull_of_many_clients() -> None:
    # ν = 2/4 for each number, V = 0.25: λ⋆ = 2
    images = gaussian(2.0, 0.25, 20_000, 4)
    assert exercises.best_pull(images.train) == pytest.approx(2.0, rel=0.1)
    assert mean_images.least(images) == pytest.approx(2.0, rel=0.1)


def test_the_least_error_is_below_all_others() -> None:
    images = gaussian(1.0, 0.5, 30, 3)
    best = mean_images.least(images)
    shares = np.append(np.linspace(0, 1, 101), best / (1 + best))
    errors = mean_images.held_out_errors(images, shares)
    assert errors[-1] == pytest.approx(errors.min())


def test_a_variance_that_holds_the_chance_gives_the_share_in_place_of_the_pull() -> None:
    # ν / (V + ν) = λ⋆ / (1 + λ⋆)
    images = gaussian(1.0, 0.5, 30, 3)
    predicted = exercises.best_pull(images.train)
    assert mean_images.with_chance(images.train) == pytest.approx(predicted / (1 + predicted))


def test_the_figure_has_the_line_of_the_reader_and_the_curve_of_their_point() -> None:
    images = {0.3: gaussian(1.0, 0.5, 200, 3)}
    idea = mean_images.drop(lambda samples: 0.7, lambda a, b, w, strength: 0.0, images)
    figure = idea.figure()
    assert next(shape.x0 for shape in figure.layout.shapes) == 0.7
    curve = next(trace for trace in figure.data if trace.name == "held-out error")
    assert np.ptp(curve.y[:-1]) == pytest.approx(0), "a client that never moves has one error"
    assert "with your code" in figure.layout.title.text
    solution = own.mark(lambda samples: 0.7)
    marked = mean_images.line(solution, images).figure()
    assert "with the course's solution" in marked.layout.title.text


RIGHT = [one for one in variants.every() if one.hint is None]
PULLS = [one for one in RIGHT if one.exercise == "11-pull"]
BEST = [one for one in RIGHT if one.exercise == "11-best"]


def built(variant: variants.Variant):
    return registry.get(variant.exercise).build(variant.source)


@pytest.mark.parametrize("variant", PULLS, ids=str)
def test_every_right_answer_draws_the_curve_of_the_solution(variant: variants.Variant) -> None:
    images = {0.3: gaussian(1.0, 0.5, 10, 3)}
    curves = [
        mean_images.drop(exercises.best_pull, one, images).figure().data[0].y
        for one in (built(variant), exercises.ditto_point)
    ]
    assert curves[0] == pytest.approx(curves[1], rel=1e-5)


@pytest.mark.parametrize("variant", BEST, ids=str)
def test_every_right_answer_draws_the_line_of_the_solution(variant: variants.Variant) -> None:
    for spread in (0.5, 0.0):
        images = {0.3: gaussian(1.0, spread, 10, 3)}
        lines = [
            mean_images.line(one, images).figure().layout.shapes[0].x0
            for one in (built(variant), exercises.best_pull)
        ]
        assert lines[0] == pytest.approx(lines[1])


def test_an_infinite_prediction_is_drawn_at_the_right_end() -> None:
    idea = mean_images.line(lambda samples: np.inf, {0.3: gaussian(1.0, 0.5, 5, 3)})
    (shape,) = idea.figure().layout.shapes
    ticks = idea.figure().layout.xaxis
    assert shape.x0 == ticks.tickvals[list(ticks.ticktext).index("∞")]


def test_networks_are_drawn_at_the_means_of_their_split() -> None:
    figure = figures.networks("iid", "concepts")
    rows = tables.matching("several", {"partition": "concepts", "method": "Ditto λ=1"})
    curve = next(trace for trace in figure.data if trace.name == "four names")
    assert curve.y[list(curve.x).index(1.0)] == pytest.approx(rows.own.mean())
    error = 2 * rows.own.std() / np.sqrt(len(rows))
    assert curve.error_y.array[list(curve.x).index(1.0)] == pytest.approx(error)


def test_two_labels_places_each_method_at_its_means() -> None:
    figure = figures.two_labels()
    rows = tables.matching("several", {"partition": "two labels"})
    for trace in figure.data:
        mine = rows[rows.method == trace.name]
        assert (trace.x[0], trace.y[0]) == pytest.approx((mine.own.mean(), mine.whole.mean()))
    assert {trace.name for trace in figure.data} == set(rows.method)


def test_the_index_of_every_seed_is_a_dot() -> None:
    figure = groups.agreement()
    stored = [
        tables.matching(name, {"partition": "concepts", "method": method}).adjusted_rand
        for name, method in (("concept_clusters", "per cluster, k-means"), ("several", "IFCA"))
    ]
    dots = [trace for trace in figure.data if len(trace.x) == 40]
    means = [trace.x[0] for trace in figure.data if len(trace.x) == 1]
    assert [list(trace.x) for trace in dots] == [list(values) for values in stored]
    assert means == pytest.approx([values.mean() for values in stored])


def test_knowing_its_two_labels_is_worth_all_of_a_client_that_is_alone() -> None:
    data = fl.load_dataset("digits")
    law = {"num_clients": 40, "labels_per_client": 2, "seed": 0}
    fed = fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, **law))
    work = {"rounds": 50, "clients_per_round": 20, "local_epochs": 5, "lr": 0.05, "seed": 0}
    model = fl.models.mlp(fed, seed=0)
    plain, limited, alone = label_limits.accuracies(
        fed, model, work | {"eval_every": 50, "batch_size": 10}
    )
    assert limited == pytest.approx(alone, abs=0.01)
    assert limited > plain + 0.03


def test_the_readers_class_serves_each_client_with_the_model_of_its_group() -> None:
    data = fl.load_dataset("digits")
    named = several.concepts(data, num_clients=8, num_groups=4, seed=3)
    model = fl.models.mlp(named.fed, hidden=(8,), seed=3)
    put = groups.groupings(named, model, SETTING)
    assert put["one model"].tolist() == [0] * 8
    assert put[groups.TRUE].tolist() == named.ids.tolist()
    assert sorted(put[groups.RANDOM]) == sorted(named.ids)
    for labels in put.values():
        assert labels.min() >= 0
    rule = exercises.PerGroup(named.ids)
    served = several.serve(named.fed, model, rule, named.tests, **SETTING)
    assert (served.models[:, None] == served.models).tolist() == (
        named.ids[:, None] == named.ids
    ).tolist()
    figure = groups.served(exercises.PerGroup, named, model, SETTING)
    live = next(trace for trace in figure.data if trace.name == "this seed")
    assert live.x[list(live.y).index(groups.TRUE)] == pytest.approx(served.own.mean())
