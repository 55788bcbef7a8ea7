"""What a known mistake is, and formulas that make some."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from fedconform.formulas.local_training import Formula

Step = Callable[..., Any]


class Mistake(str):
    """A known mistake: the sentence that the report prints, and the steps of formulas that it
    replaces.

    ``steps``: a step, such as ``Scaffold.correction``, and what comes in its place: a function of
    the formula, of the step that is replaced, and of the arguments of the step. The mistake is
    looked for in every formula that has all of its steps, or in those that extend ``only``.
    """

    steps: Mapping[Step, Step]
    only: type[Formula]

    def __new__(
        cls, sentence: str, steps: Mapping[Step, Step], only: type[Formula] = Formula
    ) -> "Mistake":
        mistake = super().__new__(cls, sentence)
        mistake.steps = steps
        mistake.only = only
        return mistake

    def fits(self, formula: type[Formula]) -> bool:
        """Whether ``formula`` or a class that it extends has all of the steps."""
        owners = {base.__qualname__ for base in formula.__mro__}
        return issubclass(formula, self.only) and all(
            step.__qualname__.partition(".")[0] in owners for step in self.steps
        )


def with_mistakes(right: type[Formula], wrong: Collection[str]) -> type[Formula]:
    """The formula ``right`` with the steps replaced that the mistakes ``wrong`` are about.

    Where two mistakes replace the same step, the first overrides the second and may call it.
    """
    formula = right
    for mistake in reversed([one for one in wrong if isinstance(one, Mistake)]):
        replaced = {
            step.__name__: _method(getattr(formula, step.__name__), replacement)
            for step, replacement in mistake.steps.items()
        }
        formula = type(right.__name__, (formula,), replaced)
    return formula


def _method(step: Step, replacement: Step) -> Step:
    def method(self: Formula, *arguments: Any) -> Any:
        return replacement(self, partial(step, self), *arguments)

    return method
