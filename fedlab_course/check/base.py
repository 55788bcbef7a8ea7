"""What an exercise is."""

import inspect
import re
import textwrap
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from fedlab_core.language import translator

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
_REGION = re.compile(rf"^([ \t]*){BEGIN}\n(.*?)^[ \t]*{END}\n", flags=re.DOTALL | re.MULTILINE)
Wrong = Collection[str]


class Hint(Exception):
    """What a check says to a wrong answer."""


@dataclass(frozen=True)
class Case:
    """A call of the answer and what it must return.

    ``expected``: written out, from mathematics. Its type says what must come back: a number, an
    array (for a list of numbers), truth values, a word, None, a tuple of several results, or
    numbers in any order (for a set). ``hint``: what the case is. Both results follow it; of a word
    or a truth value only the one found.
    """

    arguments: tuple[Any, ...]
    expected: Any
    hint: str


@dataclass(frozen=True)
class Mistake:
    """A usual wrong answer: the solution with ``old`` replaced by ``new``.

    ``hint``: what follows the hint of the first case that fails, for an answer that returns in all
    cases what this mistake returns; ``{found}`` in it is the result. With a ``check`` instead of
    cases: words of the hint of the check.
    """

    old: str
    new: str
    hint: str


@dataclass(frozen=True)
class Formula:
    """What an exercise asks for, right or with known mistakes.

    ``compute``: gets the mistakes to make and the arguments of a case, and returns numbers.
    ``mistakes``: their sentences, those of :mod:`fedconform` where it has them.
    """

    compute: Callable[..., Any]
    mistakes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ExerciseBase:
    """What an exercise and a proof have. The id is the number of the chapter and a name, such as
    "02-prox-step".

    ``task``: Markdown.
    """

    id: str
    title: str = ""
    task: str = ""
    points: int

    @property
    def chapter(self) -> str:
        """The two digits that its notebook's name begins with."""
        return self.id[:2]


@dataclass(frozen=True, kw_only=True, eq=False)
class Proof(ExerciseBase):
    """An exercise on paper, and its ``solution`` in Markdown. Only a reader checks the answer."""

    solution: str
    points: int = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise(ExerciseBase):
    """An exercise with a check.

    ``solution``: a function or class whose source holds the solution markers, perhaps twice; the
    student sees ``...`` in place of the lines between them. ``cases``: calls and their results,
    from the simplest to the most special; or, for classes and random draws, ``check``: a function
    that raises :class:`Hint` for a wrong answer, with the helpers of
    :mod:`fedlab_course.check.tools`. ``known``: the formula of the cases, whose known mistakes are
    named where an answer makes them and is none of the ``mistakes``. ``uses``: the ids of exercises
    whose functions the answer calls; where one of them is not solved, the hint says so.
    ``is_open``: an answer may leave the ``...`` of a class, and change another part of it.

    The file ``exercises.toml`` of the chapter has the words: ``title``; ``task``, Markdown;
    ``missing``: what the answer should return, for hints, or ``instead``: a sentence that says what
    to write where the return is given; ``points``; ``discussion``: Markdown
    beside the solution, what we observe and the answers to questions of the task.
    """

    solution: Any
    mistakes: tuple[Mistake, ...]
    cases: tuple[Case, ...] = ()
    check: Callable[[Any], None] | None = None
    known: Formula | None = None
    uses: tuple[str, ...] = ()
    is_open: bool = False
    missing: str = ""
    instead: str = ""
    points: int = 1
    discussion: str = ""

    def said(self, words: str) -> str:
        """Its title or what is missing, in the language of the process."""
        return translator(self.solution.__module__)(words)

    def __post_init__(self) -> None:
        if bool(self.cases) == bool(self.check):
            raise ValueError(f"exercise {self.id}: needs cases or a check, and not both")
        if not _REGION.search(self.marked_source):
            raise ValueError(
                f"exercise {self.id}: its solution needs a line {BEGIN!r} and a line {END!r}"
            )

    @property
    def name(self) -> str:
        """What the student's function or class is called."""
        return self.solution.__name__

    @property
    def marked_source(self) -> str:
        """The solution between its markers, as an instructor's notebook holds it."""
        return textwrap.dedent(inspect.getsource(self.solution))

    @property
    def solution_source(self) -> str:
        """The solution without markers."""
        return _REGION.sub(r"\2", self.marked_source)

    @property
    def stub_source(self) -> str:
        """What the student starts from: ``...`` in place of the solution."""
        return _REGION.sub(r"\1...\n", self.marked_source)

    def with_mistake(self, mistake: Mistake) -> str:
        """The source of a wrong answer. Raises ``ValueError`` if the solution does not hold
        ``mistake.old``.
        """
        if mistake.old not in self.solution_source:
            raise ValueError(f"exercise {self.id}: the solution does not hold {mistake.old!r}")
        return self.solution_source.replace(mistake.old, mistake.new)

    def build(self, source: str) -> Any:
        """The function or class that ``source`` defines, with the imports of the solution's module
        at hand.
        """
        namespace = dict(vars(inspect.getmodule(self.solution)))
        exec(compile(source, f"<answer to {self.id}>", "exec"), namespace)
        return namespace[self.name]
