"""Counts of verdicts in words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fedlab_course.evidence import shown

_FAILS = "does not hold here"
# Words that differ for one verdict and for several; all others
# are as in ``shown.WORDS``, in its order.
_VERBS = {"holds": ("holds", "hold"), _FAILS: ("does not hold here", "do not hold here")}
_ORDER = ("holds", _FAILS, *(word for word in shown.WORDS if word != "holds"))


def counted(entries: Iterable[Mapping[str, Any]]) -> str:
    """Count verdicts by their words, such as "7 hold, 2 opposite, 1 undecided".

    ``entries``: stored verdicts, which have a "verdict", and those of a run, which have a bool
    "holds".
    """
    counts = Counter(_word(entry) for entry in entries)
    return ", ".join(_phrase(counts[word], word) for word in _ORDER if counts[word])


def _word(entry: Mapping[str, Any]) -> str:
    if "verdict" in entry:
        return str(entry["verdict"])
    return "holds" if entry["holds"] else _FAILS


def _phrase(number: int, word: str) -> str:
    singular, plural = _VERBS.get(word, (word, word))
    return f"{number} {singular if number == 1 else plural}"
