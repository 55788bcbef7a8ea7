"""Three small exercises, on which the tests try what holds for all: ``HALF`` returns a number,
``PARTS`` four results of different types, ``HALVER`` is a class.
"""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.tools import call, close, require


def half(x):
    """Half of ``x``."""
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION


def parts(x):
    """Parts of the array ``x``."""
    ### BEGIN SOLUTION
    word = "long" if len(x) > 2 else "short"
    return word, x / 2, list(x > 1), [k for k in range(len(x)) if x[k] > 1]
    ### END SOLUTION


class Halver:
    """Halves numbers."""

    def __init__(self, factor):
        self.factor = factor

    def once(self, x):
        """Half of ``x``."""
        ### BEGIN SOLUTION
        return x * self.factor
        ### END SOLUTION

    def twice(self, x):
        """A quarter of ``x``."""
        ### BEGIN SOLUTION
        return self.once(self.once(x))
        ### END SOLUTION


def check_halver(answer) -> None:
    require(close(call(answer(0.5).twice, 8), 2), "Twice halved, 8 is 2.")


WORDS = {"title": "Half", "task": "Halve.", "missing": "half of it"}
HALF = Exercise(
    id="99-half",
    solution=half,
    cases=(
        Case((0.0,), 0, "Half of nothing is nothing."),
        Case((4.0,), 2, "Half of 4 is 2."),
        Case((3.0,), 1.5, "Half of 3 is `1` < 2."),
    ),
    mistakes=(
        Mistake("x / 2", "x // 2", "Half of 3 is not {found}: do not round."),
        Mistake("x / 2", "2 / x", "Not on all cases."),
        Mistake("x / 2", "2 * x", "You double."),
        Mistake("x / 2", "int('half')", "A word is no number."),
    ),
    **WORDS,
)
PARTS = Exercise(
    id="99-parts",
    solution=parts,
    cases=(
        Case((np.array([1.0]),), ("short", [0.5], [False], set()), "One."),
        Case(
            (np.array([2.0, 1.0, 4.0]),),
            ("long", [1.0, 0.5, 2.0], [True, False, True], {2, 0}),
            "Three.",
        ),
    ),
    mistakes=(),
    **WORDS,
)
HALVER = Exercise(id="99-halver", solution=Halver, check=check_halver, mistakes=(), **WORDS)
