"""All known mistakes of a formula, in the order in which they override one another."""

from fedconform.formulas.local_training import Formula
from fedconform.mistakes import (
    in_averaging,
    in_feddyn,
    in_penalties,
    in_scaffold,
    in_servers,
    in_training,
)
from fedconform.mistakes.replacing import Mistake

_MODULES = (in_training, in_averaging, in_scaffold, in_feddyn, in_servers, in_penalties)
_VALUES = [value for module in _MODULES for value in vars(module).values()]
ALL = tuple(value for value in _VALUES if isinstance(value, Mistake))


def mistakes_in(formula: type[Formula]) -> tuple[Mistake, ...]:
    """The mistakes whose steps ``formula`` has. Every entry of these modules is in the list."""
    return tuple(mistake for mistake in ALL if mistake.fits(formula))
