"""What bounds are made of, against closed forms, automatic differentiation and enumeration."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course import theory


def tiny(ridge: float = 0.3, seed: int = 0) -> theory.SoftmaxRegression:
    """Three classes, four features, clients of 5, 7 and 3 samples."""
    rng = np.random.default_rng(seed)
    clients = [(torch.from_numpy(rng.normal(size=(n, 4))), torch.arange(n) % 3) for n in (5, 7, 3)]
    return theory.SoftmaxRegression(
        fl.FederatedDataset.from_clients(clients, test=clients[0]), ridge
    )


def loss_of(
    problem: theory.SoftmaxRegression, k: int, w: torch.Tensor, sample: int | None = None
) -> torch.Tensor:
    """F_k, or the loss of one of its samples, as a linear layer of PyTorch has it."""
    x, y = problem.fed.client(k)
    x, y = (x, y) if sample is None else (x[sample : sample + 1], y[sample : sample + 1])
    logits = torch.nn.functional.linear(x, w[:12].reshape(3, 4), w[12:])
    return torch.nn.functional.cross_entropy(logits, y) + 0.5 * problem.ridge * w.square().sum()


def point(size: int = 15, seed: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=size))


def test_dissimilarity_of_two_quadratics() -> None:
    """∇f_k = a_k (w − b_k), a = (1, 3), b = (0, 1): at w* = 3/4 they are ±3/4, at w = 2 they are 2
    and 3.
    """
    gradients = [torch.tensor([[0.75], [-0.75]]).double(), torch.tensor([[2.0], [3.0]]).double()]
    spread, whole = theory.dissimilarity(gradients, np.array([0.5, 0.5]))
    assert spread == pytest.approx([0.5625, 6.5]) and whole == pytest.approx([0, 6.25])


def test_losses_and_gradients_are_those_of_a_linear_layer() -> None:
    problem = tiny()
    w = point().requires_grad_()
    losses = torch.stack([loss_of(problem, k, w) for k in range(3)])
    assert problem.losses(w) == pytest.approx(losses.detach().numpy(), rel=1e-12)
    assert problem.loss(w) == pytest.approx(
        float(losses.detach() @ torch.tensor([5, 7, 3]).double()) / 15
    )
    for k in range(3):
        (wanted,) = torch.autograd.grad(loss_of(problem, k, w), w)
        assert torch.allclose(problem.gradients(w)[k], wanted, rtol=1e-12)


def test_curvatures_are_those_of_the_hessian_and_below_the_bound() -> None:
    problem = tiny()
    w = point()
    for k, found in enumerate(problem.curvatures(w)):
        hessian = torch.autograd.functional.hessian(lambda v, k=k: loss_of(problem, k, v), w)
        assert found == pytest.approx(float(torch.linalg.eigvalsh(hessian)[-1]), rel=1e-5)
    assert (problem.curvatures(w) <= problem.smoothness).all()
    assert problem.ridge <= problem.curvatures(w).min()


def test_squares_and_noise_are_those_of_every_sample() -> None:
    problem = tiny()
    w = point().requires_grad_()
    for k, size in enumerate((5, 7, 3)):
        each = [torch.autograd.grad(loss_of(problem, k, w, sample), w)[0] for sample in range(size)]
        rows = torch.stack(each)
        assert problem.squares(w)[k] == pytest.approx(float(rows.square().sum(1).mean()))
        assert problem.noise(w)[k] == pytest.approx(
            float((rows - rows.mean(0)).square().sum(1).mean())
        )


def test_the_gap_lies_between_its_bounds_by_the_dissimilarity() -> None:
    """2μΓ ≤ Σ ρ_k ‖∇F_k(w*)‖² ≤ 2LΓ, and the gradient of F is zero at the optimum."""
    problem = tiny()
    found = problem.constants()
    assert (
        float((torch.from_numpy(problem.fed.weights) @ problem.gradients(problem.optimum)).norm())
        < 1e-6
    )
    squared = found["dissimilarity"] ** 2
    assert 0 < 2 * problem.ridge * found["gap"] <= squared <= 2 * found["smoothness"] * found["gap"]


def test_visited_parameters_are_those_of_gradient_descent() -> None:
    """One full step a round of all clients is a step on F, ridge and all."""
    problem = tiny()
    first, second = problem.visited(2, [1, 2], local_steps=1, batch_size=None, lr=0.1)
    step = torch.from_numpy(problem.fed.weights) @ problem.gradients(first)
    assert torch.allclose(second, first - 0.1 * step, rtol=1e-10)


def test_constants_must_be_positive() -> None:
    given = {"noise": 1.0, "smoothness": 4.0, "convexity": 2.0, "gradient": 3.0, "gap": 5.0}
    with pytest.raises(ValueError, match="convexity"):
        theory.Constants(**given | {"convexity": 0.0})


@pytest.mark.parametrize("gap", [0.0, 7.25, 100.0])
def test_best_number_of_local_steps_is_the_least_of_eq_35(gap: float) -> None:
    """A·E + B/E with A = (1 + 90/1000)·4 = 4.36 and B = 1 + 4Γ + 4·4/0.5 = 33 + 4Γ."""
    known = theory.Constants(noise=1.0, smoothness=4.0, convexity=0.5, gradient=2.0, gap=gap)
    best = known.best_local_steps(num_clients=100, clients_per_round=10)
    steps = np.linspace(0.5, 20, 4000)
    assert best == pytest.approx(steps[np.argmin(4.36 * steps + (33 + 4 * gap) / steps)], abs=0.005)


def test_a_path_is_that_of_the_library() -> None:
    fed = fl.synthetic.quadratics([1.0, 3.0], [0.0, 1.0])
    rate = fl.InverseTime(0.1)
    model = fl.models.linear(fed, bias=False)
    work = {"clients_per_round": 2, "batch_size": None, "loss": "squared_error", "progress": False}
    params = fl.simulate(fed, model, fl.FedAvg(), rounds=30, local_steps=10, lr=rate, **work).params
    path = theory.fedavg_path(
        [1, 3], [0, 1], [rate(t) for t in range(30)], 10, next(model.parameters()).item()
    )
    assert params.item() == pytest.approx(path[-1], abs=1e-12)


def test_a_path_begins_at_zero() -> None:
    """One client with a = 1, b = 2, one step of η = 0.1: w ← w + 0.1 (2 − w)."""
    assert theory.fedavg_path([1], [2], [0.1, 0.1], 1) == pytest.approx([0.0, 0.2, 0.38])
