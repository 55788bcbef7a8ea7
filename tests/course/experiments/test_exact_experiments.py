"""Experiments on formulas, against mathematics: fixed points, slopes and bounds that are known."""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.experiments import problems
from fedlab_course.experiments.studies import example_1, lemmas, scaffold_figure_3, theorem_rates


def test_sgd_on_figure_3_contracts_by_one_minus_the_rate() -> None:
    """f = x²/2: a step is x ← (1 − η) x, so the gap falls by (1 − η)² a round, whatever G."""
    found = scaffold_figure_3.gaps(fl.FedAvg(), 100, 1, 0.1, rounds=20)
    assert found == pytest.approx([0.81**t for t in range(21)], rel=1e-10)


def test_fedavg_on_figure_3_rests_off_the_optimum_by_an_amount_that_grows_with_g() -> None:
    """With q = (1 − 2μη)^K, client 1 moves x to q x − (1 − q) G/(2μ), client 2 to x + KηG: the
    fixed point of the mean is G (Kη/(1 − q) − 1/(2μ)).
    """
    lr = 0.1
    steps = 2
    q = (1 - 2 * lr) ** steps
    rest = 10 * (steps * lr / (1 - q) - 0.5)
    found = scaffold_figure_3.gaps(fl.FedAvg(), 10, steps, lr, rounds=60)
    assert found[-1] == pytest.approx(rest**2, rel=1e-3)


def test_scaffold_that_begins_with_the_gradients_does_not_see_g() -> None:
    algorithm = scaffold_figure_3.ScaffoldFromGradients()
    few = scaffold_figure_3.gaps(algorithm, 1, 2, 0.1, rounds=15)
    assert scaffold_figure_3.gaps(algorithm, 100, 2, 0.1, rounds=15) == pytest.approx(few, rel=1e-9)
    # c_k = 0: as FedAvg, (1 + q)/2 and G (Kη − (1 − q)/(2μ))/2 with q = 0.64
    first = 0.82 + 100 * (0.2 - 0.18) / 2
    assert scaffold_figure_3.gaps(fl.Scaffold(), 100, 2, 0.1, rounds=1)[1] == pytest.approx(
        first**2
    )


def test_the_best_rate_of_figure_3_is_that_of_each_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the gap (1 − η)^(2t), 33 rounds at η = 0.1 are the first with less than 10⁻³ of it."""
    monkeypatch.setattr(scaffold_figure_3, "RATES", (0.1, 0.05))
    row, *points = scaffold_figure_3.run(0, algorithm="sgd", G=10, local_steps=1)
    assert (row["rounds_to_gap"], row["lr_rounds"], row["lr_gap"]) == (33, 0.1, 0.1)
    assert row["log10_gap"] == pytest.approx(200 * math.log10(0.9))
    assert [point["round"] for point in points] == list(range(0, 101, 2))
    assert points[5]["gap"] == pytest.approx(0.9**20)


@pytest.mark.parametrize(("case", "bias"), [("shifted", 0.05 * 1 - 0.1 * 7), ("balanced", 0.0)])
def test_shifted_weights_move_the_limit_by_their_product_with_the_means(
    case: str, bias: float
) -> None:
    [row] = example_1.run(0, part="weights", case=case)
    assert row["bias"] == pytest.approx(bias, abs=1e-12) and row["error"] < 1e-12
    assert row["device_heterogeneity"] == 0


def test_one_client_of_each_cluster_leads_within_the_bound() -> None:
    """Heard are 0.3, 2.3 and 9.2 for clusters of 4, 2 and 2, whose farthest members are 0.3, 0.3
    and 0.2 away.
    """
    [row] = example_1.run(0, part="clusters", case="fedsso")
    optimum = (0.6 + 4.3 + 18.2) / 8
    assert row["bias"] == pytest.approx((4 * 0.3 + 2 * 2.3 + 2 * 9.2) / 8 - optimum)
    assert row["bound"] == pytest.approx((4 * 0.3 + 2 * 0.3 + 2 * 0.2) / 8)
    assert row["slack"] == pytest.approx(row["bound"] - row["abs_bias"]) and row["slack"] > 0
    [plain] = example_1.run(0, part="clusters", case="fedavg")
    assert plain["bias"] == pytest.approx((0.3 + 2.3 + 9.2) / 3 - optimum)
    assert plain["abs_bias"] > plain["bound"]


def test_quadratics_are_the_objective_that_clients_train_on() -> None:
    problem = problems.quadratics(1, num_clients=3, dimension=4)
    losses = [
        0.5 * (x @ torch.ones(4, dtype=torch.float64) - y.flatten()).square().mean()
        for x, y in map(problem.fed.client, range(3))
    ]
    zero = [0.5 * y.square().mean() for _, y in map(problem.fed.client, range(3))]
    ones = torch.ones(4, dtype=torch.float64)
    difference = problem.excess(ones) - problem.excess(torch.zeros(4, dtype=torch.float64))
    assert difference == pytest.approx(float(sum(losses) - sum(zero)) / 3)


def test_errors_are_measured_from_the_optimum() -> None:
    """A long run of gradient descent, E = 1, ends there, and nowhere lies below."""
    for problem in (problems.quadratics(0), problems.softmax(0)):
        steps = {"rounds": 150, "local_steps": 1, "batch_size": None, "lr": 1 / problem.smoothness}
        everybody = {
            "clients_per_round": problem.fed.num_clients,
            "eval_every": 150,
            "loss": problem.loss,
        }
        history = fl.simulate(
            problem.fed, problem.model, problem.algorithm, **steps, **everybody, progress=False
        )
        assert abs(problem.excess(history.params)) < 1e-9
        assert problem.excess(history.params + 0.01) > 1e-4


def test_full_gradients_of_one_step_fall_as_the_product_of_their_contractions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One coordinate of curvature ā: w − w* shrinks by Π (1 − η_t ā), η_t = β/(t + γ)."""
    monkeypatch.setattr(theorem_rates, "TIMES", (10, 20))
    problem = problems.quadratics(0, num_clients=4, dimension=1)
    [first, second] = theorem_rates.errors(problem, "exact", 1, 0)
    curvature = np.mean([float(x.square()) for x, _ in map(problem.fed.client, range(4))])
    factors = [1 - 2 / (t + 16) * curvature for t in range(20)]
    start = problem.excess(torch.zeros(1, dtype=torch.float64))
    assert first == pytest.approx(start * np.prod(factors[:10]) ** 2)
    assert second == pytest.approx(start * np.prod(factors) ** 2)


def test_a_constant_rate_rests_where_the_closed_form_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert theorem_rates.fixed_point() == pytest.approx(0.5987111211, abs=1e-10)
    short = (*theorem_rates.FLOORS["quadratics"][:5], 200, 50)
    monkeypatch.setitem(theorem_rates.FLOORS, "quadratics", short)
    [row] = theorem_rates.floor(0, problem="quadratics", rate="constant")
    # mean curvature 2, halved
    assert row["floor"] == pytest.approx((0.75 - 0.5987111211) ** 2, rel=1e-8)
    assert row["excess_end"] == pytest.approx(row["floor"], rel=1e-8)
    [row] = theorem_rates.floor(0, problem="quadratics", rate="decaying")
    assert row["excess_end"] < 0.4 * row["excess_early"]


def test_what_drift_leaves_grows_as_the_square_of_the_further_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exact gradients: w rests about η (E − 1) off, so F − F* is as 1 : 16 for E = 2 and 5, and
    falls as 1/T².
    """
    monkeypatch.setattr(theorem_rates, "TIMES", (500, 1000))
    problem = problems.quadratics(0, num_clients=4, dimension=3)
    two, five = (theorem_rates.errors(problem, "exact", steps, 0) for steps in (2, 5))
    assert five[-1] / two[-1] == pytest.approx(16, rel=0.1)
    assert five[0] / five[-1] == pytest.approx(4, rel=0.1)


def test_the_lemmas_of_fedsso_are_kept_on_quadratics_and_one_is_loose() -> None:
    """μ-convexity and L-smoothness alone: both ratios of the gradient lie between μ/L and 1."""
    rows = {row["lemma"]: row for row in lemmas.run(3)}
    assert all(0 < row["ratio"] <= 1 for row in rows.values())
    assert rows[1]["ratio"] >= lemmas.CONVEXITY / lemmas.SMOOTHNESS <= rows[2]["ratio"]
    # B is (81 · 4 L² + L/μ) G² + 2LΓ as printed, and 2/16 squared of the first part as it should be
    assert 1 < rows[4]["slip"] < 64
