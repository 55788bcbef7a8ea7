"""Refuse labels and users that a program would accept and a person would call a typing error."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_INT64 = np.iinfo(np.int64)
_SHOWN = 5


def check_users(what: str, users: np.ndarray) -> None:
    """Raise ``ValueError`` if one client has several spellings, such as 1, 01 and 1.0.

    A space before or after a name makes another spelling too.
    """
    spellings: dict[str, list[object]] = {}
    for user in pd.unique(users).tolist():
        spellings.setdefault(_normal(user), []).append(user)
    for same in spellings.values():
        if len(same) > 1:
            raise ValueError(
                f"{what}: {_listed(same)} look like one client in {len(same)} spellings, and would "
                f"become {len(same)} clients. Write each client in one way; or, if they are "
                "different clients, give them names that differ in more than zeros and spaces, "
                "such as 'a1' and 'b1'"
            )


def check_classes(what: str, labels: Iterable[object]) -> None:
    """Raise ``ValueError`` for class labels beyond 64 bits, or fractions among whole numbers."""
    numbers = [label for label in labels if _is_number(label)]
    whole = [label for label in numbers if _is_whole(label)]
    large = [label for label in whole if not _INT64.min <= int(_decimal(label)) <= _INT64.max]
    if large:
        raise ValueError(
            f"{what}: {_listed(large)} does not fit into a 64-bit integer; a label must be a whole "
            f"number from {_INT64.min} to {_INT64.max} or a text. Correct the value, or list all "
            "labels: classes=[…]"
        )
    fractions = [label for label in numbers if not _is_whole(label)]
    if fractions and whole:
        raise ValueError(
            f"{what}: {_listed(fractions)} stands among whole numbers; labels must be whole "
            "numbers or texts. Correct the value, or list all labels: classes=[…]"
        )


def check_regression(what: str, targets: np.ndarray) -> None:
    """Raise ``ValueError`` for floats that look like labels with a typing error.

    Most of them are whole numbers. A column of floats that are all whole is a regression, and so
    are several targets per sample.
    """
    if targets.ndim != 1:
        return
    fractions = targets[targets != np.floor(targets)]
    if 0 < len(fractions) < len(targets) / 2:
        values = np.unique(fractions).tolist()
        raise ValueError(
            f"{what}: {_listed(values)} stands among {len(targets) - len(fractions)} whole "
            "numbers, so it is not clear whether these are labels or measurements. Correct the "
            "value, or say which: task='regression', or task='classification' with all labels in "
            "classes=[…]"
        )


def _normal(user: object) -> str:
    """The text that all spellings of a user have in common."""
    text = str(user).strip()
    if not _WHOLE.fullmatch(text):
        return text
    return str(int(text.partition(".")[0]))


def _is_number(label: object) -> bool:
    if isinstance(label, (bool, np.bool_)):
        return False
    if isinstance(label, str):
        return _NUMBER.fullmatch(label.strip()) is not None
    return isinstance(label, (int, float, np.integer, np.floating))


def _decimal(label: object) -> Decimal:
    return Decimal(str(label).strip())


def _is_whole(label: object) -> bool:
    number = _decimal(label)
    return number.is_finite() and number == number.to_integral_value()


def _listed(values: Sequence[object]) -> str:
    words = [repr(value) if isinstance(value, str) else str(value) for value in values[:_SHOWN]]
    return ", ".join(words) + (", …" if len(values) > _SHOWN else "")
