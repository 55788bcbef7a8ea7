# mypy: allow-untyped-defs
"""Exercises of chapter 11: where Ditto stops, the best pull, and a model for each group."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import (
    LR,
    ROUNDS,
    START,
    by_parameter,
    drawn,
    require_path,
)

_ = translator(__name__)


def ditto_point(a, b, w, strength):
    """The lowest point z of a/2 (z - b)² + λ/2 (z - w)², with λ = strength."""
    ### BEGIN SOLUTION
    return (a * b + strength * w) / (a + strength)
    ### END SOLUTION


def best_pull(samples):
    """λ⋆ = ν / V, from the samples of each client: a list of arrays [n_k, P]."""
    ### BEGIN SOLUTION
    b = np.array([x.mean(axis=0) for x in samples])
    nu = np.mean([x.var(axis=0, ddof=1).sum() / len(x) for x in samples])
    V = b.var(axis=0, ddof=1).sum() - nu
    return nu / V if V > 0 else np.inf
    ### END SOLUTION


class PerGroup(fl.Algorithm):
    """FedAvg inside each group of clients, with a model for each."""

    def __init__(self, groups):
        self.groups = np.asarray(groups)  # the group of each client, 0 to M − 1 [N]

    def setup(self, server):
        server.state["models"] = server.params.repeat(self.groups.max() + 1, 1)  # [M, P]

    def correction(self, server, client):
        """Where client starts its local steps, fl.Correction(start=…)."""
        ### BEGIN SOLUTION
        return fl.Correction(start=server.state["models"][self.groups[client]])
        ### END SOLUTION

    def aggregate(self, server, updates):
        """Renew the models; the rows of updates.params are what the cohort sends."""
        group = self.groups[updates.clients]
        n = updates.num_samples.to(server.params)
        for g in np.unique(group):
            ### BEGIN SOLUTION
            mine = torch.from_numpy(group == g)
            server.state["models"][g] = n[mine] @ updates.params[mine] / n[mine].sum()
            ### END SOLUTION
        return server.state["models"].mean(0)

    def client_params(self, server, clients):
        """The model that each client is measured with."""
        return server.state["models"][self.groups[clients]]


_CURVATURES = np.array([1.0, 2.0, 3.0, 2.0])
_MINIMA = np.array([0.0, 5.0, 1.0, 4.0])
_MIXED = [0, 1, 0, 1]  # the group of each client


def _expected(groups, sizes, cohorts, b):
    """The mean of the models of all groups: each is FedAvg on those of its clients that are drawn.

    ``cohorts``: of each round.
    """
    part = 1 - (1 - LR * _CURVATURES) ** 5
    models = np.full(max(groups) + 1, START)
    points = []
    for cohort in cohorts:
        local = models[groups] + part * (b - models[groups])
        for group in range(len(models)):
            mine = [client for client in cohort if groups[client] == group]
            if mine:
                models[group] = np.average(local[mine], weights=np.array(sizes)[mine])
        points.append(models.mean())
    return points


def _require(answer, hint, groups, *, sizes=(1, 1, 1, 1), size=4, rounds=ROUNDS, b=_MINIMA):
    """Raise the hint unless the answer has the path of FedAvg in each group."""
    changes = {"clients_per_round": size, "rounds": rounds}
    cohorts = [one for (one,) in drawn(fl.FedAvg, [], 4, changes)]
    if np.ndim(b) == 1:
        expected = _expected(groups, sizes, cohorts, b)
    else:
        expected = by_parameter(lambda column: _expected(groups, sizes, cohorts, column), b)
    changes["sizes"] = list(sizes)
    require_path(
        answer, expected, hint, [groups], _CURVATURES.tolist(), np.asarray(b).tolist(), changes
    )


def check_groups(answer):
    """Each group follows FedAvg on its own clients; w is the mean of their models."""
    _require(answer, _("A single group is FedAvg."), [0, 0, 0, 0])
    hint = _(
        "Two groups of two clients. A client starts at the model of its group, and only its "
        "group averages it."
    )
    _require(answer, hint, _MIXED)
    hint = _("The same with 1, 3, 2 and 2 samples. A group is a FedAvg: weigh by n_k.")
    _require(answer, hint, _MIXED, sizes=(1, 3, 2, 2))
    hint = _(
        "Two of four clients are drawn in a round. The rows of `updates.params` are theirs, in the "
        "order of `group`, and a group without a client keeps its model."
    )
    _require(answer, hint, _MIXED, sizes=(1, 3, 2, 2), size=2, rounds=8)
    hint = _("Two parameters. Each has its own mean over the clients of the group.")
    pairs = [[0.0, 4.0], [5.0, 1.0], [1.0, -1.0], [4.0, 0.0]]
    _require(answer, hint, _MIXED, sizes=(1, 3, 2, 2), size=3, b=pairs)


EXERCISES = (
    Exercise(
        id="11-pull",
        solution=ditto_point,
        cases=(
            Case(
                (2.0, 1.5, -1.0, 0.0),
                1.5,
                _("Without a pull, λ = 0, the client stops at its own optimum b."),
            ),
            Case(
                (1.0, 0.0, 1.0, 1.0),
                0.5,
                _("With a = λ both pull equally, and the client stops in the middle."),
            ),
            Case(
                (3.0, 0.0, 1.0, 1.0),
                0.25,
                _("A steep valley holds more: set a (z − b) + λ (z − w) to zero."),
            ),
            Case(
                (0.5, 4.0, -2.0, 2.0),
                -0.8,
                _("A flat valley, a = 0.5, gives in: λ = 2 counts four times as much."),
            ),
        ),
        mistakes=(
            Mistake(
                "(a * b + strength * w) / (a + strength)",
                "b + strength * w",
                _("Yours is not between b and w."),
            ),
            Mistake(
                "return",
                "a = 1\n    return",
                _("A steeper valley holds more, and yours is the same for all a."),
            ),
            Mistake(
                "(a * b + strength * w)",
                "(a * w + strength * b)",
                _("With λ = 0 the client must stop at b."),
            ),
        ),
    ),
    Exercise(
        id="11-best",
        solution=best_pull,
        cases=(
            Case(
                ([np.array([[0.0], [2.0]]), np.array([[10.0], [12.0]])],),
                1 / 49,
                _(
                    "Two clients with one number a sample: 0, 2 and 10, 12. Each variance is 2, so "
                    "ν is 1. The means are 1 and 11, with a variance of 50."
                ),
            ),
            Case(
                ([np.array([[0.0], [2.0]]), np.array([[9.0], [11.0], [10.0], [10.0]])],),
                7 / 479,
                _(
                    "Samples 0, 2 and 9, 11, 10, 10. The variances are 2 and 2/3; divide each by "
                    "its own n_k, 2 and 4, and take the mean, 7/12."
                ),
            ),
            Case(
                (
                    [
                        np.array([[0.0, 0.0], [2.0, 4.0]]),
                        np.array([[6.0, 0.0], [8.0, 0.0]]),
                        np.array([[2.0, 1.0], [4.0, 1.0]]),
                    ],
                ),
                7 / 24,
                _(
                    "Three clients with two numbers a sample. Sum variances over both numbers: the "
                    "ν of the clients are 5, 1 and 1."
                ),
            ),
            Case(
                ([np.array([[0.0], [4.0]]), np.array([[1.0], [5.0]])],),
                np.inf,
                _(
                    "Samples 0, 4 and 1, 5: ν is 4, and the means 2 and 3 differ by less than "
                    "chance. With V ≤ 0 return np.inf: one model for all."
                ),
            ),
        ),
        mistakes=(
            Mistake(
                ".sum() - nu",
                ".sum()",
                _(
                    "Your V still holds the chance: the means of clients differ by chance, too. "
                    "Take ν off."
                ),
            ),
            Mistake(
                "nu / V",
                "V / nu",
                _("Yours is the other way round: more chance asks for a stronger pull."),
            ),
            Mistake(
                ".sum() / len(x)",
                ".sum()",
                _(
                    "This is the variance of one sample. The mean of n_k samples has a variance "
                    "n_k times smaller."
                ),
            ),
            Mistake(
                "ddof=1",
                "ddof=0",
                _(
                    "Divide squares by n − 1 (ddof=1): around a mean that comes from the same "
                    "samples they are too small."
                ),
            ),
            Mistake(
                " if V > 0 else np.inf",
                "",
                _("A negative λ pushes away from the others. With V ≤ 0 return np.inf."),
            ),
        ),
    ),
    Exercise(
        id="11-groups",
        solution=PerGroup,
        check=check_groups,
        mistakes=(
            Mistake(
                'server.state["models"][self.groups[client]]',
                "server.params",
                "the model of its group",
            ),
            Mistake("/ n[mine].sum()", "/ n.sum() * 2", "A single group"),
            Mistake(
                "n[mine] @ updates.params[mine] / n[mine].sum()",
                "updates.params[mine].mean(0)",
                "weigh by n_k",
            ),
        ),
    ),
)
