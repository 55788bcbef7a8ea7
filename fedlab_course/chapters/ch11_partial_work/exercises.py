# mypy: allow-untyped-defs
"""Exercises of chapter 11: what dropping throws away, and the average of FedNova."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def work_lost(share, num_epochs):
    """The part of all epochs that is thrown away if stragglers' unfinished work is dropped.

    A client is a straggler with probability share, and a straggler does 1 ... num_epochs epochs,
    each number with the same probability. Who does all of them has finished.
    """
    ### BEGIN SOLUTION
    epochs = np.arange(1, num_epochs + 1)
    chance = np.full(num_epochs, share / num_epochs)
    chance[-1] += 1 - share
    return (chance * epochs)[:-1].sum() / (chance * epochs).sum()
    ### END SOLUTION


def fednova(w, local, num_samples, num_steps):
    """The new global parameters [P], from w [P] and the clients' local [K, P].

    num_samples and num_steps are arrays with one entry per client.
    """
    ### BEGIN SOLUTION
    rho = num_samples / num_samples.sum()
    moves = (local - w) / num_steps[:, None]
    return w + (rho @ num_steps) * (rho @ moves)
    ### END SOLUTION


W, LOCAL = np.array([1.0, 0.0]), np.array([[2.0, 3.0], [0.0, 1.0]])
EVEN, SAMPLES, STEPS = np.array([5, 5]), np.array([30, 10]), np.array([10, 2])

EXERCISES = (
    Exercise(
        id="11-work-lost",
        solution=work_lost,
        cases=(
            Case((0.0, 5), 0.0, "Without stragglers nothing is lost."),
            Case(
                (0.9, 1),
                0.0,
                "With one epoch a straggler does 1 … 1 epochs: it finishes, and nothing is lost. Which clients do not "
                "finish?",
            ),
            Case(
                (1.0, 2),
                1 / 3,
                "With two epochs and stragglers only, half of the clients do one epoch, which is lost, and half do "
                "two.",
            ),
            Case(
                (0.5, 2),
                1 / 7,
                "With two epochs and half of the clients stragglers, a quarter does one epoch and the others two. A "
                "client that is no straggler does all epochs.",
            ),
            Case((0.9, 5), 0.5625, "Your function is right for two epochs, and not for five."),
        ),
        mistakes=(
            Mistake(
                "(chance * epochs)[:-1].sum() / (chance * epochs).sum()",
                "chance[:-1].sum()",
                "With two epochs and stragglers only, half of the clients are dropped. They did one epoch each, and "
                "the others did two. Count epochs, not clients.",
            ),
            Mistake(
                "chance[-1] += 1 - share",
                "chance[-1] = 1 - share",
                "With two epochs and stragglers only, you lose everything. A straggler may also do all epochs.",
            ),
            Mistake(
                " / (chance * epochs).sum()",
                " / num_epochs",
                "With two epochs and stragglers only, one client does one epoch for each client that does two. How "
                "many epochs are done in all? Divide by them.",
            ),
        ),
    ),
    Exercise(
        id="11-fednova",
        solution=fednova,
        cases=(
            Case((W, np.array([W, W]), SAMPLES, STEPS), W, "If no client moves, the model must stay."),
            Case(
                (W, LOCAL, EVEN, EVEN), np.array([1.0, 2.0]), "With equal samples and steps FedNova is the plain mean."
            ),
            Case(
                (W, LOCAL, SAMPLES, EVEN),
                np.array([1.5, 2.5]),
                "With equal steps FedNova is FedAvg: the mean of the local models, weighted by their samples.",
            ),
            Case(
                (W, LOCAL, EVEN, STEPS),
                np.array([-0.2, 2.4]),
                "The clients made 10 and 2 steps. A client that made ten steps counts one tenth of its move.",
            ),
            Case(
                (W, LOCAL, SAMPLES, STEPS),
                np.array([0.6, 2.8]),
                "Your function is right for equal samples, and not for unequal ones.",
            ),
        ),
        mistakes=(
            Mistake(
                "(rho @ num_steps) * (rho @ moves)",
                "rho @ moves",
                "With equal samples and equal steps FedNova is FedAvg, and your step is too short. After the division "
                "by τ_k the mean move must be multiplied by something. By what?",
            ),
            Mistake(
                "num_samples / num_samples.sum()",
                "np.ones(len(local)) / len(local)",
                "With equal steps FedNova is FedAvg, where a client counts by its samples. Your clients all count "
                "alike.",
            ),
            Mistake(
                "(rho @ num_steps) * (rho @ moves)",
                "rho @ (local - w)",
                "This is FedAvg: the steps τ_k change nothing in your result. What is done with each move first?",
            ),
            Mistake(
                "rho @ num_steps",
                "num_steps.mean()",
                "Your function is right for equal samples, and not for unequal ones: how are the τ_k weighted in "
                "τ_eff?",
            ),
            Mistake(
                "return w + ",
                "return ",
                "If no client moves, the model must stay at {expected}. Yours goes to {found}.",
            ),
        ),
    ),
)
