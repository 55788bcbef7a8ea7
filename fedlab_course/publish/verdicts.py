"""Counts of verdicts in words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fedlab_core.language import translator
from fedlab_course.evidence import shown

_ = translator(__name__)
_FAILS = "does not hold here"
# Verdict → the words for one and, where they differ, for several.
_COUNTED = {
    "holds": (_("{number} holds"), _("{number} hold")),
    _FAILS: (_("{number} does not hold here"), _("{number} do not hold here")),
    "opposite": (_("{number} opposite"),),
    "equivalent": (_("{number} equivalent"),),
    "confirmed": (_("{number} confirmed"),),
    "refuted": (_("{number} refuted"),),
    "higher": (_("{number} higher"),),
    "lower": (_("{number} lower"),),
    "undecided": (_("{number} undecided"),),
    "diverged": (_("{number} diverged"),),
    "not tested": (_("{number} not tested"),),
    "not measured": (_("{number} not measured"),),
}
_ORDER = ("holds", _FAILS, *(word for word in shown.WORDS if word != "holds"))


def counted(entries: Iterable[Mapping[str, Any]]) -> str:
    """Count verdicts by their words, such as "7 hold, 2 opposite, 1 undecided".

    ``entries``: stored verdicts, which have a "verdict", and those of a run, which have a bool
    "holds".
    """
    counts = Counter(_word(entry) for entry in entries)
    return _(", ").join(_phrase(counts[word], word) for word in _ORDER if counts[word])


def _word(entry: Mapping[str, Any]) -> str:
    if "verdict" in entry:
        return str(entry["verdict"])
    return "holds" if entry["holds"] else _FAILS


def _phrase(number: int, word: str) -> str:
    singular, *plural = _COUNTED[word]
    words = plural[0] if plural and number > 1 else singular
    return words.format(number=number)
