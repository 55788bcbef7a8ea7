# mypy: allow-untyped-defs
"""Exercises of chapter 9: FedNova as a class, and where absent clients lead."""

import numpy as np

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, by_parameter, require_path


class MyFedNova(fl.Algorithm):
    """FedNova: moves are divided by the number of local steps before the average."""

    def aggregate(self, server, updates):
        """The next parameters, from updates.params [K, P] and updates.num_steps [K]."""
        rho = (updates.num_samples / updates.num_samples.sum()).to(server.params)  # [K]
        steps = updates.num_steps.to(server.params)
        ### BEGIN SOLUTION
        moves = (updates.params - server.params) / steps[:, None]
        return server.params + (rho @ steps) * (rho @ moves)
        ### END SOLUTION


def absent_rest(means, presence):
    """Where FedAvg stops, from the clients' means e_k [N] and presences [N]."""
    ### BEGIN SOLUTION
    return presence @ means / presence.sum()
    ### END SOLUTION


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])
_SIZES = np.array([1, 4])


def _unequal(b):
    """The path of FedNova with clients that make 2 and 8 steps."""
    rho = _SIZES / _SIZES.sum()
    tau = 2.0 * _SIZES
    part = 1 - (1 - LR * _A) ** tau
    w = START
    points = []
    for _ in range(ROUNDS):
        w = w + (rho @ tau) * (rho * part / tau) @ (np.asarray(b) - w)
        points.append(w)
    return points


def _equal(b):
    """The path of FedAvg with two clients of one sample that make five steps."""
    part = 1 - (1 - LR * _A) ** 5
    w = START
    points = []
    for _ in range(ROUNDS):
        w = w + (part * (b - w)).mean()
        points.append(w)
    return points


def check_class(answer):
    """Compare with the closed form for clients that make 2 and 8 steps, for equally many, and for
    two parameters.
    """
    a = _A.tolist()
    b = _B.tolist()
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    work = {"sizes": _SIZES.tolist(), "batch_size": 1, "local_epochs": 2}
    hint = "The clients have 1 and 4 samples and make 2 and 8 steps."
    require_path(answer, _unequal(b), hint, [], a, b, work)
    require_path(answer, _equal(_B), "With equal steps it must be FedAvg.", [], a, b)
    hint = "Two parameters, 2 and 8 steps. Each parameter has its own mean of the moves."
    require_path(answer, by_parameter(_unequal, pairs), hint, [], a, pairs, work)


_MEANS = np.array([0.0, 1.0, 2.0, 7.0])

EXERCISES = (
    Exercise(
        id="09-fednova",
        solution=MyFedNova,
        check=check_class,
        mistakes=(
            Mistake(" / steps[:, None]", "", "2 and 8 steps"),
            Mistake("(rho @ steps) * ", "", "2 and 8 steps"),
            Mistake("(rho @ steps)", "steps.mean()", "2 and 8 steps"),
            Mistake("server.params + (rho", "(rho", "2 and 8 steps"),
        ),
    ),
    Exercise(
        id="09-absent",
        solution=absent_rest,
        cases=(
            Case(
                (_MEANS, np.array([0.5, 0.5, 0.5, 0.5])),
                2.5,
                "All clients are present half of the time.",
            ),
            Case(
                (_MEANS, np.array([1.0, 1.0, 1.0, 0.0])),
                1,
                "The client with mean 7 is never present.",
            ),
            Case(
                (_MEANS, np.array([1.0, 1.0, 1.0, 0.2])),
                4.4 / 3.2,
                "The presences are 1, 1, 1 and 0.2.",
            ),
            Case(
                (np.array([-1.0, 3.0]), np.array([0.6, 0.2])),
                0.0,
                "Two clients: the one with mean −1 is present three times as often.",
            ),
        ),
        mistakes=(
            Mistake(" / presence.sum()", "", "The weights of a mean must sum to 1."),
            Mistake(
                "presence.sum()",
                "len(means)",
                "No client is preferred here. What is the sum of your weights?",
            ),
            Mistake(
                "presence @ means / presence.sum()",
                "means.mean()",
                "Your result is the same for all presences.",
            ),
        ),
    ),
)
