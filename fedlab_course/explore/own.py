"""A reader's own algorithm in an explorer: how to make it, and which of its parameters have a slider."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedlab_core import algorithms, validation

# The algorithms of the chapters; those of the gallery have parameters without a control.
_NAMES = ("fedavg", "fedprox", "scaffold", "fednova", "fedcurv", "fedsso", "fedmas")
ALGORITHMS = {name: algorithms.ALGORITHMS[name] for name in _NAMES}
_FACTORS = (0.0, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Own:
    """An algorithm that is not the library's.

    ``make``: a class or a function that returns an instance from ``arguments``, name → number. In code ``source`` is
    the name of ``make``, or ``expression`` makes the instance. ``positions``: those of each argument's slider.
    """

    name: str
    make: Callable[..., Any]
    arguments: tuple[tuple[str, float], ...]
    source: str = ""
    expression: str = ""
    positions: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, make: Any, values: Mapping[str, Sequence[float]]) -> "Own":
        """A class or function of the reader, with a slider for each parameter whose default is a number.

        ``values``: the positions of the slider, by parameter; multiples of the default if not given. Raises
        ``ValueError`` for something without a name, or with a parameter without default.
        """
        function = getattr(make, "func", make)  # of functools.partial
        source = getattr(function, "__name__", "")
        if not callable(make) or not source.isidentifier():
            raise ValueError(f"own={make!r}: must be a class, or a function with a name, that returns an Algorithm")
        name = getattr(function, "title", "") or source
        if name.lower() in ALGORITHMS:
            raise ValueError(f"own={source}: must have another name than the library's algorithms; rename it")
        arguments = _numbers(make, source)
        ladders = {
            one: tuple(sorted({value, *values.get(one, (_near(value, factor) for factor in _FACTORS))}))
            for one, value in arguments.items()
        }
        return cls(name, make, tuple(arguments.items()), source, positions=tuple(ladders.items()))


def owned(makers: Any, values: Mapping[str, Sequence[float]] | None) -> tuple[Own, ...]:
    """The algorithms of a reader, from one class, function or :class:`Own`, or a list of them.

    Raises ``ValueError`` as :meth:`Own.of` does, for a repeated name, and for ``values`` of an unknown parameter.
    """
    listed = list(makers) if isinstance(makers, (list, tuple)) else [makers]
    given = dict(values or {})
    found = tuple(make if isinstance(make, Own) else Own.of(make, given) for make in listed)
    parameters = {parameter for one in found for parameter, _ in one.arguments}
    for name in given:
        validation.choice("values", name, parameters)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ValueError(f"own={names}: must have different names; rename one")
    return found


def _numbers(make: Callable[..., Any], source: str) -> dict[str, float]:
    """The parameters of ``make`` that get a slider, with their defaults."""
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
