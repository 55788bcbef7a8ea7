# mypy: allow-untyped-defs
"""Exercises of chapter 8: the bytes of a round, what a budget buys, the dearer method, an interval for pairs."""

import numpy as np

from fedlab_course.check.base import Exercise, Hint, Mistake, Proof
from fedlab_course.check.tools import array, call, close, number, require, shown


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


def check_round_bytes(answer):
    def found(method, cohorts, num_parameters=1000):
        result = call(answer, method, cohorts, num_parameters)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise Hint("Return two numbers, the bytes down and the bytes up: `return down, up`.")
        return array(result, (2,), "the pair (down, up)")

    plain = found("FedAvg", [10])
    require(not close(plain, [10e3, 10e3]), "You count parameters. A parameter in float32 takes four bytes.")
    require(
        close(plain, [40e3, 40e3]),
        f"Ten clients of FedAvg and 1000 parameters: 40000 bytes down and 40000 up. Yours are {shown(plain)}.",
    )
    double = found("SCAFFOLD", [10]) / 40e3
    require(close(double, [2, 2]), f"SCAFFOLD sends w and c down, two changes up. Yours is {shown(double)} × FedAvg.")
    curv = found("FedCurv", [10]) / 40e3
    require(
        not close(curv, [2, 3]), "For FedCurv you have the directions the wrong way round: who needs u and v, and why?"
    )
    require(not close(curv, [3, 3]), "A FedCurv client sends y and I. From these the server forms v by itself.")
    require(
        close(curv, [3, 2]),
        f"A FedCurv client receives w, u and v, and sends y and I. Yours is {shown(curv)} × FedAvg.",
    )
    mas = found("FedMas", [1, 2, 1]) / 4e3
    require(
        not close(mas, [8, 4]),
        "Every tier has one more exchange, after its clients have trained: somebody measures Ω at the new model.",
    )
    require(
        not close(mas, [9, 5]),
        "You count one measurement of Ω in the round. There is one in each tier, and the tiers are `len(cohorts)`.",
    )
    require(
        close(mas, [11, 7]),
        "Three FedMas tiers with 1, 2 and 1 clients: each client receives w and Ω and sends y. In each tier one client "
        f"then receives the new w and sends Ω. That is 11 vectors down and 7 up; yours are {shown(mas)}.",
    )


def within_budget(spent, accuracy, budget):
    """The accuracy that a run had reached when its budget was spent, NaN if no round fits in.

    spent: the price so far after each round [T], rising. accuracy: after each round [T].
    """
    ### BEGIN SOLUTION
    affordable = accuracy[spent <= budget]
    return affordable[-1] if len(affordable) else np.nan
    ### END SOLUTION


def check_within_budget(answer):
    spent, accuracy = np.array([20.0, 40.0, 60.0, 80.0]), np.array([0.5, 0.8, 0.7, 0.9])

    def found(budget):
        return number(call(answer, spent, accuracy, budget))

    short = found(70.0)
    require(
        not close(short, 0.9),
        "With a budget of 70 the round that ends at 80 is not paid for. Your result counts it.",
    )
    require(
        not close(short, 0.8),
        "You take the best affordable round. Nobody knows in training which one that is: take the last.",
    )
    require(not close(short, 0.5), "You take the first affordable round. The budget buys more: take the last.")
    require(
        not close(short, 0.75),
        "You go between two rounds. A model exists only after a whole round: take the last affordable one.",
    )
    require(
        close(short, 0.7),
        f"With a budget of 70 a run has finished the rounds at 20, 40 and 60, and has 0.7. Yours is {shown(short)}.",
    )
    require(close(found(60.0), 0.7), "A budget of exactly 60 pays for the round that ends at 60. Yours leaves it out.")
    _check_too_small_a_budget(answer, spent, accuracy)


def _check_too_small_a_budget(answer, spent, accuracy):
    try:
        result = call(answer, spent, accuracy, 10.0)
    except IndexError:
        raise Hint(
            "A budget of 10 pays for no round at all, and an empty array has no last entry. Return `np.nan` then."
        ) from None
    require(
        not close(np.nan if result is None else result, accuracy[-1]),
        "A budget of 10 pays for no round at all, and you return the last accuracy of the run. Place −1 counts from "
        "the end.",
    )
    require(
        result is not None and np.ndim(result) == 0 and np.isnan(float(result)),
        f"A budget of 10 pays for no round at all: return `np.nan`, not {result}.",
    )


def paired_interval(first, second, t):
    """The ends (low, high) of the interval for the mean of first − second.

    first, second: one accuracy per seed [n], in the same order of seeds. t: Student's quantile.
    """
    ### BEGIN SOLUTION
    gap = first - second
    half = t * gap.std(ddof=1) / np.sqrt(len(gap))
    return gap.mean() - half, gap.mean() + half
    ### END SOLUTION


def check_paired_interval(answer):
    t = 4.303

    def found(gap):
        """The ends for these differences, on top of what the seed does to both algorithms."""
        seeds = np.array([0.60, 0.75, 0.90])
        result = call(answer, seeds + gap, seeds, t)
        if not isinstance(result, (tuple, list, np.ndarray)) or len(result) != 2:
            raise Hint("Return two numbers, the lower and the upper end: `return low, high`.")
        return array(result, (2,), "the pair (low, high)")

    low, high = found(np.full(3, 0.02))
    _check_equal_differences(low, high)
    gap = np.array([0.01, 0.02, 0.06])
    low, high = found(gap)
    _check_width(low, high, gap, t)


def _check_equal_differences(low, high):
    middle = (low + high) / 2
    require(
        not close(middle, -0.02),
        "The first is better by 0.02 under every seed, and the middle of your interval is −0.02: first − second.",
    )
    require(
        close(middle, 0.02),
        "The first is better by 0.02 under every seed: the middle of the interval must be 0.02. "
        f"Yours is {shown(middle)}.",
    )
    require(
        close(high - low, 0),
        "Under every seed the difference is the same 0.02, so the interval must have no width. Yours is "
        f"{shown(high - low)} wide: the seeds differ, and the differences do not. Subtract seed by seed first.",
    )


def _check_width(low, high, gap, t):
    half, sd = (high - low) / 2, gap.std(ddof=1)
    right = t * sd / np.sqrt(3)
    require(low <= high, "Your lower end is above the upper one.")
    require(not close(half, t * sd), "You use the spread of one difference. That of a mean over n seeds is √n smaller.")
    require(not close(half, sd / np.sqrt(3)), "You use one standard error on each side: multiply it by `t`.")
    require(
        not close(half, t * gap.std() / np.sqrt(3)),
        "Your standard deviation divides by n, which is too small for a sample: NumPy's `std` needs `ddof=1`.",
    )
    require(
        not close(half, t * sd / 3), "You divide the standard deviation by n: of a mean of n it is √n times smaller."
    )
    require(
        close([low, high], [gap.mean() - right, gap.mean() + right]),
        f"For the differences 0.01, 0.02 and 0.06 half the width must be t·σ/√n = {shown(right)}. "
        f"Yours is {shown(half)}.",
    )


EXERCISES = (
    Exercise(
        id="08-bytes",
        title="The bytes of a round",
        task=r"""Write how many bytes a round sends, down and up, for "FedAvg", "SCAFFOLD", "FedCurv" and "FedMas". A
parameter takes four bytes. `cohorts` holds the number of clients of each server update: `[10]` for a round of
FedAvg, and `[1, 2, 1]` for a round of FedMas with three tiers. We ask for a later round, in which all penalties are
there. The table above says who sends what. Do not forget who measures $\Omega$. How does the price of a round of
FedMas compare with FedAvg's if every tier asks one client?""",
        missing="the bytes down and the bytes up",
        solution=round_bytes,
        check=check_round_bytes,
        points=2,
        discussion=r"""A tier that asks one client sends $2 + 1$ vectors down and $1 + 1$ up: five, where a client of
FedAvg costs two. A FedMas round with $T$ such tiers costs as much as $2.5\, T$ clients of FedAvg. The exchange for
$\Omega$ is paid per tier, so it weighs less where a tier asks many clients.""",
        mistakes=(
            Mistake("4 * num_parameters", "num_parameters", "You count parameters"),
            Mistake('"FedAvg": 1', '"FedAvg": 2', "Ten clients of FedAvg"),
            Mistake('"SCAFFOLD": 2', '"SCAFFOLD": 1', "two changes up"),
            Mistake('"FedCurv": 2', '"FedCurv": 3', "forms v by itself"),
            Mistake('"FedCurv": 3', '"FedCurv": 1', "receives w, u and v"),
            Mistake("down + len(cohorts), up + len(cohorts)", "down, up", "one more exchange"),
            Mistake("down + len(cohorts), up + len(cohorts)", "down + 1, up + 1", "one in each tier"),
            Mistake("sum(cohorts)", "len(cohorts)", "Ten clients of FedAvg"),
            Mistake("return 4 * num_parameters * down, ", "return ", "Return two numbers"),
        ),
    ),
    Exercise(
        id="08-budget",
        title="What a budget buys",
        task=r"""A run has spent `spent[t]` after round $t$, in whatever unit, and then has `accuracy[t]`. Write the
accuracy that counts when it may spend `budget`. Accuracies go up and down, so say which round you take, and why.
If not even the first round fits in, there is nothing to show: return `np.nan`.""",
        missing="one accuracy",
        solution=within_budget,
        check=check_within_budget,
        discussion=r"""We take the *last* round that is paid for. The best one would flatter every curve that goes up
and down, for nobody knows in training that it was the best. A point between two rounds belongs to no model.""",
        mistakes=(
            Mistake("affordable[-1]", "accuracy[-1]", "is not paid for"),
            Mistake("affordable[-1] if", "affordable.max() if", "the best affordable round"),
            Mistake(" if len(affordable) else np.nan", "", "has no last entry"),
            Mistake(
                "affordable[-1] if len(affordable) else np.nan",
                'accuracy[np.searchsorted(spent, budget, side="right") - 1]',
                "counts from the end",
            ),
            Mistake("else np.nan", "else 0.0", "not 0.0"),
            Mistake("else np.nan", "else None", "not None"),
            Mistake("affordable[-1]", "affordable[0]", "the first affordable round"),
            Mistake("<=", "<", "exactly 60"),
            Mistake("affordable[-1]", "affordable.mean()", "has finished the rounds"),
        ),
    ),
    Proof(
        id="08-dearer",
        title="The dearer method",
        task=r"""A method pays $\kappa$ times as much per round as FedAvg, with a whole number $\kappa > 1$. After
$t$ rounds it has the accuracy $f(t)$ and FedAvg $g(t)$, and neither ever falls. Show: if the method is ahead of
FedAvg at equal price, whenever both have just finished a round, then it is ahead at equal rounds too, from round
$\kappa$ on in every $\kappa$-th round. Show that the reverse is false. Which of the two axes is thus the harder one
for a method that sends more?""",
        solution=r"""After $t$ of its rounds the method has paid what FedAvg pays for $\kappa t$. To be ahead at
this price means $f(t) > g(\kappa t)$. Take the round $\kappa t \ge t$ for both. Since $f$ does not fall,
$f(\kappa t) \ge f(t) > g(\kappa t)$: it is ahead at equal rounds as well.

The reverse is false. Let $\kappa = 2$, $f(t) = 1 - 0.9^{\,t}$ and $g(t) = 1 - 0.92^{\,t}$. At equal rounds $f$ is
ahead, for $0.9 < 0.92$. At equal price $f(t) = 1 - 0.9^{\,t}$ stands against $g(2t) = 1 - 0.8464^{\,t}$, and it is
behind.

So for a method that sends more, equal bytes are the harder axis: a lead there carries over to rounds, and a lead by
rounds need not carry over to bytes. In the sources' figures the axis counts rounds. Real accuracies do fall now and
then, and so we measure both.""",
    ),
    Exercise(
        id="08-paired",
        title="An interval for paired runs",
        task=r"""Write the interval $\bar g \pm t\, \sigma / \sqrt{n}$ for the mean difference of two algorithms
that ran with the same $n$ seeds: $\bar g$ and $\sigma$ are the mean and the standard deviation of the $n$
differences. Before you run the check: how wide is the interval if one algorithm is ahead by exactly 0.02 under
every seed?""",
        missing="the two ends of the interval",
        solution=paired_interval,
        check=check_paired_interval,
        points=2,
        discussion=r"""It has no width: all $n$ differences are 0.02, so $\sigma = 0$, however far the seeds lie
apart. What a seed does to both algorithms alike cancels in the difference. Two separate intervals would know
nothing of that.""",
        mistakes=(
            Mistake("first - second", "second - first", "first − second"),
            Mistake("gap.std(ddof=1)", "np.sqrt(first.var(ddof=1) + second.var(ddof=1))", "Subtract seed by seed"),
            Mistake(" / np.sqrt(len(gap))", "", "√n smaller"),
            Mistake("np.sqrt(len(gap))", "len(gap)", "√n times smaller"),
            Mistake("std(ddof=1)", "std()", "needs `ddof=1`"),
            Mistake("t * gap.std", "gap.std", "multiply it by `t`"),
            Mistake("return gap.mean() - half, gap.mean() + half", "return gap.mean()", "Return two numbers"),
            Mistake("gap.mean() - half, gap.mean() + half", "gap.mean() + half, gap.mean() - half", "above the upper"),
            Mistake("gap.mean() - half, gap.mean() + half", "-half, half", "the middle of the interval"),
        ),
    ),
)
