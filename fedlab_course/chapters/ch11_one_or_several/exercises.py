# mypy: allow-untyped-defs
"""Exercises of chapter 11: where Ditto stops, and a model for each group as a class."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, require_path


def ditto_point(a, b, w, strength):
    """The lowest point z of a/2 (z - b)² + λ/2 (z - w)², with λ = strength."""
    ### BEGIN SOLUTION
    return (a * b + strength * w) / (a + strength)
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
        group, n = self.groups[updates.clients], updates.num_samples.to(server.params)
        for g in np.unique(group):
            ### BEGIN SOLUTION
            mine = torch.from_numpy(group == g)
            server.state["models"][g] = n[mine] @ updates.params[mine] / n[mine].sum()
            ### END SOLUTION
        return server.state["models"].mean(0)


def check_groups(answer):
    """Each group follows FedAvg on its own clients; w is the mean of their models."""
    a, b = np.array([1.0, 3.0, 2.0, 2.0]), np.array([0.0, 1.0, 5.0, 5.0])
    part, clients = 1 - (1 - LR * a) ** 5, (a.tolist(), b.tolist())

    def expected(sizes):
        models, found = np.full(2, START), []
        for _ in range(ROUNDS):
            local = models[[0, 0, 1, 1]] + part * (b - models[[0, 0, 1, 1]])
            models = np.array([np.average(local[g], weights=sizes[g]) for g in (slice(2), slice(2, 4))])
            found.append(models.mean())
        return found

    one = [START + (part * (b - START)).mean()]
    for _ in range(ROUNDS - 1):
        one.append(one[-1] + (part * (b - one[-1])).mean())
    require_path(answer, one, "A single group is FedAvg.", [[0, 0, 0, 0]], *clients)
    hint = "Two groups of two clients. A client starts at the model of its group, and only its group averages it."
    require_path(answer, expected([1, 1, 1, 1]), hint, [[0, 0, 1, 1]], *clients)
    hint = "The same with 1, 3, 2 and 2 samples. A group is a FedAvg: weigh by n_k."
    require_path(answer, expected([1, 3, 2, 2]), hint, [[0, 0, 1, 1]], *clients, {"sizes": [1, 3, 2, 2]})


EXERCISES = (
    Exercise(
        id="11-pull",
        solution=ditto_point,
        cases=(
            Case((2.0, 1.5, -1.0, 0.0), 1.5, "Without a pull, λ = 0, the client stops at its own optimum b."),
            Case((1.0, 0.0, 1.0, 1.0), 0.5, "With a = λ both pull equally, and the client stops in the middle."),
            Case((3.0, 0.0, 1.0, 1.0), 0.25, "A steep valley holds more: set a (z − b) + λ (z − w) to zero."),
        ),
        mistakes=(
            Mistake("(a * b + strength * w) / (a + strength)", "b + strength * w", "Yours is not between b and w."),
            Mistake("return", "a = 1\n    return", "A steeper valley holds more, and yours is the same for all a."),
            Mistake("(a * b + strength * w)", "(a * w + strength * b)", "With λ = 0 the client must stop at b."),
        ),
    ),
    Exercise(
        id="11-groups",
        solution=PerGroup,
        check=check_groups,
        mistakes=(
            Mistake('server.state["models"][self.groups[client]]', "server.params", "the model of its group"),
            Mistake("/ n[mine].sum()", "/ n.sum() * 2", "A single group"),
            Mistake("n[mine] @ updates.params[mine] / n[mine].sum()", "updates.params[mine].mean(0)", "weigh by n_k"),
        ),
    ),
)
