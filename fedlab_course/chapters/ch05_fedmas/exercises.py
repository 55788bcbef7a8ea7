# mypy: allow-untyped-defs
"""Exercises of chapter 5: importance, and the pull of a penalty."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.tools import array, close, require, run_with, shown
from fedlab_course.check.with_model import linear, weight_and_anchor

_ = translator(__name__)


def importance(model, samples):
    """Ω [P]: the mean of |∂ ‖f(x)‖² / ∂w| over the samples x, for every parameter of a model."""
    rows = []  # for each sample a vector [P]
    for x in samples:
        output = model(x[None])  # f(x), one row
        ### BEGIN SOLUTION
        gradients = torch.autograd.grad(output.square().sum(), list(model.parameters()))
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]).abs())
        ### END SOLUTION
    return torch.stack(rows).mean(0)


def hold(received, importance, strength, lr):
    """The correction for λ Σ Ω (y − r)², where r is the model that the tier has received."""
    ### BEGIN SOLUTION
    weight = 2 * strength * importance
    anchor = received
    ### END SOLUTION
    return fl.Correction(weight=weight, anchor=anchor, scale=1 / (1 + lr * weight))


def check_importance(answer):
    """Compare with the closed form of f(x) = W x + b: 2 |f_i x_j| and 2 |f_i|, in the mean."""
    weight = [[1.0, 2.0], [0.0, -1.0]]
    bias = [0.5, 0.0]
    for samples, hint in (
        ([[1.0, 1.0]], _("Of one sample it is |∂‖f(x)‖²/∂w|: first W row by row, then b.")),
        ([[1.0, 1.0], [-2.0, -1.0]], _("Take the absolute value for each sample, then the mean.")),
    ):
        x = np.array(samples)
        f = x @ np.transpose(weight) + bias
        products = (2 * f[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        expected = np.abs(np.hstack([products, 2 * f])).mean(0)
        result = array(run_with(answer, linear, weight, bias, samples), (6,))
        require(
            close(result, expected),
            _("{hint} It must be {expected}, and yours is {found}.").format(
                hint=hint, expected=shown(expected), found=shown(result)
            ),
        )


_RECEIVED = [2.0, -1.0, 0.5]
_OMEGA = [0.5, 0.0, 2.0]


def check_hold(answer):
    """Compare weight and anchor with those of the derivative, 2 λ Ω (y − r), at two strengths."""
    for strength, lr in ((1.0, 0.5), (3.0, 0.1)):
        parts = run_with(answer, weight_and_anchor, _RECEIVED, _OMEGA, strength, lr)
        weight, anchor = array(parts, (2, 3))
        expected = [2 * strength * omega for omega in _OMEGA]
        numbers = {
            "strength": f"{strength:g}",
            "omega": shown(_OMEGA),
            "received": shown(_RECEIVED),
        }
        hint = _(
            "What is the derivative of λ Ω (y − r)² in y? For λ = {strength} and Ω = {omega} the "
            "weight must be {expected}, and yours is {found}."
        )
        require(
            close(weight, expected),
            hint.format(**numbers, expected=shown(expected), found=shown(weight)),
        )
        hint = _(
            "The penalty pulls to r, the model that the tier has received: with {received} the "
            "anchor must be the same, and yours is {found}."
        )
        require(close(anchor, _RECEIVED), hint.format(**numbers, found=shown(anchor)))


EXERCISES = (
    Exercise(
        id="05-importance",
        solution=importance,
        check=check_importance,
        mistakes=(
            Mistake(".abs()", "", "Of one sample"),
            Mistake("output.square().sum()", "output.sum()", "Of one sample"),
            Mistake("output.square()", "output.softmax(1).square()", "Of one sample"),
        ),
    ),
    Exercise(
        id="05-hold",
        solution=hold,
        check=check_hold,
        mistakes=(
            Mistake("2 * strength", "strength", "What is the derivative"),
            Mistake(" * importance", "", "What is the derivative"),
            Mistake("2 * strength", "-2 * strength", "What is the derivative"),
            Mistake("anchor = received", "anchor = importance", "The penalty pulls to r"),
            Mistake("anchor = received", "anchor = 0", "The penalty pulls to r"),
        ),
    ),
)
