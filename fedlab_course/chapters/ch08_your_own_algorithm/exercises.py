# mypy: allow-untyped-defs
"""Exercises of chapter 8: FedDyn as a class, and a rule for who trains."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, PathCase, path, require_paths


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


def longest_waiting(last_asked, available, clients_per_round):
    """The K available clients that have waited longest, an array; all if fewer are there.

    last_asked: the round in which each client was asked last, 0 for never [N].
    available: the numbers of the clients that are there.
    """
    ### BEGIN SOLUTION
    order = np.argsort(last_asked[available])
    return available[order[:clients_per_round]]
    ### END SOLUTION


def _expected(mu):
    """The path of FedDyn with two clients that both take part, step by step."""
    w, h, controls, found = START, 0.0, np.zeros(2), []
    for _ in range(ROUNDS):
        y = np.full(2, w)
        for _ in range(5):
            y = y - LR * (A * (y - B) - controls + mu * (y - w))
        controls = controls - mu * (y - w)
        h = h - mu * (y - w).mean()
        w = y.mean() - h / mu
        found.append(w)
    return found


def check_feddyn(answer):
    """Compare with the recursion, and with the library where one of two clients takes part."""
    clients = A.tolist(), B.tolist()
    first = "In round 1 h and all h_k are zero: a step has μ (y − w), and then h loses μ times the mean move."
    both = "Both clients take part. The local step has −h_k + μ (y − w), and then h_k loses μ times its move."
    alone = "One of two clients takes part. h must stay the mean of all h_k: divide by N."
    one = {"clients_per_round": 1}
    cases = [
        PathCase(_expected(1.0)[:1], first, [1.0], *clients),
        PathCase(_expected(1.0), both, [1.0], *clients),
        PathCase(path(fl.algorithms.FedDyn, [1.0], *clients, one), alone, [1.0], *clients, one),
    ]
    require_paths(answer, cases, known_formulas.FEDDYN)


A, B = np.array([1.0, 3.0]), np.array([0.0, 1.0])
_THERE = np.array([0, 3, 4, 5])

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
        id="08-waiting",
        solution=longest_waiting,
        cases=(
            Case((np.array([3, 1, 2, 5, 4]), np.arange(5), 2), {1, 2}, "All five were asked in rounds 3, 1, 2, 5, 4."),
            Case((np.array([3, 1, 2, 5, 4, 6]), _THERE, 2), {0, 4}, "Clients 0, 3, 4, 5, asked in rounds 3, 5, 4, 6."),
            Case((np.array([1, 0, 2, 0, 3]), np.array([0, 2, 3, 4]), 1), {3}, "Client 3 was never asked."),
            Case((np.array([1, 2, 3]), np.array([2]), 2), {2}, "Only client 2 is there, and two are to be asked."),
        ),
        mistakes=(
            Mistake("sort(last", "sort(-last", "You ask again those who were asked last. Which numbers are small?"),
            Mistake("available[order[:clients_per_round]]", "order[:clients_per_round]", "Places are not clients."),
            Mistake(
                "order = np.argsort(last_asked[available])\n    return available[order[:clients_per_round]]",
                "return np.argsort(last_asked)[:clients_per_round]",
                "You ask clients 1 and 2 while only 0, 3, 4 and 5 are there.",
            ),
        ),
    ),
)
