'''Exercises of the course: a stub, a check with hints, a solution, and the mistakes that each hint is for.

A notebook says ``exercises.check("02-prox-step", prox_step)``. The verdict is shown in words, and nothing is raised, so
that a notebook runs from top to bottom unsolved. Only under nbgrader, which grades by errors, a wrong answer raises.

Writing exercises for a chapter
-------------------------------
All that belongs to them stands in one file, ``exercises.py`` in the folder of the chapter::

    # mypy: allow-untyped-defs
    """Exercises of chapter 9."""

    from fedlab_course.check.base import Exercise, Mistake
    from fedlab_course.check.tools import call, close, number, require

    def half(x):
        """Half of the number x."""
        ### BEGIN SOLUTION
        return x / 2
        ### END SOLUTION

    def check_half(answer):
        require(close(number(call(answer, 0.0)), 0.0), "Half of nothing is nothing.")
        require(number(call(answer, 3.0)) < 3.0, "Half of 3 is less than 3.")
        require(close(number(call(answer, 3.0)), 1.5), "Half of 3 is 1.5: do not round.")

    EXERCISES = (
        Exercise(
            id="09-half",
            title="One half",
            task="Write `half(x)`, which returns $x / 2$.",
            missing="half of `x`",
            solution=half,
            check=check_half,
            mistakes=(
                Mistake("/ 2", "* 2", "less than 3"),
                Mistake("/ 2", "// 2", "do not round"),
                Mistake("x / 2", "x - 2", "nothing is nothing"),
            ),
        ),
    )

- The student sees the solution with the lines between the markers replaced by ``...``. The answer is a function or a
  class; what a class is given already (``__init__``, for instance) stands outside the markers, which may occur twice.
- A check asks for properties, from the most general to the most special, and raises :class:`Hint` through ``require``.
  A hint says what is seen and what to look at, and does not give the answer away. ``call`` hands out copies and objects
  if the answer changes them; ``number`` and ``array`` refuse what is not one, in words.
- An exception in the student's code becomes a hint that quotes it. So does a changed first line.
- A :class:`Mistake` is the solution with one piece of text replaced, and a few words of the hint that it must get. Give
  each usual wrong answer one, with a hint of its own.
- ``discussion`` stands with the solution: what we observe, and the answer to every question that the task poses.
- A :class:`Proof` is an exercise on paper: ``Proof(id=…, title=…, task=…, solution=…)``, both Markdown.
- Lines of a solution have at most 98 columns, tasks and docstrings as a student should read them.
- The notebook must import every module the solution uses (``np``, ``torch``, ``fl``), and ``exercises``.

``python -m fedlab_course.check`` writes the cells of all exercises into the notebooks: in their order, where
stand now, new ones beside their neighbours, and the first ones before "What to remember". Move the cells of an
exercise to where its idea is fresh.
``tests/course/test_exercises.py`` then tests each of them without further ado: stub, solution, every mistake, and that
notebook and registry agree.
'''

from fedlab_course.check.base import Case, Exercise, Hint, Mistake, Proof
from fedlab_course.check.registry import every, get, of_chapter
from fedlab_course.check.verdicts import MIME, NotSolved, Verdict, check, judge, or_solution

__all__ = [
    "MIME",
    "Case",
    "Exercise",
    "Hint",
    "Mistake",
    "NotSolved",
    "Proof",
    "Verdict",
    "check",
    "every",
    "get",
    "judge",
    "of_chapter",
    "or_solution",
]
