# mypy: allow-untyped-defs
"""Exercises of chapter 9: two examinations, and means taken in the right order."""

import numpy as np

from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.chapters.ch09_bug_clinic.bench import draw, end, same
from fedlab_course.check.base import Case, Exercise, Mistake


def cut(patient, seed):
    """True if nothing changes when a client is cut in three; None for SCAFFOLD."""
    ### BEGIN SOLUTION
    if patient.method == "SCAFFOLD":
        return None
    a, b = draw(seed, 2)
    pieces = [0, 1, 1, 1]
    return same(end(patient, a, b, sizes=[1, 3]), end(patient, a[pieces], b[pieces]))
    ### END SOLUTION


def clones(patient, seed):
    """True if two of six equal clients do in a round what one of them does alone."""
    ### BEGIN SOLUTION
    a, b = draw(seed, 1)
    crowd = end(patient, a.repeat(6), b.repeat(6), rounds=1, clients_per_round=2)
    return same(crowd, end(patient, a, b, rounds=1))
    ### END SOLUTION


def fisher_diagonal(x, residual):
    """The Fisher diagonal [P] from samples x [n, P] and residuals [n]."""
    ### BEGIN SOLUTION
    gradients = residual[:, None] * x
    return (gradients**2).mean(axis=0)
    ### END SOLUTION


WELL, SICK = clinic.HEALTHY, clinic.PATIENTS
TWINS = (np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.0, -1.0]))
THREE = (np.array([[1.0, 2.0], [3.0, 0.5], [1.0, -1.0]]), np.array([1.0, -1.0, 2.0]))

EXERCISES = (
    Exercise(
        id="09-cut",
        solution=cut,
        cases=(
            Case((WELL["FedAvg"], 0), True, "The healthy FedAvg fails. Have the pieces the a and b of their client?"),
            Case((WELL["SCAFFOLD"], 0), None, "SCAFFOLD weighs all clients alike. Does the question apply?"),
            Case((SICK[5], 0), True, "Patient 5 keeps only the last client, the same in both runs: it passes."),
            Case((SICK[1], 0), False, "Patient 1 takes the plain mean, and passes. Do your clients differ in size?"),
        ),
        mistakes=(
            Mistake("[0, 1, 1, 1]", "[0, 1]", "Patient 1 passes. Have the pieces all the samples of their client?"),
            Mistake("return same(", "return not same(", "The healthy fail, and so does Patient 5: when is it True?"),
            Mistake("return same", "same", "FedAvg gets None, but the question applies to it. Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="09-clones",
        solution=clones,
        cases=(
            Case((WELL["FedAvg"], 0), True, "The healthy FedAvg fails. Are all six like the one who works alone?"),
            Case((WELL["SCAFFOLD"], 0), True, "The healthy FedAvg passes, and the healthy SCAFFOLD fails."),
            Case((SICK[7], 0), False, "Patient 7 multiplies its step by N / K, and passes."),
        ),
        mistakes=(
            Mistake("rounds=1", "rounds=3", "From round 2 on the crowd is another problem: not all have renewed c_k."),
            Mistake(", clients_per_round=2", "", "Patient 7 passes. How many of your six clients take part?"),
            Mistake("return same", "same", "Return True or False, and None for nobody. Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="09-fisher",
        solution=fisher_diagonal,
        cases=(
            Case(TWINS, np.array([1.0, 4.0]), "Two samples have the gradients (1, 2) and (−1, −2)."),
            Case(THREE, np.array([14 / 3, 2.75]), "Three samples have the gradients (1, 2), (−3, −0.5) and (2, −2)."),
        ),
        mistakes=(
            Mistake("(gradients**2).mean(axis=0)", "gradients.mean(axis=0) ** 2", "What comes first, mean or square?"),
            Mistake("(gradients**2)", "np.abs(gradients)", "That is the mean of absolute values, as MAS takes it."),
            Mistake(".mean(axis=0)", ".sum(axis=0)", "That is the sum: ten times the data make it ten times larger."),
            Mistake("(gradients**2).mean(axis=0)", "gradients[-1] ** 2", "You square the last gradient alone."),
        ),
    ),
)
