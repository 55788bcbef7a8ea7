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
            Case((0.9, 1), 0.0, "With one epoch a straggler does 1 … 1 epochs: it finishes, and nothing is lost."),
            Case((1.0, 2), 1 / 3, "With stragglers only, half do one epoch of two, which is lost, and half do two."),
            Case((0.5, 2), 1 / 7, "With half of the clients stragglers, a quarter does one epoch and the others two."),
            Case((0.9, 5), 0.5625, "Your function is right for two epochs, and not for five."),
        ),
        mistakes=(
            Mistake("(chance * epochs)", "chance", "Count epochs, not clients: those dropped did one, the others two."),
            Mistake("+= 1 - share", "= 1 - share", "With stragglers only you lose everything. May one do all epochs?"),
            Mistake(" / (chance * epochs).sum()", " / num_epochs", "How many epochs are done in all? Divide by them."),
        ),
    ),
    Exercise(
        id="11-fednova",
        solution=fednova,
        cases=(
            Case((W, np.array([W, W]), SAMPLES, STEPS), W, "If no client moves, the model must stay."),
            Case((W, LOCAL, EVEN, EVEN), np.array([1.0, 2.0]), "With equal samples and steps it is the plain mean."),
            Case((W, LOCAL, SAMPLES, EVEN), np.array([1.5, 2.5]), "With equal steps FedNova is FedAvg."),
            Case((W, LOCAL, EVEN, STEPS), np.array([-0.2, 2.4]), "The clients made 10 and 2 steps: ten count a tenth."),
            Case((W, LOCAL, SAMPLES, STEPS), np.array([0.6, 2.8]), "The clients have 30 and 10 samples."),
        ),
        mistakes=(
            Mistake("(rho @ num_steps) * ", "", "Your step is too short. By what is the mean of the moves multiplied?"),
            Mistake("/ num_samples.sum()", "**0 / len(local)", "With equal steps clients count by samples."),
            Mistake("/ num_steps[:, None]", "/ (rho @ num_steps)", "This is FedAvg. What is done with each move?"),
            Mistake("rho @ num_steps", "num_steps.mean()", "Right for equal samples only: τ_eff is a weighted mean."),
            Mistake("return w + ", "return ", "If no client moves, the model must stay. Yours goes to {found}."),
        ),
    ),
)
