"""Goals of explorers: what a reader is asked to reach with the sliders, and whether it is reached.

``Explorer(goal=goals.reach(accuracy=0.8, megabytes=15))``, ``Idea(draw, sliders, goal=Goal("…", check))``: the
explorer says its goal and whether what it shows now reaches it, in a live notebook as on a page.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fedlab_core import validation
from fedlab_core.compare import price
from fedlab_core.history import History

Histories = Mapping[str, History]
_AXES = {"rounds": "after equal rounds", "updates": "for equal server updates", "bytes": "for equal bytes"}


@dataclass(frozen=True)
class Goal:
    """A goal as ``text``, and ``check``: of an idea's sliders by name, or of an explorer's histories by curve."""

    text: str
    check: Callable[..., bool]


@dataclass(frozen=True)
class Reach:
    """Some curve reaches a test ``accuracy`` for at most so many ``megabytes`` (up and down), ``rounds``, ``updates``.

    Raises ``ValueError`` for an accuracy outside 0 … 1 and limits that are not positive.
    """

    accuracy: float
    megabytes: float | None = None
    rounds: float | None = None
    updates: float | None = None

    def __post_init__(self) -> None:
        validation.real("accuracy", self.accuracy, maximum=1.0)
        for name, (limit, _) in self._limits().items():
            validation.real(name, limit, exclusive=True)

    @property
    def text(self) -> str:
        """The goal in words."""
        limits = [f"at most {limit:g} {words}" for limit, words in self._limits().values()]
        return f"reach {self.accuracy:.0%} test accuracy" + (f" with {' and '.join(limits)}" if limits else "")

    def check(self, histories: Histories) -> bool:
        """Whether one of ``histories`` is there."""
        return any(self._there(history) for history in histories.values())

    def _there(self, history: History) -> bool:
        frame = history.frame
        fits = frame.test_accuracy >= self.accuracy
        for name, (limit, _) in self._limits().items():
            spent = price(history, "bytes") / 1e6 if name == "megabytes" else price(history, name)
            fits &= spent.to_numpy() <= limit
        return bool(fits.any())

    def _limits(self) -> dict[str, tuple[float, str]]:
        words = {"megabytes": "MB", "rounds": "rounds", "updates": "server updates"}
        return {name: (getattr(self, name), words[name]) for name in words if getattr(self, name) is not None}


@dataclass(frozen=True)
class Beats:
    """The curve of ``winner`` ends higher than that of ``loser`` by ``margin``, for equal ``x`` as in the contract.

    Names are beginnings, such as "FedAvg". Of each curve the mean accuracy over the last fifth of what both have spent
    counts: one lucky round is no win. Raises ``ValueError`` for another ``x``.
    """

    winner: str
    loser: str
    x: str = "rounds"
    margin: float = 0.01

    def __post_init__(self) -> None:
        validation.choice("x", self.x, _AXES)

    @property
    def text(self) -> str:
        """The goal in words."""
        points = f"{100 * self.margin:g} point" + "s" * (self.margin != 0.01)
        return f"make {self.winner} end {points} above {self.loser} {_AXES[self.x]}"

    def check(self, histories: Histories) -> bool:
        """Whether both are among ``histories``, and the one is above the other."""
        found = [[one for name, one in histories.items() if name.startswith(who)] for who in (self.winner, self.loser)]
        if not all(found):
            return False
        budget = min(price(one, self.x).iloc[-1] for curves in found for one in curves)
        best, other = (max(self._end(one, budget) for one in curves) for curves in found)
        return bool(best - other >= self.margin)

    def _end(self, history: History, budget: float) -> float:
        spent = price(history, self.x).to_numpy()
        within = spent <= budget
        last = within & (spent > 0.8 * spent[within].max(initial=0.0))
        return float(history.frame.test_accuracy.to_numpy()[last].mean())


reach, beats = Reach, Beats
Known = Goal | Reach | Beats
_KINDS: dict[str, type[Any]] = {"reach": Reach, "beats": Beats}


def words(goal: Known, reached: bool | None) -> str:
    """The goal and where it stands; ``reached`` is None while nobody can tell."""
    state = {True: " ✓ Reached.", False: " Not yet.", None: ""}[reached]
    return f"Goal: {goal.text.rstrip('.')}.{state}"


def as_data(goal: Known | None) -> dict[str, Any] | None:
    """A goal as JSON can hold it, without a check of its own; None for none."""
    if goal is None:
        return None
    if isinstance(goal, Goal):
        return {"kind": "named", "text": goal.text}
    kind = next(name for name, one in _KINDS.items() if isinstance(goal, one))
    return {"kind": kind, **asdict(goal)}


def of_data(given: Mapping[str, Any] | None) -> Known | None:
    """The goal that :func:`as_data` made data of; None where its check was not kept."""
    if given is None or given["kind"] not in _KINDS:
        return None
    made: Known = _KINDS[given["kind"]](**{name: value for name, value in given.items() if name != "kind"})
    return made
