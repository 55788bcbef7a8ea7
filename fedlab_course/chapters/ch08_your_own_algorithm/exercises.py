# mypy: allow-untyped-defs
"""Exercises of chapter 8: FedDyn as a class, an algorithm of the reader's own, and FedDyn with a
switch for each of its halves.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.on_quadratics import (
    LR,
    ROUNDS,
    START,
    PathCase,
    path,
    require_path,
    require_paths,
)
from fedlab_course.check.tools import require, run_with
from fedlab_course.methods.feddyn_halves import FedDynClients, FedDynServer

_ = translator(__name__)


class MyFedDyn(fl.Algorithm):
    """FedDyn of Acar et al. 2021, with μ for the paper's α."""

    def __init__(self, mu):
        self.mu = mu

    def setup(self, server):
        server.state["h"] = torch.zeros_like(server.params)
        server.state["h_clients"] = server.client_table()  # zeros [N, P]

    def correction(self, server, client):
        """What is added to the gradient: weight ⊙ (y − anchor) + offset."""
        ### BEGIN SOLUTION
        h_k = server.state["h_clients"][client]
        return fl.Correction(weight=self.mu, anchor=server.params, offset=-h_k)
        ### END SOLUTION

    def aggregate(self, server, updates):
        moves = updates.params - server.params  # [K, P]
        ### BEGIN SOLUTION
        server.state["h_clients"][updates.clients] -= self.mu * moves
        server.state["h"] = server.state["h"] - self.mu * moves.sum(0) / server.num_clients
        ### END SOLUTION
        return updates.params.mean(0) - server.state["h"] / self.mu


class Mine(fl.Algorithm):
    """FedAvg with one change of my own; Mine(0.0) is FedAvg."""

    def __init__(self, strength=0.5):
        self.strength = strength

    def setup(self, server):
        server.state["v"] = torch.zeros_like(server.params)  # a memory, if you need one

    def aggregate(self, server, updates):
        move = updates.weighted_mean() - server.params
        ### BEGIN SOLUTION
        move = move + self.strength * server.state["v"]
        server.state["v"] = move
        ### END SOLUTION
        return server.params + move


class Halves(MyFedDyn):
    """FedDyn with a switch for each half."""

    def __init__(self, mu, clients=True, server=True):
        super().__init__(mu)
        self.clients = clients  # whether gradients are corrected
        self.server = server  # whether −h/μ is added

    def correction(self, server, client):
        ### BEGIN SOLUTION
        if not self.clients:
            return fl.Correction()
        ### END SOLUTION
        return super().correction(server, client)

    def aggregate(self, server, updates):
        w = super().aggregate(server, updates)  # updates h_k and h
        ### BEGIN SOLUTION
        if not self.server:
            return updates.params.mean(0)
        ### END SOLUTION
        return w


def _expected(mu, clients=True, server=True):
    """The path of FedDyn with two clients that both take part, step by step."""
    w = START
    h = 0.0
    controls = np.zeros(2)
    points = []
    for _round in range(ROUNDS):
        y = np.full(2, w)
        for _step in range(5):
            y = y - LR * (A * (y - B) + clients * (mu * (y - w) - controls))
        controls = controls - mu * (y - w)
        h = h - mu * (y - w).mean()
        w = y.mean() - server * h / mu
        points.append(w)
    return points


def check_feddyn(answer):
    """Compare with the recursion, and with the library where one of two clients takes part."""
    clients = A.tolist(), B.tolist()
    first = _(
        "In round 1 h and all h_k are zero: a step has μ (y − w), and then h loses μ times "
        "the mean move."
    )
    both = _(
        "Both clients take part. The local step has −h_k + μ (y − w), and then h_k loses μ "
        "times its move."
    )
    alone = _("One of two clients takes part. h must stay the mean of all h_k: divide by N.")
    one_client = {"clients_per_round": 1}
    cases = [
        PathCase(_expected(1.0)[:1], first, [1.0], *clients),
        PathCase(_expected(1.0), both, [1.0], *clients),
        PathCase(
            path(fl.algorithms.FedDyn, [1.0], *clients, one_client),
            alone,
            [1.0],
            *clients,
            one_client,
        ),
    ]
    require_paths(answer, cases, known_formulas.FEDDYN)


def check_mine(answer):
    """Compare Mine(0.0) with FedAvg on unequal clients; Mine() must differ from it somewhere."""
    clients = A.tolist(), B.tolist()
    at_zero = _("`Mine(0.0)` must be FedAvg: without your change, nothing else may differ.")
    is_fedavg = True
    for work in ({}, {"sizes": [1, 3]}, {"sizes": [1, 3], "clients_per_round": 1}):
        expected = path(fl.FedAvg, [], *clients, work)
        require_path(answer, expected, at_zero, [0.0], *clients, work)
        is_fedavg &= bool(np.allclose(run_with(answer, path, [], *clients, work), expected))
    unchanged = _(
        "`Mine()` is still FedAvg. Change `move`, or another place, by an amount that grows with "
        "`self.strength`."
    )
    require(not is_fedavg, unchanged)


def check_halves(answer):
    """Compare each pair of switches with the recursion, and with one of two clients taking part."""
    clients = A.tolist(), B.tolist()
    both = _("With both halves it is FedDyn. It needs your `MyFedDyn` of exercise 8.1.")
    server = _(
        "Without the clients' half, the clients train as in FedAvg, and the server still adds "
        "−h/μ to the plain mean."
    )
    gradients = _(
        "Without the server's half, the server takes the plain mean, and the clients' h_k are "
        "still updated."
    )
    neither = _("Without both halves it is FedAvg with the plain mean.")
    for hint, switches in (
        (both, (True, True)),
        (server, (False, True)),
        (gradients, (True, False)),
        (neither, (False, False)),
    ):
        require_path(answer, _expected(1.0, *switches), hint, [1.0, *switches], *clients)
    one_client = {"clients_per_round": 1}
    alone = _("{hint} One of two clients takes part.")
    for hint, switches, right in (
        (both, (True, True), fl.algorithms.FedDyn(0.5)),
        (server, (False, True), FedDynServer()),
        (gradients, (True, False), FedDynClients(0.5)),
    ):
        expected = path(lambda rule=right: rule, [], *clients, one_client)
        words = alone.format(hint=hint)
        require_path(answer, expected, words, [0.5, *switches], *clients, one_client)


A = np.array([1.0, 3.0])
B = np.array([0.0, 1.0])

EXERCISES = (
    Exercise(
        id="08-feddyn",
        solution=MyFedDyn,
        check=check_feddyn,
        mistakes=(
            Mistake("offset=-h_k", "offset=h_k", "Both clients take part."),
            Mistake("weight=self.mu", "weight=0.0", "In round 1"),
            Mistake("/ server.num_clients", "/ len(updates.clients)", "divide by N"),
        ),
    ),
    Exercise(
        id="08-mine",
        solution=Mine,
        check=check_mine,
        is_open=True,
        mistakes=(
            Mistake("self.strength * server", "server", "`Mine(0.0)` must be FedAvg"),
            Mistake("self.strength * server", "0 * server", "`Mine()` is still FedAvg"),
            Mistake("return server.params + move", "return move", "`Mine(0.0)` must be FedAvg"),
        ),
    ),
    Exercise(
        id="08-halves",
        solution=Halves,
        check=check_halves,
        mistakes=(
            Mistake("if not self.clients", "if self.clients", "With both halves"),
            Mistake("if not self.server", "if self.server", "With both halves"),
            Mistake(
                "return fl.Correction()\n",
                "return fl.Correction(weight=self.mu, anchor=server.params)\n",
                "the clients train as in FedAvg",
            ),
            Mistake(
                "return updates.params.mean(0)",
                "return server.params",
                "the server takes the plain mean",
            ),
        ),
    ),
)
