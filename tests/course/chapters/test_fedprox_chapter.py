"""Chapter 2: what its text says of the stored curves over learning rates, and its figures."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course import Explorer, clinic, goals
from fedlab_course.chapters.ch02_fedprox import figures, large_rates
from fedlab_course.chapters.ch02_fedprox.exercises import local_update
from fedlab_course.evidence import best_rates, tables
from tests.support import blobs, limit, quadratics

PROXIMAL = ("FedProx 0.01", "FedProx 0.1", "FedProx 1")


def stored(split: str, method: str, rate: float) -> float:
    """The mean validation accuracy at a rate, from the rows of the table, in percent."""
    table = tables.read("rates_digits")
    rows = table[(table.partition == split) & (table.method == method) & (table.epochs == 5)]
    return 100 * float(rows[np.isclose(rows.lr, rate, rtol=0.02)].end_accuracy.mean())


def test_the_tops_with_two_labels_are_those_in_the_text() -> None:
    tops = {
        name: best_rates.top(best_rates.curve("two_labels", name)) for name in ("FedAvg", *PROXIMAL)
    }
    assert {name: round(100 * height, 1) for name, (_, height) in tops.items()} == {
        "FedAvg": 94.2,
        "FedProx 0.01": 94.2,
        "FedProx 0.1": 94.1,
        "FedProx 1": 90.9,
    }
    assert tops["FedAvg"][0] == pytest.approx(0.57, abs=0.01)
    assert tops["FedProx 1"][0] == pytest.approx(0.28, abs=0.01)


@pytest.mark.parametrize("split", ["two_labels", "one_label", "dirichlet_0.1"])
def test_no_top_is_more_than_a_third_of_a_point_above_that_of_fedavg(split: str) -> None:
    _, plain = best_rates.top(best_rates.curve(split, "FedAvg"))
    for name in PROXIMAL:
        _, height = best_rates.top(best_rates.curve(split, name))
        assert 100 * (height - plain) < 0.3


def test_a_large_mu_lowers_the_curve_as_the_text_says() -> None:
    plain, strong = (best_rates.curve("two_labels", name) for name in ("FedAvg", "FedProx 1"))
    above = [round(rate, 1) for rate in plain if strong[rate].mean() > plain[rate].mean() + 0.001]
    assert above == [0.8, 1.1]
    plain, strong = (best_rates.curve("one_label", name) for name in ("FedAvg", "FedProx 1"))
    assert all(strong[rate].mean() < plain[rate].mean() for rate in plain)
    assert round(stored("one_label", "FedAvg", 0.2)) == 84
    assert round(stored("one_label", "FedProx 1", 0.2)) == 45


def test_only_mu_0_1_with_one_label_is_undecided_at_its_best_rate() -> None:
    """Its interval crosses −δ; that of μ = 0.1 in the four other splits is within ±δ."""
    found = {
        split: t_interval(100 * best_rates.ahead(split, "FedProx 0.1").to_numpy())
        for split in best_rates.SPLITS.values()
    }
    undecided = [split for split, one in found.items() if one.low < -1 < one.high]
    assert undecided == ["one_label"]
    assert all(one.high < 1 for one in found.values())


@pytest.mark.parametrize(
    ("split", "method", "rate", "percent"),
    [
        ("two_labels", "FedAvg", 1.131, 10),
        ("two_labels", "FedProx 1", 1.131, 29),
        ("one_label", "FedAvg", 1.6, 25),
        ("one_label", "FedProx 0.01", 1.6, 43),
        ("one_label", "FedProx 0.1", 1.6, 89),
    ],
)
def test_the_right_end_moves_as_the_text_says(
    split: str, method: str, rate: float, percent: int
) -> None:
    assert round(stored(split, method, rate)) == percent


def test_a_product_below_three_hundredths_gives_the_result_of_fedavg_and_a_tenth_may_not() -> None:
    """A client makes ten steps in a round."""
    far = []
    for split in best_rates.SPLITS.values():
        plain = best_rates.curve(split, "FedAvg")
        for name, mu in zip(PROXIMAL, (0.01, 0.1, 1.0), strict=True):
            curve = best_rates.curve(split, name)
            near = [rate for rate in plain if mu * rate * 10 < 0.03]
            far += [100 * abs(curve[rate].mean() - plain[rate].mean()) for rate in near]
    assert len(far) > 50 and max(far) < 0.4
    assert round(stored("one_label", "FedProx 0.1", 0.1)) == 67
    assert round(stored("one_label", "FedAvg", 0.1)) == 69


def test_at_its_best_rate_no_fedprox_is_a_point_above_fedavg() -> None:
    """And the ranges that the text gives for each μ, over all five splits."""
    means = {name: [] for name in PROXIMAL}
    for split in best_rates.SPLITS.values():
        for name, values in best_rates.leads(split, {name: name for name in PROXIMAL}).items():
            means[name].append(100 * values.mean())
    assert np.abs(means["FedProx 0.01"]).max() < 0.3
    assert [round(end, 1) for end in (max(means["FedProx 0.1"]), min(means["FedProx 0.1"]))] == [
        -0.1,
        -0.6,
    ]
    assert [round(end) for end in (max(means["FedProx 1"]), min(means["FedProx 1"]))] == [-2, -15]


@pytest.mark.parametrize(("method", "points"), [("FedProx 0.1", -1.4), ("FedProx 1", -2.7)])
def test_with_twenty_epochs_fedprox_ends_lower_too(method: str, points: float) -> None:
    """Two labels, each method at its best rate."""
    where = {"partition": "two_labels", "epochs": 20, "best_by": "rounds"}
    ends = [
        tables.matching("rated_digits", where | {"method": name}).set_index("seed").end_accuracy
        for name in (method, "FedAvg")
    ]
    assert round(100 * float((ends[0] - ends[1]).mean()), 1) == points


def test_rounds_are_counted_until_a_path_stays_within_a_hundredth() -> None:
    """Half of the way in every round: 2⁻⁷ < 1 % after seven rounds, and 2⁻⁶ is not."""
    assert figures.rounds_needed(1 - 0.5 ** np.arange(60.0)) == 7
    assert figures.rounds_needed(np.array([0.0, 1.0, 1.2, 1.0, 1.0])) == 3


def test_the_stopping_points_of_the_figure_are_those_in_the_text() -> None:
    a, b = np.array([1.0, 3.0]), np.array([0.0, 1.0])

    def fedprox(mu: float) -> list[float]:
        path = [0.0]
        for _ in range(400):
            ends = [
                local_update(path[-1], k, lambda k, y: a[k] * (y - b[k]), 0.1, 10, mu)
                for k in (0, 1)
            ]
            path.append(float(np.mean(ends)))
        return path

    needed = [figures.rounds_needed(np.array(fedprox(mu))) for mu in (0.0, 10.0)]
    assert needed == [3, 27]
    way = {mu: a / (a + mu) * (1 - (1 - 0.1 * (a + mu)) ** 10) for mu in (0.0, 10.0, 12.9)}
    rests = {mu: float(s @ b / s.sum()) for mu, s in way.items()}
    assert rests == pytest.approx({0.0: 0.5987, 10.0: 0.7174, 12.9: 0.7229}, abs=5e-5)
    for mu, rest in rests.items():
        assert fedprox(mu)[-1] == pytest.approx(rest, abs=1e-9)
    figure = figures.stops(fedprox, 0.75)
    assert figure.data[0].y[0] == pytest.approx(rests[0.0], abs=1e-9)


def quadratic_path(mu: float = 0.0, eta: float = 0.1, tau: int = 10) -> np.ndarray:
    """w over 400 rounds by the closed form of a local run: a client covers the part s_k."""
    a, b = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    way = a / (a + mu) * (1 - (1 - eta * (a + mu)) ** tau)
    rest = float(way @ b / way.sum())
    return rest * (1 - (1 - way.mean()) ** np.arange(401))


def test_two_local_steps_stop_nearer_than_any_mu() -> None:
    rows = figures.rivals(quadratic_path, 0.75).layout.meta["table"]["rows"]
    found = {label: (float(end), count) for _, label, end, count in rows}
    assert found["τ = 2"] == (0.7286, 11)
    assert found["μ = 12.9"] == (0.7229, 34)
    assert found["τ = 1"] == (0.75, 21)
    assert max(quadratic_path(mu)[-1] for mu in np.arange(0, 17, 0.1)) < found["τ = 2"][0]


def test_with_eta_mu_of_one_a_local_step_forgets_the_steps_before() -> None:
    """y ← w − η ∇F(y): two runs that differ before the last gradient end alike."""
    gradients = iter([7.0, -2.0, 0.5])
    assert local_update(3.0, 0, lambda k, y: next(gradients), 0.5, 3, 2.0) == pytest.approx(2.75)


def test_clients_move_less_as_the_text_says() -> None:
    rows = tables.matching("drift_digits", {"labels_per_client": 2})
    drift = rows[rows.algorithm != "scaffold"].fillna({"mu": 0.0}).groupby("mu").drift.mean()
    assert drift[0.0] == pytest.approx(0.462, abs=5e-4)
    assert drift[1.0] == pytest.approx(0.403, abs=5e-4)
    assert 1 - drift[0.01] / drift[0.0] == pytest.approx(0.002, abs=5e-4)
    means = [trace.y for trace in figures.moves().data]
    assert [len(values) for values in means] == [20, 20, 20]


def test_the_patient_makes_the_run_of_fedavg_bit_for_bit() -> None:
    fed = blobs((20, 30, 25, 20, 20, 25))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {
        "clients_per_round": 3,
        "local_epochs": 5,
        "batch_size": 5,
        "rounds": 4,
        "lr": 0.5,
        "progress": False,
    }
    patient, plain, proximal = (
        large_rates.history(fed, model, rule, **work).params
        for rule in (clinic.PATIENTS[4].algorithm, fl.FedAvg(), fl.FedProx(1.0))
    )
    assert patient.equal(plain)
    assert not patient.equal(proximal)


def test_a_run_that_diverges_has_the_rounds_until_then(capsys: pytest.CaptureFixture[str]) -> None:
    fed = blobs((20, 30, 25, 20, 20, 25))
    model = fl.models.mlp(fed, seed=2)
    work = {"clients_per_round": 3, "local_steps": 20, "batch_size": 5, "rounds": 30}
    found = large_rates.history(fed, model, fl.FedProx(500.0), **work, lr=1.0, progress=False)
    assert len(found.records) < 30
    assert "diverged in round" in capsys.readouterr().out


@pytest.mark.parametrize(("mu", "bias"), [(1, 0.1245), (4, 0.0680), (12, 0.0280), (16, 0.1073)])
def test_the_bias_of_fedprox_returns_where_local_steps_overshoot(mu: float, bias: float) -> None:
    """Σ s_k b_k / Σ s_k, with s_k = a_k / (a_k + μ) · (1 − (1 − η (a_k + μ))^τ)."""
    a = np.array([1.0, 3.0])
    b = np.array([0.0, 1.0])
    way = a / (a + mu) * (1 - (1 - 0.1 * (a + mu)) ** 10)
    rest = float((way * b).sum() / way.sum())
    assert 0.75 - rest == pytest.approx(bias, abs=1e-4)
    found = limit(quadratics(a, b), fl.FedProx(mu=mu), rounds=300, local_steps=10, lr=0.1)
    assert found == pytest.approx(rest, abs=1e-6)


@pytest.mark.slow
def test_the_goal_of_the_race_is_reached_with_five_epochs_and_not_at_its_start() -> None:
    where = {"split": "labels_per_client", "labels": 2, "local_epochs": 1, "rounds": 50}
    goal = goals.beats("FedProx", "FedAvg")
    explorer = Explorer(algorithms=("fedavg", "fedprox"), lr=1.0, mu=1.0, goal=goal, **where)
    explorer.run()
    assert explorer.reached is False
    for epochs, lead in ((5, 58), (10, 65)):
        explorer.run(local_epochs=epochs)
        assert explorer.reached is True
        plain, proximal = (
            one.frame.test_accuracy.tail(10).mean() for one in explorer.histories.values()
        )
        assert round(100 * (proximal - plain)) == lead
