"""Goals that a reader reaches with the sliders: ``Explorer(goal=goals.reach(accuracy=0.8,
megabytes=15))``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fedlab_core import validation
from fedlab_core.compare import price
from fedlab_core.history import History
from fedlab_core.language import translator

_ = translator(__name__)

# of runs that did not diverge: a run that diverged reaches no goal
Histories = Mapping[str, History]
_AXES = {
    "rounds": _("make {winner} end {points} above {loser} after equal rounds"),
    "updates": _("make {winner} end {points} above {loser} for equal server updates"),
    "bytes": _("make {winner} end {points} above {loser} for equal bytes"),
}


@dataclass(frozen=True)
class Goal:
    """A goal as ``text``, and its ``check``: a function of an idea's sliders, or of an explorer's
    histories.

    ``data``: the goal as JSON, from which :func:`of_data` makes it again; None where the check is
    somebody's own code.
    """

    text: str
    check: Callable[..., bool]
    data: Mapping[str, Any] | None = None


def reach(accuracy: float, megabytes: float | None = None) -> Goal:
    """One curve reaches a test ``accuracy``, and sends at most ``megabytes`` up and down until
    then, if given.
    """
    text = _("reach {accuracy} test accuracy").format(accuracy=f"{accuracy:.0%}")
    if megabytes is not None:
        text = _("reach {accuracy} test accuracy with at most {megabytes} MB").format(
            accuracy=f"{accuracy:.0%}", megabytes=f"{megabytes:g}"
        )
    most = float("inf") if megabytes is None else 1e6 * megabytes

    def check(histories: Histories) -> bool:
        return any(
            bool(
                (
                    (one.frame.test_accuracy >= accuracy).to_numpy() & (price(one, "bytes") <= most)
                ).any()
            )
            for one in histories.values()
        )

    data = {"kind": "reach", "accuracy": accuracy, "megabytes": megabytes}
    return Goal(text, check, data)


def beats(winner: str, loser: str, x: str = "rounds", margin: float = 0.01) -> Goal:
    """The curve of ``winner`` ends higher than that of ``loser`` by ``margin``, for equal ``x``.

    Names are beginnings, such as "FedAvg"; ``x`` is "rounds", "updates" or "bytes". The check
    compares the mean accuracies over the last fifth of what both curves have spent: one lucky round
    is no win.
    """
    points = _("{number} point") if margin == 0.01 else _("{number} points")
    text = _AXES[validation.choice("x", x, _AXES)].format(
        winner=winner, loser=loser, points=points.format(number=f"{100 * margin:g}")
    )

    def check(histories: Histories) -> bool:
        trained = {name: one for name, one in histories.items() if one.records}
        found = [
            [one for name, one in trained.items() if name.startswith(who)]
            for who in (winner, loser)
        ]
        if not all(found):
            return False
        budget = min(price(one, x).iloc[-1] for curves in found for one in curves)
        best, other = (max(_end(one, x, budget) for one in curves) for curves in found)
        return bool(best - other >= margin)

    return Goal(
        text, check, {"kind": "beats", "winner": winner, "loser": loser, "x": x, "margin": margin}
    )


def _end(history: History, x: str, budget: float) -> float:
    """The mean test accuracy over the last fifth of a ``budget`` of ``x``."""
    spent = price(history, x).to_numpy()
    within = spent <= budget
    last = within & (spent > 0.8 * spent[within].max(initial=0.0))
    return float(history.frame.test_accuracy.to_numpy()[last].mean())


def of_data(data: Mapping[str, Any] | None) -> Goal | None:
    """The goal with these ``data``."""
    makers: dict[str, Callable[..., Goal]] = {"reach": reach, "beats": beats}
    fields = dict(data or {})
    return makers[fields.pop("kind")](**fields) if fields else None
