# mypy: allow-untyped-defs
"""Exercises of chapter 5: tiers in turn, importance, and the pull of a penalty."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.chances import (
    cohorts_of,
    counted,
    require_counts,
    require_meetings,
    require_stream,
)
from fedlab_course.check.tools import array, close, require, run_with, shown
from fedlab_course.check.with_model import linear, weight_and_step

_ = translator(__name__)


class MyTiers(fl.Algorithm):
    """TFedAvg: one tier after another, and a fifth of the clients of each."""

    def __init__(self, tiers):
        self.tiers = np.asarray(tiers)  # the tier of each client [N]

    def cohorts(self, server):
        """Yield the clients of each update of a round, tier after tier."""
        for tier in np.unique(self.tiers):
            rng = server.stream("cohort", tier)
            ### BEGIN SOLUTION
            members = np.flatnonzero(self.tiers == tier)
            some = max(1, round(len(members) / 5))
            yield rng.choice(members, some, replace=False)
            ### END SOLUTION


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


def hold(anchor, importance, strength, lr):
    """The correction for λ Σ Ω (y − r)² with r = anchor, in an implicit step."""
    ### BEGIN SOLUTION
    weight = 2 * strength * importance
    scale = 1 / (1 + lr * weight)
    ### END SOLUTION
    return fl.Correction(weight=weight, anchor=anchor, scale=scale)


_TIERS = np.array([3, 2, 3, 1, 3, 2, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3, 2, 3, 3, 3, 3])
_SIZES = np.bincount(_TIERS)  # 1, 2, 6 and 13 clients
_SOME = np.array([1, 1, 1, 3])
_FOUR = _(
    "Four tiers make four updates in a round, each of one client at least. Yours makes {count}."
)
_ONE_TIER = _("Cohort {number} has clients {clients}, and they are not all in tier {tier}.")
_SIZE = _(
    "Of a tier of {size} clients {right} must train: a fifth, rounded, at least one. Yours has "
    "{count}."
)
_CHANCE = _(
    "In 2,000 rounds client {place} must train {expected} times, as often as the others of its "
    "tier. Yours trains {count} times."
)
_MEET = _(
    "Clients {first} and {second} are in the same tier, and in 2,000 rounds they never train "
    "together. Draw anew in each round."
)


def check_tiers(answer):
    """Look at the order of the tiers, at sizes, seeds and chances."""
    rounds = cohorts_of(answer, [_TIERS.tolist()], len(_TIERS), {"clients_per_round": 4})
    for cohorts in rounds:
        require(len(cohorts) == len(_SIZES), _FOUR.format(count=len(cohorts)))
        for tier, cohort in enumerate(cohorts):
            where = {"number": tier + 1, "clients": shown(cohort), "tier": tier}
            require((_TIERS[cohort] == tier).all(), _ONE_TIER.format(**where))
            sizes = {"size": _SIZES[tier], "right": _SOME[tier], "count": len(cohort)}
            require(len(cohort) == _SOME[tier], _SIZE.format(**sizes))
    require_counts(counted(rounds, len(_TIERS)), (_SOME / _SIZES)[_TIERS].tolist(), _CHANCE)
    require_meetings(rounds, len(_TIERS), np.flatnonzero(_TIERS == 3).tolist(), _MEET)
    require_stream(answer, [_TIERS.tolist()], len(_TIERS), {"clients_per_round": 4}, "`rng`")


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


_ANCHOR = [2.0, -1.0, 0.5]
_OMEGA = [0.5, 0.0, 2.0]
_PARAMS = [1.0, 1.0, 1.0]  # y before the step
_GRADIENT = [0.0, 2.0, -1.0]


def check_hold(answer):
    """Compare the weight with the derivative, 2 λ Ω, and the step with the solution of its
    equation, at two strengths.
    """
    for strength, lr in ((1.0, 0.5), (3.0, 0.1)):
        given = (_ANCHOR, _OMEGA, _PARAMS, _GRADIENT, strength, lr)
        found = run_with(answer, weight_and_step, *given)
        weight, step = array(found, (2, 3))
        expected = [2 * strength * omega for omega in _OMEGA]
        hint = _(
            "What is the derivative of λ Ω (y − r)² in y? For λ = {strength} and Ω = {omega} the "
            "weight must be {expected}, and yours is {found}."
        )
        numbers = {"strength": f"{strength:g}", "omega": shown(_OMEGA)}
        require(
            close(weight, expected),
            hint.format(**numbers, expected=shown(expected), found=shown(weight)),
        )
        solved = [
            (y - lr * g + lr * a * r) / (1 + lr * a)
            for y, g, a, r in zip(_PARAMS, _GRADIENT, expected, _ANCHOR, strict=True)
        ]
        hint = _(
            "The new y must solve y⁺ = y − η (g + a (y⁺ − r)). For η = {lr}, a = {weight}, r = "
            "{anchor}, y = {params} and g = {gradient} it is {expected}, and yours is {found}."
        )
        numbers = {
            "lr": f"{lr:g}",
            "weight": shown(expected),
            "anchor": shown(_ANCHOR),
            "params": shown(_PARAMS),
            "gradient": shown(_GRADIENT),
        }
        require(
            close(step, solved),
            hint.format(**numbers, expected=shown(solved), found=shown(step)),
        )


EXERCISES = (
    Exercise(
        id="05-tiers",
        solution=MyTiers,
        check=check_tiers,
        mistakes=(
            Mistake("max(1, round(len(members) / 5))", "len(members) // 5", "Yours makes"),
            Mistake("round(len(members) / 5)", "len(members) // 5", "Of a tier of 13"),
            Mistake("max(1, round(len(members) / 5))", "1", "Of a tier of 13"),
            Mistake(
                "rng.choice(members, some, replace=False)", "members[:some]", "In 2,000 rounds"
            ),
            Mistake("self.tiers == tier", "self.tiers >= tier", "not all in tier"),
        ),
    ),
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
            Mistake("1 / (1 + lr * weight)", "1.0", "must solve"),
            Mistake("1 / (1 + lr * weight)", "1 + lr * weight", "must solve"),
            Mistake("1 + lr * weight", "1 + weight", "must solve"),
        ),
    ),
)
