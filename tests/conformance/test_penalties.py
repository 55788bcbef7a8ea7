"""Mistakes planted in FedMas and FedCurv that are written out in PyTorch are named."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from fedconform import Task, check
from fedconform.mistakes import in_penalties as penalties

Vector = torch.Tensor
# y, the gradient g, η, a = 2λΩ, a ⊙ r → the next y
Step = Callable[[Vector, Vector, float, Vector, Vector], Vector]
RIGHT: Mapping[str, Step] = {
    "explicit": lambda y, g, eta, a, ar: y - eta * (g + a * y - ar),
    "implicit": lambda y, g, eta, a, ar: (y - eta * g + eta * ar) / (1 + eta * a),
}
PLANTED: Mapping[str, Mapping[str, Step]] = {
    "explicit": {
        penalties.NO_PENALTY: lambda y, g, eta, a, ar: y - eta * g,
        penalties.HALF: lambda y, g, eta, a, ar: y - eta * (g + (a * y - ar) / 2),
        penalties.SIGN: lambda y, g, eta, a, ar: y - eta * (g - a * y + ar),
        penalties.IMPLICIT: RIGHT["implicit"],
    },
    "implicit": {
        penalties.NO_PENALTY: lambda y, g, eta, a, ar: y - eta * g,
        penalties.HALF: lambda y, g, eta, a, ar: (y - eta * g + eta * ar / 2) / (1 + eta * a / 2),
        penalties.EXPLICIT: RIGHT["explicit"],
        penalties.HALF_DENOMINATOR: lambda y, g, eta, a, ar: (
            (y - eta * g + eta * ar) / (1 + eta * a / 2)
        ),
        penalties.NO_DENOMINATOR: lambda y, g, eta, a, ar: y - eta * g + eta * ar,
        penalties.HALF_ANCHOR: lambda y, g, eta, a, ar: (
            (y - eta * g + eta * ar / 2) / (1 + eta * a)
        ),
        penalties.ANCHOR_WITHOUT_RATE: lambda y, g, eta, a, ar: (y - eta * g + ar) / (1 + eta * a),
        penalties.AFTER_DIVISION: lambda y, g, eta, a, ar: (y - eta * g) / (1 + eta * a) + eta * ar,
        penalties.BOTH_STEPS: lambda y, g, eta, a, ar: (
            (y - eta * (g + a * y - ar) + eta * ar) / (1 + eta * a)
        ),
    },
}


class ByHand:
    """FedMas and FedCurv with a local step for each kind of penalty step."""

    def __init__(self, steps: Mapping[str, Step], anchor: Callable = lambda w, start: w) -> None:
        self.steps = steps
        self.anchor = anchor

    def run(self, task: Task) -> list[np.ndarray]:
        self.task = task
        self.model = task.model()
        self.step = self.steps[task.parameters.get("penalty_step", "explicit")]
        return self.fedmas() if task.algorithm == "FedMas" else self.fedcurv()

    def fedmas(self) -> list[np.ndarray]:
        task = self.task
        start = w = torch.tensor(task.start)
        omega = torch.zeros_like(w)
        path = []
        for cohort, client in zip(task.cohorts, task.parameters["measured_by"], strict=True):
            a = 2 * task.parameters["strength"] * omega
            w = self.mean(cohort, [self.train(k, w, a, a * self.anchor(w, start)) for k in cohort])
            omega = self.moment(client, w, self.norm).abs().mean(0)
            path.append(w.numpy())
        return path

    def fedcurv(self) -> list[np.ndarray]:
        """Of every pair (I_j, θ_j) of the last cohort, those of the others count."""
        task = self.task
        w = torch.tensor(task.start)
        shares: dict[int, tuple[Vector, Vector]] = {}
        path = []
        for cohort in task.cohorts:
            models = []
            for k in cohort:
                others = [share for j, share in shares.items() if j != k]
                scale = 2 * task.parameters["strength"]
                a = scale * sum((fisher for fisher, _ in others), torch.zeros_like(w))
                ar = scale * sum((i * theta for i, theta in others), torch.zeros_like(w))
                models.append(self.train(k, w, a, ar))
            shares = {
                k: (self.moment(k, y, task.loss).square().mean(0), y)
                for k, y in zip(cohort, models, strict=True)
            }
            w = self.mean(cohort, models)
            path.append(w.numpy())
        return path

    def mean(self, cohort: tuple[int, ...], models: list[Vector]) -> Vector:
        sizes = torch.tensor([float(self.task.sizes[k]) for k in cohort], dtype=torch.float64)
        return sizes / sizes.sum() @ torch.stack(models)

    def train(self, k: int, w: Vector, a: Vector, ar: Vector) -> Vector:
        x, target = self.task.data(k)
        y = w
        for rows in torch.arange(len(x)).split(self.task.batch_size or len(x)) * self.task.epochs:
            g = self.gradient(y, x[rows], target[rows], self.task.loss)
            y = self.step(y, g, self.task.lr, a, ar)
        return y

    def gradient(self, w: Vector, x: Vector, target: Vector, value: Callable) -> Vector:
        vector_to_parameters(w.clone(), self.model.parameters())
        self.model.zero_grad()
        value(self.model(x), target).backward()
        return parameters_to_vector([one.grad for one in self.model.parameters()])

    def moment(self, k: int, w: Vector, value: Callable) -> Vector:
        """The gradient of each sample, [n, P]."""
        x, target = self.task.data(k)
        places = range(len(x))
        rows = [self.gradient(w, x[i : i + 1], target[i : i + 1], value) for i in places]
        return torch.stack(rows)

    def norm(self, output: Vector, target: Vector) -> Vector:
        if self.task.parameters.get("output") == "softmax":
            output = torch.softmax(output, dim=1)
        return output.square().sum()


def entries(step: str, report) -> set[str]:
    """The entries of the report that ask for this step."""
    names = {row.algorithm for row in report.rows}
    return {name for name in names if ("implicit" in name) == (step == "implicit")}


def test_the_right_steps_pass() -> None:
    report = check(ByHand(RIGHT).run, ["FedMas", "FedCurv"])
    assert report.passed, str(report)
    assert len(entries("implicit", report)) == 3
    assert len(entries("explicit", report)) == 2


@pytest.mark.parametrize(
    ("step", "mistake"),
    [(step, mistake) for step, planted in PLANTED.items() for mistake in planted],
)
def test_a_planted_mistake_in_the_step_is_the_only_explanation(step: str, mistake: str) -> None:
    report = check(ByHand({**RIGHT, step: PLANTED[step][mistake]}).run, ["FedMas", "FedCurv"])
    assert report.mistakes == {name: ((mistake,),) for name in entries(step, report)}


@pytest.mark.parametrize(
    ("mistake", "anchor"),
    [
        (penalties.OLD_ANCHOR, lambda w, start: start),
        (penalties.TO_ZERO, lambda w, start: torch.zeros_like(w)),
    ],
)
def test_a_penalty_that_is_tied_to_another_model_is_named_in_both_steps(
    mistake: str, anchor: Callable
) -> None:
    report = check(ByHand(RIGHT, anchor).run, ["FedMas"])
    assert len(report.mistakes) == 3
    assert set(report.mistakes.values()) == {((mistake,),)}
