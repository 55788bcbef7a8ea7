# mypy: allow-untyped-defs
"""Exercises of chapter 10: an algorithm with a state of its own, and a rule for who trains."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch09_bug_clinic.bench import START
from fedlab_course.chapters.ch10_your_own_algorithm.bench import ROUNDS, SIZES, STEPS, A, B, run
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.tools import array, beside, close, require, shown


class FedAvgM(fl.Algorithm):
    """FedAvg with momentum at the server."""

    def __init__(self, beta):
        self.beta = beta

    def setup(self, server):
        """Before round 1."""
        ### BEGIN SOLUTION
        server.state["velocity"] = torch.zeros_like(server.params)
        ### END SOLUTION

    def aggregate(self, server, updates):
        """The next global parameters."""
        ### BEGIN SOLUTION
        move = updates.weighted_mean() - server.params
        velocity = self.beta * server.state["velocity"] + move
        server.state["velocity"] = velocity
        return server.params + velocity
        ### END SOLUTION


def longest_waiting(last_asked, available, clients_per_round):
    """The K available clients that have waited longest, an array; all if fewer are there.

    last_asked: the round in which each client was asked last, 0 for never [N].
    available: the numbers of the clients that are there.
    """
    ### BEGIN SOLUTION
    order = np.argsort(last_asked[available])
    return available[order[:clients_per_round]]
    ### END SOLUTION


def _expected(beta, weights):
    """Return w after each round: a local run shrinks the distance of client k to b_k by (1 − η a_k)^5."""
    w, velocity, path = START, 0.0, []
    for _ in range(ROUNDS):
        local = B + (1 - 0.1 * A) ** STEPS * (w - B)
        velocity = beta * velocity + weights @ local - w
        w += velocity
        path.append(w)
    return np.array(path)


def check_fedavgm(answer):
    """Compare with usual mistakes first, then with the numbers, then look for the state and resume the run."""

    def found(beta, resume=False):
        path, kept = beside(answer, run, beta, resume)
        return array(path, (ROUNDS,)), kept

    shares = SIZES / SIZES.sum()
    plain, full, (path, _) = _expected(0.0, shares), _expected(0.5, shares), found(0.0)
    require(not close(path, _expected(0.0, np.full(2, 0.5))), "With β = 0 yours is a plain mean: weigh by samples.")
    require(
        not close(path[0], 2 * START - plain[0]), "With β = 0 you step in the wrong direction: the move is mean − w."
    )
    require(not close(path[0], plain[0] - START), "You return the step, not the new parameters: add `server.params`.")
    require(close(path, plain), f"With β = 0 it must be FedAvg, w = {shown(plain)}. Yours is {shown(path)}.")
    path, kept = found(0.5)
    require(
        close(path[0], plain[0]),
        f"In round 1 the velocity is zero, so for any β the step must be FedAvg's, to {shown(plain[0])}. Yours goes to "
        f"{shown(path[0])}. With which factor does the move count?",
    )
    require(not close(path, plain), "With β = 0.5 yours is FedAvg: keep the velocity from one round to the next.")
    require(
        close(path, full),
        f"With β = 0.5 w goes to {shown(full)}, and yours to {shown(path)}: β times the *old velocity*, plus the move.",
    )
    require(kept, "`server.state` is empty. What you keep elsewhere is lost when a run is resumed.")
    again = found(0.5, True)[0][1:]
    require(
        close(again, full[1:]),
        "The numbers are right in one go. Left after round 1 and resumed by a new instance, your run goes to "
        f"{shown(again)} instead of {shown(full[1:])}: a checkpoint holds `server.state` alone.",
    )


_THERE = np.array([0, 3, 4, 5])

EXERCISES = (
    Exercise(
        id="10-momentum",
        solution=FedAvgM,
        check=check_fedavgm,
        mistakes=(
            Mistake("updates.weighted_mean()", "updates.params.mean(0)", "plain mean"),
            Mistake('["velocity"] + move', '["velocity"] - move', "wrong direction"),
            Mistake("return server.params + velocity", "return velocity", "not the new parameters"),
            Mistake('["velocity"] + move', '["velocity"] + (1 - self.beta) * move', "With which factor"),
            Mistake('        server.state["velocity"] = velocity\n', "", "from one round to the next"),
            Mistake('server.state["velocity"] = velocity', 'server.state["velocity"] = move', "old velocity"),
            Mistake('server.state["velocity"]', "self.velocity", "keep state in server.state"),
        ),
    ),
    Exercise(
        id="10-waiting",
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
