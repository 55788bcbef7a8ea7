"""What is drawn of a run: as many rounds as are wanted of those that are there, and who trained in them."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fedlab_core.history import History
from fedlab_course.explorer.choices import Curve, Federation
from fedlab_course.explorer.runner import Run


@dataclass(frozen=True)
class Line:
    """``history`` has at most the rounds that ``curve`` wants; ``cohorts``: the clients of each of them."""

    curve: Curve
    history: History
    cohorts: list[np.ndarray]

    @classmethod
    def of(cls, run: Run) -> Self:
        """The line of a run of :class:`~fedlab_course.explorer.training.Training` that has begun."""
        curve, recorded = run.curve, run.history
        return cls(curve, first_rounds(recorded.history, curve.rounds), recorded.cohorts[: curve.rounds])

    @property
    def rounds(self) -> int:
        return self.history.records[-1].round


def first_rounds(history: History, rounds: int) -> History:
    """The beginning of a run: what a run of so many rounds would have recorded. Its final model is not known."""
    if history.records[-1].round <= rounds:
        return history
    records = [record for record in history.records if record.round <= rounds]
    return History(history.config | {"rounds": rounds}, records, template=history.template)


def about(lines: Mapping[str, Line], federation: Federation | None) -> dict[str, Any]:
    """What ``chart/hover.js`` needs to know of curves on ``federation`` to find their clients; empty if there is none.

    Who trained in which round is a bitmap of rounds × clients, in base64. Algorithms that draw cohorts alike share it.
    Accuracies are in per cent.
    """
    here = {name: line for name, line in lines.items() if line.curve.federation == federation}
    if federation is None or not here:
        return {}
    clients = dict(federation.arguments)["num_clients"]
    bitmaps = {name: _bitmap(line.cohorts, clients) for name, line in here.items()}
    distinct = list(dict.fromkeys(bitmaps.values()))
    reports = {name: line.history.clients for name, line in here.items() if line.history.clients is not None}
    return {
        "clients": clients,
        "bitmaps": distinct,
        "cohorts": {name: distinct.index(bitmap) for name, bitmap in bitmaps.items()},
        "accuracy": {name: (100 * report.accuracy).round().astype(int).tolist() for name, report in reports.items()},
        "round": {name: here[name].rounds for name in reports},
    }


def _bitmap(cohorts: Sequence[np.ndarray], clients: int) -> str:
    trained = np.zeros((len(cohorts), clients), dtype=bool)
    for row, cohort in zip(trained, cohorts, strict=True):
        row[cohort] = True
    return base64.b64encode(np.packbits(trained).tobytes()).decode()
