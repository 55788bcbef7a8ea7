# mypy: allow-untyped-defs
"""Exercise of chapter 15: which verdicts stand among all."""

import numpy as np

from fedlab_course.check.base import Exercise, Hint, Mistake
from fedlab_course.check.tools import call, require


def stands(p, level):
    """Which verdicts stand among all: True or False for each of the p-values p."""
    ### BEGIN SOLUTION
    found, going_on = [False] * len(p), True
    for rank, place in enumerate(np.argsort(p)):
        going_on = going_on and p[place] <= level / (len(p) - rank)
        found[place] = bool(going_on)
    return found
    ### END SOLUTION


def check_stands(answer):
    def found(p, level=0.06):
        result = call(answer, np.array(p), level)
        if hasattr(result, "tolist"):  # an array or a tensor
            result = result.tolist()
        if not isinstance(result, (list, tuple)) or len(result) != len(p):
            raise Hint(f"Return a list with a truth value for each of the {len(p)} p-values. Yours is {result!r}.")
        require(all(isinstance(one, (bool, np.bool_)) for one in result), f"Return truth values: yours are {result!r}.")
        return [bool(one) for one in result]

    require(found([0.05]) == [True], "A single p-value of 0.05 stands at a level of 0.06: there is nothing to correct.")
    require(
        found([0.05, 0.055, 0.065]) == [False] * 3,
        "The p-values 0.05, 0.055 and 0.065, at a level of 0.06. The clearest has to be at most 0.06 / 3, so none "
        "stands.",
    )
    require(
        found([0.01, 0.025, 0.05]) == [True] * 3,
        "0.01 ≤ 0.06 / 3, then 0.025 ≤ 0.06 / 2, then 0.05 ≤ 0.06 / 1: all three stand. How many are left when the "
        "second is asked?",
    )
    require(
        found([0.05, 0.01, 0.025]) == [True] * 3,
        "The same three in another order, and not all stand. Begin with the smallest, wherever it is.",
    )
    require(
        found([0.01, 0.04, 0.05]) == [True, False, False],
        "0.04 fails, for it is more than 0.06 / 2. Then 0.05 must not stand either, although it is at most 0.06 / 1: "
        "one that fails ends it.",
    )
    require(
        found([0.05, 0.01, 0.04]) == [False, True, False],
        "The second of three p-values, 0.01, stands alone. Is your answer in the order of the p-values as given?",
    )


EXERCISES = (
    Exercise(
        id="15-holm",
        title="Which of them stand",
        task=r"""Write Holm's correction. `p` holds a p-value for each verdict: how probable numbers as clear as its
own would be if it were wrong. The smallest must be at most `level` divided by their number, the next at most `level`
divided by one less, and so on. From the first that fails on, none stands. Why does the order of asking matter, and
what would you lose if you divided by the whole number each time?""",
        missing="a list of truth values",
        solution=stands,
        check=check_stands,
        mistakes=(
            Mistake("level / (len(p) - rank)", "level", "The clearest has to be"),
            Mistake("(len(p) - rank)", "len(p)", "How many are left"),
            Mistake("np.argsort(p)", "range(len(p))", "wherever it is"),
            Mistake("going_on and p", "p", "one that fails ends it"),
            Mistake("found[place]", "found[rank]", "as given"),
            Mistake("return found", "return sum(found)", "a truth value for each"),
        ),
        discussion=r"""Whether a verdict stands depends on those that are clearer, so they are asked first. With the
whole number each time, which is Bonferroni's correction, the same chance of any wrong verdict is allowed, and fewer
right ones stand: of the p-values 0.01, 0.025 and 0.05 at a level of 0.06 only the first.""",
    ),
)
