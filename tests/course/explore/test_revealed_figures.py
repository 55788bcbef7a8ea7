"""The figures on what updates reveal: noise of the reader's server, its price, and what is read."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

import fedlab_core as fl
from fedlab_core.plots import describe
from fedlab_course.chapters.ch13_what_updates_reveal import (
    attack,
    exercises,
    figures,
    pictures,
    privacy,
)
from fedlab_course.check import own, registry
from fedlab_course.methods import leaks

CLIENTS = 10


@pytest.fixture(scope="module")
def small() -> tuple[fl.FederatedDataset, torch.nn.Module]:
    digits = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        digits.train.y, num_clients=CLIENTS, labels_per_client=2, seed=3
    )
    fed = fl.FederatedDataset(digits, parts)
    return fed, fl.models.mlp(fed, seed=3)


def test_a_client_alone_in_its_cohort_sends_its_clipped_move_and_noise(small) -> None:
    found = attack.alone(exercises.Noisy, *small, 3)
    clean = found[0.0]
    assert list(found) == list(attack.LEVELS) and len(clean) == CLIENTS
    assert bool((clean.norm(dim=1) <= attack.CLIP * (1 + 1e-5)).all())
    draws = (found[1.0] - clean) / attack.CLIP
    assert float(draws.std()) == pytest.approx(1, abs=0.02)
    assert float(draws.mean()) == pytest.approx(0, abs=0.02)
    assert (found[0.1] - clean) / attack.CLIP == pytest.approx(0.1 * draws, abs=1e-4)
    assert bool((draws[0] != draws[1]).any())


def test_entries_that_are_clipped_one_by_one_let_long_moves_through(small) -> None:
    fed, model = small
    found = attack.lengths(exercises.Noisy, fed, model, 3)
    assert found["moves"] == pytest.approx([min(x, attack.CLIP) for x in found["before"]])
    most = attack.CLIP * math.sqrt(sum(p.numel() for p in model.parameters()))
    assert attack.CLIP < max(found["entries"]) <= most
    figure = figures.lengths(exercises.Noisy, fed, model, 3)
    assert "never lets more than 0.30 through" in describe(figure)


def test_a_label_is_named_above_the_threshold() -> None:
    level = attack.Level(np.array([[0.5, -1.0, 2.5], [3.0, 0.1, -0.2]]), 1.0, 0.0, 0.0, 0.0)
    for threshold, expected in (
        (0.0, [[1, 0, 1], [1, 1, 0]]),
        (1.5, [[0, 0, 1], [1, 0, 0]]),
        (3.5, [[0, 0, 0], [0, 0, 0]]),
    ):
        said = attack.named(exercises.labels_seen, level, threshold)
        assert said.astype(int).tolist() == expected


def test_bars_are_guessed_and_then_read_by_the_readers_function() -> None:
    names = ("a", "b", "c")
    moves = np.array([[0.2, -0.1, -0.3], [0.1, 0.2, -0.1]])
    mixes = np.array([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0]])
    asked = figures.guess(moves, names, [0, 1]).figure(value=0)
    assert "held" not in asked.to_json() and len(asked.data) == 1
    shown = figures.read(exercises.labels_seen, {"x": (moves, mixes)}, names, [0, 1])
    figure = shown.figure(value=0)
    named, other = figure.data
    assert (list(named.x), list(other.x)) == (["a"], ["b", "c"])
    assert (list(named.text), list(other.text)) == (["held"], ["held", ""])
    assert "Named: a. The client holds: a, b." in describe(figure)
    (row,) = figures.told(exercises.labels_seen, {"x": (moves, mixes)}).to_numpy().tolist()
    assert row == ["75%", "1 of 2", 0]
    solution = registry.get("13-labels")
    theirs = own.mark(solution.build(solution.solution_source))
    title = figures.read(theirs, {"x": (moves, mixes)}, names, [0]).figure().layout.title.text
    assert title == "x, with the course's solution"


def test_one_axis_has_what_is_read_clustered_and_learned(small, monkeypatch) -> None:
    monkeypatch.setattr(attack, "ROUNDS", 3)
    fed, model = small
    mixes = leaks.label_mixes(fed)
    idea = figures.one_axis(exercises.labels_seen, exercises.Noisy, fed, model, mixes, 3)
    assert {name: len(s.options) for name, s in idea.sliders.items()} == {
        "noise": len(attack.LEVELS),
        "threshold": len(figures.THRESHOLDS),
    }
    quiet, loud = (idea.figure(noise=noise, threshold=0.0) for noise in (0.0, 1.0))
    curves = {trace.name: trace for trace in quiet.data if trace.xaxis == "x2"}
    assert set(curves) == {"labels read", "clusters, same sums", "clusters, all entries"}
    (learned,) = [trace for trace in quiet.data if trace.xaxis == "x3"]
    assert learned.name == "accuracy" and learned.y[0] > learned.y[-1]
    assert idea.sliders["threshold"].value == 1.5
    assert curves["labels read"].y[0] == 1  # two labels a client, without noise
    assert curves["labels read"].y[-1] < 0.5
    assert "labels of 100% of the clients" in describe(quiet)
    assert describe(quiet) != describe(loud)


def privacy_loss(epsilon: float, z: float) -> float:
    """δ as the integral of the positive part of p − e^ε q, for p = N(z, 1) and q = N(0, 1)."""

    def part(x: float) -> float:
        return max(0.0, norm.pdf(x - z) - math.exp(epsilon) * norm.pdf(x))

    return quad(part, -10, 10 + z, limit=400, epsabs=1e-12)[0]


@pytest.mark.parametrize("noise", [5.0, 20.0])
def test_epsilon_is_that_of_two_normal_laws_a_distance_apart(noise: float) -> None:
    z = math.sqrt(30) / noise
    epsilon = privacy.epsilon(noise, 30)
    assert privacy_loss(epsilon, z) == pytest.approx(privacy.DELTA, rel=1e-3)
    assert privacy.delta(1.0, noise, 30) == pytest.approx(privacy_loss(1.0, z), rel=1e-6)
    assert privacy.epsilon(noise, 60) > epsilon


def test_without_noise_nothing_is_private_and_with_very_much_epsilon_is_zero() -> None:
    assert privacy.epsilon(0.0) == math.inf
    assert privacy.epsilon(1e9) == 0


def test_the_cost_of_privacy_has_all_seeds_as_dots() -> None:
    figure = privacy.cost(exercises.delta)
    small = [trace for trace in figure.data if trace.mode == "markers"]
    assert [len(trace.y) for trace in small] == [20, 20, 20]
    large = [trace for trace in figure.data if trace.text]
    assert [trace.text[0] for trace in large] == ["σ = 1", "σ = 5", "σ = 20"]
    assert [trace.y[0] for trace in large] == pytest.approx([np.mean(t.y) for t in small])
    below = [trace.x[0] for trace in large]
    assert below == pytest.approx([privacy.epsilon(noise) for noise in (1.0, 5.0, 20.0)])
    upper = figure.layout.xaxis2
    assert list(upper.tickvals) == below and upper.range == figure.layout.xaxis.range
    assert upper.ticktext[1] == f"{privacy.epsilon(0.5):.0f}"


def test_the_readers_delta_is_the_area_above_the_other_bell() -> None:
    for epsilon, z in ((0.0, 1.0), (1.0, 0.5), (2.0, 2.0)):
        assert exercises.delta(epsilon, z) == pytest.approx(privacy_loss(epsilon, z), abs=1e-9)
    figure = privacy.bells(exercises.delta).figure(noise=5.0, epsilon=1.0)
    z = math.sqrt(30) / 5
    assert f"δ(1) = {privacy_loss(1.0, z):.2g}, with your code" in figure.layout.title.text


def test_the_gradient_of_one_sample_is_the_sample(small) -> None:
    fed, model = small
    sample = fed.dataset.train.x[5:6]
    loss = torch.nn.functional.cross_entropy(model(sample), fed.dataset.train.y[5:6])
    weight, bias = torch.autograd.grad(loss, list(model.parameters())[:2])
    unit = bias.abs().argmax()
    read = weight[unit] / bias[unit]
    assert read == pytest.approx(sample.flatten(), abs=1e-4)
    figure = pictures.side_by_side(sample, read)
    held, found = figure.data
    assert found.z == pytest.approx(held.z, abs=1e-4) and held.z.shape == (8, 8)
