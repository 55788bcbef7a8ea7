'''Exercises of the course: a stub, a check with hints, a solution, and the mistakes that each hint is for.

A notebook says ``exercises.check("02-prox-step", prox_step)``. The verdict is shown in words, and nothing is raised, so
that a notebook runs from top to bottom unsolved. Only under nbgrader, which grades by errors, a wrong answer raises.

Writing exercises for a chapter
-------------------------------
The file ``exercises.py`` in the folder of the chapter has the code::

    # mypy: allow-untyped-defs
    """Exercises of chapter 9."""

    from fedlab_course.check.base import Case, Exercise, Mistake

    def half(x):
        """Half of the number x."""
        ### BEGIN SOLUTION
        return x / 2
        ### END SOLUTION

    EXERCISES = (
        Exercise(
            id="09-half",
            solution=half,
            cases=(
                Case((0.0,), 0, "Half of nothing is nothing."),
                Case((3.0,), 1.5, "Half of an odd number."),
            ),
            mistakes=(
                Mistake("/ 2", "* 2", "A half is smaller than the whole."),
                Mistake("/ 2", "// 2", "Your code rounds."),
            ),
        ),
    )

The file ``exercises.toml`` beside it has the words, and the exercises on paper (those with a ``solution``)::

    [[exercise]]
    id = "09-half"
    title = "One half"
    missing = "half of `x`"
    task = "Write `half(x)`, which returns half of the number."

- The student sees the solution with the lines between the markers replaced by ``...``. The answer is a function or a
  class. What a class has already (``__init__``, for instance) is outside the markers, which may occur twice.
- A :class:`Case` has arguments and the result that they must give. A :class:`Mistake` is the solution with one piece of
  text replaced. See both for what their hints may say. A hint says what the answer does and asks what to look at; it
  does not give the answer away.
- Results of another form, changed arguments, errors in the student's code and a changed first line get hints of their
  own. A mistake with such a result needs no entry.
- Where cases do not fit (classes, random draws), ``check`` is a function of the answer that raises :class:`Hint`, with
  the helpers of :mod:`fedlab_course.check.tools`. A mistake then names a few words of the hint that it must get.
- Lines of a solution have at most 98 columns.
- The notebook must import every module the solution uses (``np``, ``torch``, ``fl``), and ``exercises``.

``python -m fedlab_course.check`` writes the cells of all exercises into the notebooks: in their order, where exercises
are now, new ones beside their neighbours, and the first ones before "What to remember". Move the cells of an
exercise to where its idea is fresh. ``tests/course/test_exercises.py`` tests each exercise: stub, solution, mistakes.
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
