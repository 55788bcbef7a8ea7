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

EXERCISES = (
    Exercise(
        id="08-bytes",
        solution=round_bytes,
        cases=(
            Case(("FedAvg", [10], 1000), (40_000, 40_000), "Ten clients of FedAvg, and 1000 parameters of four bytes."),
            Case(("SCAFFOLD", [10], 1000), (80_000, 80_000), "SCAFFOLD sends w and c down, and two changes up."),
            Case(
                ("FedCurv", [10], 1000),
                (120_000, 80_000),
                "A FedCurv client receives w, u and v, and sends y and I.",
            ),
            Case(
                ("FedMas", [1, 2, 1], 1000),
                (44_000, 28_000),
                "Three FedMas tiers with 1, 2 and 1 clients: each client receives w and Ω and sends y. In each tier "
                "one client then receives the new w and sends Ω.",
            ),
        ),
        mistakes=(
            Mistake(
                "4 * num_parameters",
                "num_parameters",
                "You count parameters. How many bytes does a parameter in float32 take?",
            ),
            Mistake(
                "sum(cohorts)",
                "len(cohorts)",
                "You count the server updates of the round. How many clients train in each of them?",
            ),
            Mistake(
                '"FedCurv": 3, "FedMas": 2}[method] * sum(cohorts)\n    up = {"FedAvg": 1, "SCAFFOLD": 2, "FedCurv": 2',
                '"FedCurv": 2, "FedMas": 2}[method] * sum(cohorts)\n    up = {"FedAvg": 1, "SCAFFOLD": 2, "FedCurv": 3',
                "For FedCurv you have the directions the wrong way round: who needs u and v, and why?",
            ),
            Mistake(
                '"FedCurv": 2',
                '"FedCurv": 3',
                "A FedCurv client sends y and I. The server forms v from them by itself.",
            ),
            Mistake(
                "down + len(cohorts), up + len(cohorts)",
                "down, up",
                "Every tier of FedMas has one more exchange, after its clients have trained: a client measures Ω at "
                "the new model.",
            ),
            Mistake(
                "down + len(cohorts), up + len(cohorts)",
                "down + 1, up + 1",
                "You count one measurement of Ω in the round. FedMas has one in each tier, and the tiers are "
                "`len(cohorts)`.",
            ),
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
            Mistake(
                "affordable[-1]",
                "accuracy[-1]",
                "A budget of 70 does not pay for the round that ends at 80. Your result counts it.",
            ),
            Mistake(
                "affordable[-1] if",
                "affordable.max() if",
                "You take the best affordable round. During training nobody knows which round will be the best. Which "
                "round is known to be paid for?",
            ),
            Mistake("affordable[-1]", "affordable[0]", "You take the first affordable round. The budget buys more."),
            Mistake(
                "return affordable[-1] if len(affordable) else np.nan",
                "return np.interp(budget, spent, accuracy)",
                "You interpolate between two rounds. A model exists only after a whole round.",
            ),
            Mistake("<=", "<", "A budget of exactly 60 pays for the round that ends at 60. Your result leaves it out."),
            Mistake(
                " if len(affordable) else np.nan",
                "",
                "A budget of 10 pays for no round at all, and an empty array has no last entry. Return `np.nan` then.",
            ),
            Mistake(
                "affordable[-1] if len(affordable) else np.nan",
                'accuracy[np.searchsorted(spent, budget, side="right") - 1]',
                "A budget of 10 pays for no round at all, and you return the last accuracy of the run. Place −1 "
                "counts from the end.",
            ),
        ),
    ),
    Exercise(
        id="08-paired",
        solution=paired_interval,
        cases=(
            Case(
                (SEEDS + 0.02, SEEDS, T),
                (0.02, 0.02),
                "The first is better by 0.02 under every seed. So the middle of the interval is 0.02, and the "
                "interval has no width.",
            ),
            Case(
                (SEEDS + np.array([0.01, 0.02, 0.06]), SEEDS, T),
                (0.03 - HALF, 0.03 + HALF),
                "The differences 0.01, 0.02 and 0.06 have the mean 0.03, and half the width is t·σ/√n.",
            ),
        ),
        mistakes=(
            Mistake(
                "first - second",
                "second - first",
                "The first is better by 0.02 under every seed, and the middle of your interval is −0.02. Which one is "
                "subtracted from which?",
            ),
            Mistake(
                "gap.std(ddof=1)",
                "np.sqrt(first.var(ddof=1) + second.var(ddof=1))",
                "Under every seed the difference is the same 0.02, so the interval has no width. Yours has one: the "
                "seeds differ, and the differences do not. Subtract seed by seed first.",
            ),
            Mistake(
                " / np.sqrt(len(gap))",
                "",
                "You use the standard deviation of one difference. That of a mean over n seeds is √n times smaller.",
            ),
            Mistake(
                "np.sqrt(len(gap))",
                "len(gap)",
                "You divide the standard deviation by n. That of a mean over n seeds is √n times smaller.",
            ),
            Mistake(
                "std(ddof=1)",
                "std()",
                "Your standard deviation divides by n, which is too small for a sample. Which argument of NumPy's "
                "`std` changes the divisor?",
            ),
            Mistake("t * gap.std", "gap.std", "You use one standard error on each side. What is `t` for?"),
            Mistake(
                "gap.mean() - half, gap.mean() + half",
                "gap.mean() + half, gap.mean() - half",
                "Your lower end is above the upper one.",
            ),
        ),
    ),
)
