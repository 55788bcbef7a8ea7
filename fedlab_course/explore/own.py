"""An algorithm of the reader in an explorer: how to make it, and the sliders of its parameters."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fedlab_core import algorithms

# The algorithms of the chapters; those of the gallery have parameters without a control.
_NAMES = ("fedavg", "fedprox", "scaffold", "fednova", "fedcurv", "fedsso", "fedmas")
ALGORITHMS = {name: algorithms.ALGORITHMS[name] for name in _NAMES}
_FACTORS = (0.0, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Own:
    """An algorithm of the reader.

    ``make``: a class or a function that returns an instance for ``arguments``, name → number. In code ``source`` is
    the name of ``make``, or ``expression`` makes the instance. ``positions``: those of each argument's slider.
    """

    name: str
    make: Callable[..., Any]
    arguments: tuple[tuple[str, float], ...]
    source: str = ""
    expression: str = ""
    positions: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False, repr=False)


def owned(makers: Any) -> tuple[Own, ...]:
    """The algorithms of a reader, from one class, function or :class:`Own`, or a list of them.

    Raises ``ValueError`` for an object without a name, a parameter without a default, and a name that is taken.
    """
    listed = list(makers) if isinstance(makers, (list, tuple)) else [makers]
    found = tuple(make if isinstance(make, Own) else _own(make) for make in listed)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ValueError(f"own={names}: must have different names; rename one")
    return found


def _own(make: Any) -> Own:
    function = getattr(make, "func", make)  # of functools.partial
    source = getattr(function, "__name__", "")
    if not callable(make) or not source.isidentifier():
        raise ValueError(f"own={make!r}: must be a class, or a function with a name, that returns an Algorithm")
    name = getattr(function, "title", "") or source
    if name.lower() in ALGORITHMS:
        raise ValueError(f"own={source}: must have another name than the library's algorithms; rename it")
    arguments = _numbers(make, source)
    positions = {
        one: tuple(sorted({_multiple(value, factor) for factor in _FACTORS})) for one, value in arguments.items()
    }
    return Own(name, make, tuple(arguments.items()), source, positions=tuple(positions.items()))


def _numbers(make: Callable[..., Any], source: str) -> dict[str, float]:
    """The parameters of ``make`` whose default is a number, with their defaults."""
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


def _multiple(value: float, factor: float) -> float:
    """``factor`` times ``value``, with three digits unless it is ``value``; an integer if ``value`` is one."""
    return value if factor == 1 else type(value)(float(f"{factor * value:.3g}"))
