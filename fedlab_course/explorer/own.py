"""A reader's own algorithm in an explorer: how it is made, and which of its numbers have a slider."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fedlab_core import algorithms, validation

# Those of the chapters; the gallery's have parameters that no control turns.
_NAMES = ("fedavg", "fedprox", "scaffold", "fednova", "fedcurv", "fedsso", "fedmas")
ALGORITHMS = {name: algorithms.ALGORITHMS[name] for name in _NAMES}
_FACTORS = (0.0, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Own:
    """An algorithm that is not the library's.

    ``make``: a class, or a function, that returns a new instance from ``arguments``, name → number; ``source``: what it
    is called in code, or else ``expression`` is what makes the instance there; ``positions``: what the slider of each
    argument offers.
    """

    name: str
    make: Callable[..., Any]
    arguments: tuple[tuple[str, float], ...]
    source: str = ""
    expression: str = ""
    positions: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, make: Any, values: Mapping[str, Sequence[float]]) -> "Own":
        """A class or function of the reader, with a slider for each parameter that has a number as its default.

        ``values``: the positions of the slider, by parameter; where they are not given they are multiples of the
        default. Raises ``ValueError`` for something without a name, or with a parameter that has no default.
        """
        function = getattr(make, "func", make)  # of functools.partial
        source = getattr(function, "__name__", "")
        if not callable(make) or not source.isidentifier():
            raise ValueError(f"own={make!r}: must be a class, or a function with a name, that returns an Algorithm")
        name = getattr(function, "title", "") or source
        if name.lower() in ALGORITHMS:
            raise ValueError(f"own={source}: must have another name than the algorithms that every explorer has")
        arguments = _numbers(make, source)
        ladders = {
            one: tuple(sorted({value, *values.get(one, (_near(value, factor) for factor in _FACTORS))}))
            for one, value in arguments.items()
        }
        return cls(name, make, tuple(arguments.items()), source, positions=tuple(ladders.items()))

    def with_arguments(self, values: Mapping[str, float]) -> "Own":
        """The same with other numbers."""
        return replace(self, arguments=tuple((name, values[name]) for name, _ in self.arguments))


def owned(makers: Any, values: Mapping[str, Sequence[float]] | None) -> tuple[Own, ...]:
    """The algorithms of a reader, from one class or function (or :class:`Own`) or several.

    Raises ``ValueError`` for what :meth:`Own.of` refuses, a name that comes twice, and ``values`` of no parameter.
    """
    listed = list(makers) if isinstance(makers, (list, tuple)) else [makers]
    given = dict(values or {})
    found = tuple(make if isinstance(make, Own) else Own.of(make, given) for make in listed)
    parameters = {parameter for one in found for parameter, _ in one.arguments}
    for name in given:
        validation.choice("values", name, parameters)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ValueError(f"own={names}: must have different names")
    return found


def _numbers(make: Callable[..., Any], source: str) -> dict[str, float]:
    """The parameters of ``make`` that can be turned, with their defaults."""
    found = {}
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise ValueError(
                f"own={source}: its parameter {name} has no default; give it one, or pass "
                f"functools.partial({source}, {name}=…)"
            )
        if isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool):
            found[name] = parameter.default
    return found


def _near(value: float, factor: float) -> float:
    """A multiple of ``value`` with three digits, an integer if it is one."""
    return type(value)(float(f"{factor * value:.3g}"))
