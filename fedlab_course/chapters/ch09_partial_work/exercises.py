# mypy: allow-untyped-defs
"""Exercises of chapter 9: FedNova as a class, and where absent clients lead."""

import numpy as np

import fedlab_core as fl
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import LR, ROUNDS, START, require_path


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


_A, _B, _SIZES = np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([1, 4])


def check_class(answer):
    """Compare with the closed form for clients that make 2 and 8 steps, and then equally many."""
    rho, tau = _SIZES / _SIZES.sum(), 2.0 * _SIZES
    part, w, expected = 1 - (1 - LR * _A) ** tau, START, []
    for _ in range(ROUNDS):
        w = w + (rho @ tau) * (rho * part / tau) @ (_B - w)
        expected.append(w)
    given: tuple = [], _A.tolist(), _B.tolist(), {"sizes": _SIZES.tolist(), "batch_size": 1, "local_epochs": 2}
    require_path(answer, expected, "The clients have 1 and 4 samples and make 2 and 8 steps.", *given)
    part, w, expected = 1 - (1 - LR * _A) ** 5, START, []
    for _ in range(ROUNDS):
        w = w + (part * (_B - w)).mean()
        expected.append(w)
    require_path(answer, expected, "With equal steps it must be FedAvg.", [], _A.tolist(), _B.tolist())


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
            Case((_MEANS, np.array([0.5, 0.5, 0.5, 0.5])), 2.5, "All clients are present half of the time."),
            Case((_MEANS, np.array([1.0, 1.0, 1.0, 0.0])), 1, "The client with mean 7 is never present."),
            Case((_MEANS, np.array([1.0, 1.0, 1.0, 0.2])), 4.4 / 3.2, "The presences are 1, 1, 1 and 0.2."),
        ),
        mistakes=(
            Mistake(" / presence.sum()", "", "The weights of a mean must sum to 1."),
            Mistake("presence.sum()", "len(means)", "No client is preferred here. What is the sum of your weights?"),
            Mistake("presence @ means / presence.sum()", "means.mean()", "Your result is the same for all presences."),
        ),
    ),
)
