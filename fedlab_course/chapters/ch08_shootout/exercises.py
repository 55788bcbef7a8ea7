# mypy: allow-untyped-defs
"""Exercises of chapter 8: the bytes of a round, what a budget buys, an interval for pairs."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def round_bytes(method, cohorts, num_parameters):
    """Bytes sent down and up in one later round: (down, up).

    cohorts: how many clients train, one number for each server update of the round.
    """
    ### BEGIN SOLUTION
    down = {"FedAvg": 1, "SCAFFOLD": 2, "FedCurv": 3, "FedMas": 2}[method] * sum(cohorts)
    up = {"FedAvg": 1, "SCAFFOLD": 2, "FedCurv": 2, "FedMas": 1}[method] * sum(cohorts)
    if method == "FedMas":  # in each tier one client gets the new w and sends Ω
        down, up = down + len(cohorts), up + len(cohorts)
    return 4 * num_parameters * down, 4 * num_parameters * up
    ### END SOLUTION


def within_budget(spent, accuracy, budget):
    """The accuracy that a run had reached when its budget was spent, NaN if no round fits in.

    spent: the price so far after each round [T], rising. accuracy: after each round [T].
    """
    ### BEGIN SOLUTION
    affordable = accuracy[spent <= budget]
    return affordable[-1] if len(affordable) else np.nan
    ### END SOLUTION


def paired_interval(first, second, t):
    """The ends (low, high) of the interval for the mean of first − second.

    first, second: one accuracy per seed [n], in the same order of seeds. t: Student's quantile.
    """
    ### BEGIN SOLUTION
    gap = first - second
    half = t * gap.std(ddof=1) / np.sqrt(len(gap))
    return gap.mean() - half, gap.mean() + half
    ### END SOLUTION


SPENT, ACCURACY = np.array([20.0, 40.0, 60.0, 80.0]), np.array([0.5, 0.8, 0.7, 0.9])
SEEDS, T = np.array([0.60, 0.75, 0.90]), 4.303
HALF = T * np.sqrt(0.0007 / 3)  # the differences 0.01, 0.02 and 0.06 have the variance 0.0007
GAPS = np.array([0.01, 0.02, 0.06])

EXERCISES = (
    Exercise(
        id="08-bytes",
        solution=round_bytes,
        cases=(
            Case(("FedAvg", [10], 1000), (40_000, 40_000), "Ten clients, and 1000 parameters of four bytes."),
            Case(("SCAFFOLD", [10], 1000), (80_000, 80_000), "SCAFFOLD sends w and c down, and two changes up."),
            Case(("FedCurv", [10], 1000), (120_000, 80_000), "A client receives w, u and v, and sends y and I."),
            Case(("FedMas", [1, 2, 1], 1000), (44_000, 28_000), "A client gets w, Ω and sends y. A tier adds w and Ω."),
        ),
        mistakes=(
            Mistake("4 * num_parameters", "num_parameters", "You count parameters. How many bytes does each one take?"),
            Mistake("sum(cohorts)", "len(cohorts)", "You count server updates. How many clients train in each?"),
            Mistake('"FedCurv": 2', '"FedCurv": 3', "A client sends y and I. The server forms v from them."),
            Mistake("down + len(cohorts), up + len(cohorts)", "down, up", "Who measures Ω, and at which model?"),
            Mistake("down + len(cohorts), up + len(cohorts)", "down + 1, up + 1", "Each tier measures Ω once."),
        ),
    ),
    Exercise(
        id="08-budget",
        solution=within_budget,
        cases=(
            Case((SPENT, ACCURACY, 70.0), 0.7, "With a budget of 70 a run has finished the rounds at 20, 40 and 60."),
            Case((SPENT, ACCURACY, 60.0), 0.7, "A budget of exactly 60 pays for the round that ends at 60."),
            Case((SPENT, ACCURACY, 10.0), float("nan"), "A budget of 10 pays for no round at all: return `np.nan`."),
        ),
        mistakes=(
            Mistake("affordable[-1]", "accuracy[-1]", "A budget of 70 does not pay for the round that ends at 80."),
            Mistake("affordable[-1] if", "affordable.max() if", "While it trains nobody knows which round is best."),
            Mistake("<=", "<", "A budget of exactly 60 pays for the round that ends at 60. You leave it out."),
            Mistake(" if len(affordable) else np.nan", "", "An empty array has no last entry: return `np.nan` then."),
        ),
    ),
    Exercise(
        id="08-paired",
        solution=paired_interval,
        cases=(
            Case((SEEDS + 0.02, SEEDS, T), (0.02, 0.02), "Better by 0.02 under every seed: the interval has no width."),
            Case((SEEDS + GAPS, SEEDS, T), (0.03 - HALF, 0.03 + HALF), "The mean is 0.03. Half the width is t·σ/√n."),
        ),
        mistakes=(
            Mistake("first - second", "second - first", "The first is better, and the middle of yours is −0.02."),
            Mistake(
                "gap.std(ddof=1)",
                "np.sqrt(first.var(ddof=1) + second.var(ddof=1))",
                "The seeds differ, and the differences do not: subtract seed by seed first.",
            ),
            Mistake(" / np.sqrt(len(gap))", "", "That is the spread of one difference. A mean has √n times less."),
            Mistake("np.sqrt(len(gap))", "len(gap)", "You divide by n. The spread of a mean is √n times smaller."),
            Mistake("std(ddof=1)", "std()", "You divide by n, too small for a sample: which argument changes it?"),
            Mistake("t * gap.std", "gap.std", "You use one standard error on each side. What is `t` for?"),
        ),
    ),
)
