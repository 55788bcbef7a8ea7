"""Exercises of the course: a stub, a check with hints, a solution, and the mistakes that each hint is for.

A notebook says ``exercises.check("02-prox-step", prox_step)``. The verdict is shown in words, and nothing is raised, so
that a notebook runs from top to bottom unsolved. Only under nbgrader, which grades by errors, a wrong answer raises.

The folder of a chapter has their code in ``exercises.py``, and their words and the exercises on paper in
``exercises.toml``; chapter 0 has the shortest of both, to begin with.

- The student sees the solution with the lines between the markers replaced by ``...``. The answer is a function or a
  class. What a class has already (``__init__``, for instance) is outside the markers, which may occur twice.
- A hint says what the answer does and asks what to look at; it does not give the answer away. Results of another form,
  errors in the student's code and a changed first line get hints of their own, and need no :class:`Mistake`.
- Where cases do not fit (classes, random draws), ``check`` is a function of the answer that raises :class:`Hint`, with
  the helpers of :mod:`fedlab_course.check.tools`.
- Lines of a solution have at most 98 columns, and the notebook must import every module the solution uses.

``python -m fedlab_course.check`` writes the cells of all exercises into the notebooks: in their order, where exercises
are now, new ones beside their neighbours, and the first ones before "What to remember".
"""

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
