"""Whose code a figure runs on: the reader's, or the course's solution where an exercise is not
solved.
"""

from typing import Any

from fedlab_core.language import translator

_ = translator(__name__)

_MARK = "__fedlab_solution__"


def mark(solution: Any) -> Any:
    """Return ``solution``, a function or class of the course, marked as no code of the reader."""
    setattr(solution, _MARK, True)
    return solution


def is_own(*answers: Any) -> bool:
    """Whether all ``answers`` are the reader's own code."""
    return not any(getattr(answer, _MARK, False) for answer in answers)


def whose(*answers: Any) -> str:
    """The words for a figure: "with your code", or "with the course's solution" for at least one of
    the ``answers``.
    """
    return _("with your code") if is_own(*answers) else _("with the course's solution")
