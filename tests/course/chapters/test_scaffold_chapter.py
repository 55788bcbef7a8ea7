"""Chapter 3: SCAFFOLD as its exercises write it, and what the text says of stored runs."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.compare import Interval, t_interval
from fedlab_course import clinic, outline
from fedlab_course.chapters.ch03_scaffold import exercises, figures, ideas, scaffold_plane
from fedlab_course.check import registry
from fedlab_course.evidence import best_rates, tables
from fedlab_course.explore import quadratics as quadratics_of
from fedlab_course.explore.quadratics import START, gradient
from tests.support import blobs, limit, quadratics, run

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -2.0])


@pytest.fixture(scope="module")
def controlled():
    exercise = registry.get("03-class")
    return exercise.build(exercise.solution_source)


def test_the_readers_class_is_the_librarys_on_ragged_clients(controlled) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "rounds": 5}
    runs = [run(fed, model, one, **work) for one in (controlled(), fl.Scaffold())]
    ours, theirs = (simulation.history.params for simulation in runs)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "work", [{"local_steps": 7}, {"local_steps": 7, "clients_per_round": 1, "rounds": 400}]
)
def test_it_rests_at_the_optimum_of_the_plain_mean(controlled, work) -> None:
    """Full participation, and the same where one client of three takes part."""
    arguments = {"rounds": 200, "lr": 0.05} | work
    assert limit(quadratics(A, B), controlled(), **arguments) == pytest.approx(
        (A * B).sum() / A.sum(), abs=1e-6
    )


def scaffold(w, tau, rounds, gradient, eta):
    """The loop of the chapter, with the functions of its exercises."""
    c, controls = np.zeros(2), [np.zeros(2), np.zeros(2)]
    states = [(w, c, controls)]
    for _ in range(rounds):
        ys = [exercises.local_update(w, k, gradient, eta, tau, c, controls[k]) for k in (0, 1)]
        controls = [exercises.new_control(controls[k], c, w, ys[k], tau, eta) for k in (0, 1)]
        w, c = np.mean(ys, axis=0), np.mean(controls, axis=0)
        states.append((w, c, controls))
    return states


def by_formula(tau: int, rounds: int, eta: float = 0.1) -> np.ndarray:
    """The distances of w by the closed form of a local run: with q = (1 − η a)^τ client k ends at
    b_k + q (w − b_k) − (1 − q)/a · (c − c_k).
    """
    a, b = np.array(quadratics_of.A), np.array(quadratics_of.B)
    q = (1 - eta * a) ** tau
    optimum = (a * b).sum(0) / a.sum(0)
    w = np.array([-1.9, 1.9])
    c = np.zeros(2)
    controls = np.zeros((2, 2))
    found = [np.linalg.norm(w - optimum)]
    for _ in range(rounds):
        ends = b + q * (w - b) - (1 - q) / a * (c - controls)
        controls = controls - c + (w - ends) / (tau * eta)
        w, c = ends.mean(0), controls.mean(0)
        found.append(np.linalg.norm(w - optimum))
    return np.array(found)


@pytest.mark.parametrize(("tau", "rounds"), [(1, 17), (10, 5), (50, 27)])
def test_the_rounds_of_the_text_are_those_of_the_closed_form(tau: int, rounds: int) -> None:
    left = by_formula(tau, 200)
    assert scaffold_plane.distances(scaffold, tau, 200) == pytest.approx(left, abs=1e-9)
    assert left[rounds] <= 0.01 * left[0] < left[rounds - 1]
    assert scaffold_plane.rounds_needed(scaffold, tau) == rounds
    assert left[-1] < 1e-4


def test_the_scene_begins_alike_and_fedavg_stops_beside_the_optimum() -> None:
    """FedAvg's stopping point: Σ s_k b_k / Σ s_k in each entry, with s_k = 1 − (1 − η a_k)^τ."""
    figures_of = ideas.scene_of(scaffold, exercises.local_update, exercises.new_control).figure
    rows = figures_of(round=1).layout.meta["table"]["rows"]
    assert rows[0][1:] == rows[1][1:], "all controls are zero in round 1"
    a, b = np.array(quadratics_of.A), np.array(quadratics_of.B)
    s = 1 - (1 - 0.1 * a) ** 5
    stop = (s * b).sum(0) / s.sum(0) - (a * b).sum(0) / a.sum(0)
    fedavg, corrected = figures_of(round=10).layout.meta["table"]["rows"]
    assert float(fedavg[2]) == pytest.approx(np.linalg.norm(stop), abs=2e-3)
    assert float(fedavg[2]) == pytest.approx(0.34, abs=0.005)
    assert float(corrected[2]) == pytest.approx(by_formula(5, 10)[-1], rel=0.01)
    assert float(corrected[2]) == pytest.approx(0.0002, abs=0.00005)
    assert "<sub>" not in figures_of().layout.meta["alt"]


def test_the_chapter_runs_scaffold_at_its_best_rate() -> None:
    assert outline.get("03").defaults["lr"] == best_rates.best_rate("two_labels", "SCAFFOLD")


def percent(split: str, method: str, rate: float) -> float:
    found = best_rates.curve(split, method)
    (values,) = [values for at, values in found.items() if at == pytest.approx(rate, rel=0.02)]
    return 100 * float(values.mean())


def test_the_curve_moves_to_the_left_and_up_as_the_text_says() -> None:
    tops = {
        name: best_rates.top(best_rates.curve("two_labels", name)) for name in ideas.METHODS_SHOWN
    }
    heights = {name: round(100 * height, 1) for name, (_, height) in tops.items()}
    assert heights == {"FedAvg": 94.2, "SCAFFOLD": 96.0}
    assert [rate for rate, _ in tops.values()] == pytest.approx([0.57, 0.28], abs=0.005)
    gap = percent("two_labels", "SCAFFOLD", 0.05) - percent("two_labels", "FedAvg", 0.05)
    assert gap == pytest.approx(3.3, abs=0.05)
    assert percent("two_labels", "SCAFFOLD", 0.57) == pytest.approx(71, abs=0.5)


def test_the_leads_at_the_best_rates_are_those_in_the_text() -> None:
    means = {
        split: round(100 * best_rates.ahead(split, "SCAFFOLD").mean(), 1)
        for split in best_rates.SPLITS.values()
    }
    assert list(means.values()) == [1.6, 3.4, 1.3, 0.3, 0.1]


def interval(split: str, method: str = "SCAFFOLD", axis: str = "rounds") -> Interval:
    return t_interval(100 * best_rates.ahead(split, method, axis=axis).to_numpy())


def test_the_intervals_with_1_over_n_are_where_the_text_says() -> None:
    splits = best_rates.SPLITS.values()
    ahead = [split for split in splits if interval(split).low > 1]
    assert ahead == ["two_labels", "one_label", "dirichlet_0.1"]
    for_bytes = {split: interval(split, axis="bytes") for split in splits}
    assert [round(one.mean, 1) for one in for_bytes.values()] == [-0.8, -2.1, -0.5, -0.6, -0.7]
    assert [split for split, one in for_bytes.items() if one.high >= 0] == ["one_label"]
    assert [split for split, one in for_bytes.items() if one.low > -1] == ["dirichlet_0.1"]
    assert all(one.mean < 0 and one.high > -1 for one in for_bytes.values())


def test_the_divisor_turns_the_verdict_for_equal_bytes() -> None:
    splits = best_rates.SPLITS.values()
    for_bytes = {split: interval(split, "SCAFFOLD cohort", "bytes") for split in splits}
    means = [round(one.mean, 1) for one in for_bytes.values()]
    assert means == [1.7, 3.2, 2.2, 0.8, -0.1]
    certain = [split for split, one in for_bytes.items() if one.low > 1]
    assert certain == ["two_labels", "one_label", "dirichlet_0.1"]
    assert [split for split, one in for_bytes.items() if one.low <= 0] == ["iid"]
    after_rounds = [interval(split, "SCAFFOLD cohort") for split in splits]
    assert [round(one.mean, 1) for one in after_rounds] == [2.3, 7.6, 2.4, 1.0, 0.7]
    assert all(one.low > 0 for one in after_rounds)


def test_the_figures_of_the_leads_have_both_series_in_five_splits() -> None:
    at_best, divisors, after_rounds = (
        {tuple(row[:2]): row[2:] for row in figure.layout.meta["table"]["rows"]}
        for figure in (figures.at_best(), figures.divisors(), figures.divisors("rounds"))
    )
    assert len(at_best) == len(divisors) == 10
    assert at_best["two labels", "equal rounds"] == ["+1.6", "+1.3", "+1.9", 20]
    for split in best_rates.SPLITS:
        assert divisors[split, "1/N"] == at_best[split, "equal bytes"]
        assert after_rounds[split, "1/N"] == at_best[split, "equal rounds"]
    assert divisors["one label", "1/|S|"] == ["+3.2", "+1.1", "+5.3", 20]
    assert after_rounds["two labels", "1/|S|"][0] == "+2.3"


def test_with_two_clients_the_divisor_costs_18_points() -> None:
    everyone, cohort = (
        tables.matching(
            "scaffold_control", {"clients_per_round": 2, "control_update": divisor}
        ).set_index("seed")["end_accuracy"]
        for divisor in ("all", "cohort")
    )
    assert 100 * (everyone - cohort).mean() == pytest.approx(18.5, abs=0.05)


def test_fifty_steps_need_8_rounds_with_controls_measured_at_each_new_w() -> None:
    """c_k = ∇F_k(w) and c their mean, by the closed form of :func:`by_formula`."""
    a, b = np.array(quadratics_of.A), np.array(quadratics_of.B)
    q = (1 - 0.1 * a) ** 50
    optimum = (a * b).sum(0) / a.sum(0)
    w = np.array([-1.9, 1.9])
    left = [np.linalg.norm(w - optimum)]
    for _ in range(200):
        controls = a * (w - b)
        w = (b + q * (w - b) - (1 - q) / a * (controls.mean(0) - controls)).mean(0)
        left.append(np.linalg.norm(w - optimum))
    assert int((np.array(left) > 0.01 * left[0]).nonzero()[0].max()) + 1 == 8


def test_a_start_from_the_gradients_is_behind_for_equal_bytes() -> None:
    """It costs 100 models down and 100 gradients up; a round of two clients sends 8 vectors."""
    late = (100 + 100) / 8
    assert late == 25
    curves = tables.read("scaffold_starts_curves").query("clients_per_round == 2")
    zero, gradients = (curves[curves.algorithm == name] for name in ("zero", "gradients"))
    rounds = zero["round"].to_numpy(dtype=float)
    after = rounds[rounds > late]
    there = np.interp(after - late, rounds, gradients.test_accuracy_mean)
    gaps = 100 * (there - np.interp(after, rounds, zero.test_accuracy_mean))
    assert gaps.max() < 0
    assert round(gaps.mean()) == -7


def test_the_opening_is_the_scene_of_the_readers_functions() -> None:
    """After one round, and at each local step of the next: 42° apart, parallel, and apart again."""
    w, c, controls = scaffold(START, ideas.STEPS, 1, gradient, scaffold_plane.RATE)[-1]
    angles = []
    for done in range(ideas.STEPS):
        ys = [exercises.local_update(w, k, gradient, 0.1, done, c, controls[k]) for k in (0, 1)]
        u, v = (gradient(k, ys[k]) + c - controls[k] for k in (0, 1))
        cosine = u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
        angles.append(np.degrees(np.arccos(min(cosine, 1.0))))
        words = fl.plots.describe(ideas.corrections().figure(rounds=1, step=done))
        assert f"the corrected ones {angles[-1]:.0f}°" in words
    assert angles == pytest.approx([42, 22, 0, 22, 42], abs=1)
    first = fl.plots.describe(ideas.corrections().figure(rounds=1, step=0))
    assert "gradients are 109° apart" in first


def test_for_equal_bytes_nothing_is_left_with_one_label() -> None:
    """On validation images, each at its best rate: FedAvg's top is above SCAFFOLD's."""
    heights = [
        best_rates.top(best_rates.curve("one_label", method, "bytes"))[1]
        for method in ("FedAvg", "SCAFFOLD")
    ]
    assert heights[0] > heights[1]


def test_old_controls_help_and_the_gradients_help_at_first() -> None:
    ends = [
        tables.matching("scaffold_starts", {"clients_per_round": 2, "algorithm": name})
        .set_index("seed")
        .sort_index()
        for name in ("FedAvg", "zero", "gradients")
    ]
    fedavg, zero, gradients = ends
    assert round(100 * (zero.end_accuracy - fedavg.end_accuracy).mean()) == 8
    assert round(100 * (gradients.start_accuracy - zero.start_accuracy).mean()) == 25
    found = t_interval((gradients.end_accuracy - zero.end_accuracy).to_numpy())
    assert -0.01 < found.low < found.high < 0.01


def test_with_twenty_clients_a_start_from_the_gradients_ends_alike() -> None:
    runs = tables.matching("scaffold_starts", {"clients_per_round": 20})
    ends = runs.pivot(index="seed", columns="algorithm", values="end_accuracy")
    found = t_interval(ends["gradients"] - ends["zero"])
    assert -0.01 < found.low < found.high < 0.01


def test_controls_that_are_zero_or_old() -> None:
    """A client takes part with the probability 0.02 in each of 100 rounds. Of the controls in use a
    share is still zero; the ages of the others, in rounds since the last use, have this median.
    """
    rounds = np.arange(100)
    assert (0.98**rounds).mean() == pytest.approx(0.43, abs=0.005)
    ages = np.zeros(101)
    for now in rounds:
        for age in range(1, now + 1):
            ages[age] += 0.02 * 0.98 ** (age - 1)
    halves = ages.cumsum() / ages.sum()
    assert int(np.argmax(halves >= 0.5)) == 19


@pytest.fixture(scope="module")
def small_fed() -> fl.FederatedDataset:
    return blobs((20, 17, 18, 30, 21, 12))


WORK = {
    "clients_per_round": 2,
    "local_epochs": 2,
    "batch_size": 5,
    "rounds": 6,
    "lr": 0.1,
    "progress": False,
}


def test_the_examination_tells_three_updates_of_c_apart(controlled, small_fed) -> None:
    model = fl.models.softmax_regression(small_fed, seed=2)
    rules = {
        1.0: controlled(),
        3.0: fl.Scaffold(control_update="cohort"),  # N/|S| = 6/2
        0.0: clinic.PATIENTS[9].algorithm,
    }
    for ratio, rule in rules.items():
        found = figures.control_ratios(small_fed, model, rule, **WORK)
        assert found == pytest.approx([ratio] * 6, abs=1e-4)


def test_forgotten_bytes_are_half_of_what_scaffold_sends(controlled, small_fed) -> None:
    class Forgetful(controlled):
        communication = fl.Algorithm.communication

    model = fl.models.softmax_regression(small_fed, seed=2)
    sent = []
    for rule in (controlled(), Forgetful(), fl.FedAvg()):
        last = fl.simulate(small_fed, model, rule, **WORK).frame.iloc[-1]
        sent.append(last.bytes_down + last.bytes_up)
    counted, forgotten, plain = sent
    assert (counted, forgotten) == (2 * plain, plain)


def test_a_ring_is_at_the_first_price_with_90_percent(small_fed) -> None:
    model = fl.models.softmax_regression(small_fed, seed=2)
    runs = {
        name: fl.simulate(small_fed, model, rule, **WORK)
        for name, rule in {"FedAvg": fl.FedAvg(), "SCAFFOLD": fl.Scaffold()}.items()
    }
    frame = runs["SCAFFOLD"].frame
    for target in (frame.test_accuracy.min(), frame.test_accuracy.max()):
        reached = frame[frame.test_accuracy >= target].iloc[0]
        assert figures.first_at(runs["SCAFFOLD"], "rounds", target) == reached["round"]
        spent = reached.bytes_up + reached.bytes_down
        assert figures.first_at(runs["SCAFFOLD"], "bytes", target) == spent
    assert np.isnan(figures.first_at(runs["SCAFFOLD"], "rounds", 1.1))
    shown = {trace.name: trace for trace in figures.race(runs, "bytes", title="Bytes").data}
    plain = runs["FedAvg"].frame.iloc[-1]
    most = (plain.bytes_up + plain.bytes_down) / 1e6
    assert max(shown["FedAvg"].x) == pytest.approx(most)
    assert max(shown["SCAFFOLD"].x) <= most
    assert len(shown["SCAFFOLD"].x) == 3, "half of the six rounds, for twice the bytes"
