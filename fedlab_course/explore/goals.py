"""Goals that a reader reaches with the sliders: ``Explorer(goal=goals.reach(accuracy=0.8, megabytes=15))``."""

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
    """A goal as ``text``, and its ``check``: a function of an idea's sliders, or of an explorer's histories."""

    text: str
    check: Callable[..., bool]


@dataclass(frozen=True)
class reach:
    """One curve reaches a test ``accuracy``, and sends at most ``megabytes`` up and down until then, if given."""

    accuracy: float
    megabytes: float | None = None

    @property
    def text(self) -> str:
        limit = "" if self.megabytes is None else f" with at most {self.megabytes:g} MB"
        return f"reach {self.accuracy:.0%} test accuracy{limit}"

    def check(self, histories: Histories) -> bool:
        """Whether one of ``histories`` reaches the accuracy within the limit."""
        most = float("inf") if self.megabytes is None else 1e6 * self.megabytes
        return any(
            bool(((one.frame.test_accuracy >= self.accuracy).to_numpy() & (price(one, "bytes") <= most)).any())
            for one in histories.values()
        )


@dataclass(frozen=True)
class beats:
    """The curve of ``winner`` ends higher than that of ``loser`` by ``margin``, for equal ``x``.

    Names are beginnings, such as "FedAvg"; ``x`` is "rounds", "updates" or "bytes". The check compares the mean
    accuracies over the last fifth of what both curves have spent: one lucky round is no win.
    """

    winner: str
    loser: str
    x: str = "rounds"
    margin: float = 0.01

    def __post_init__(self) -> None:
        validation.choice("x", self.x, _AXES)

    @property
    def text(self) -> str:
        points = f"{100 * self.margin:g} point" + "s" * (self.margin != 0.01)
        return f"make {self.winner} end {points} above {self.loser} {_AXES[self.x]}"

    def check(self, histories: Histories) -> bool:
        """Whether both are among ``histories`` and the winner is above the loser."""
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


Known = Goal | reach | beats


def words(goal: Known, reached: bool | None) -> str:
    """The goal and its state; ``reached`` is None if it is unknown."""
    state = {True: " ✓ Reached.", False: " Not yet.", None: ""}[reached]
    return f"Goal: {goal.text.rstrip('.')}.{state}"


def as_data(goal: Known | None) -> dict[str, Any] | None:
    """A goal as JSON; None for a :class:`Goal`, whose check is code."""
    return None if goal is None or isinstance(goal, Goal) else {"kind": type(goal).__name__, **asdict(goal)}


def of_data(given: Mapping[str, Any] | None) -> Known | None:
    """The goal of :func:`as_data`."""
    fields = dict(given or {})
    kind = {"reach": reach, "beats": beats}.get(fields.pop("kind", ""))
    return kind(**fields) if kind else None
