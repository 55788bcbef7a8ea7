"""A run as an explorer trains it, what is drawn of it, and who trained in which round."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fedlab_core.history import History
from fedlab_core.simulation import Simulation
from fedlab_course.explore.choices import Curve, Federation
from fedlab_course.explore.runner import Run


@dataclass(frozen=True)
class Recorded:
    """``history`` of a run, and the ``cohorts`` of its rounds, int64 arrays of clients in increasing order."""

    history: History
    cohorts: list[np.ndarray]


class Training:
    """A run of ``curve``, an iterator over rounds; ``before``: a shorter or longer training of it, to continue from."""

    def __init__(self, curve: Curve, before: "Training | None" = None) -> None:
        self._simulation: Simulation | None = curve.simulation()
        self._rounds = curve.rounds
        self._end: dict[str, Any] = {}
        if before is not None:
            self._simulation.load_state_dict(before.state)
        self.history: Recorded = Recorded(
            self._simulation.history, [] if before is None else list(before.history.cohorts)
        )

    def __next__(self) -> Any:
        if self._simulation is None:
            raise StopIteration
        record = next(self._simulation)
        self.history.cohorts.append(np.unique(np.concatenate([np.empty(0, np.int64), *self._simulation.cohorts])))
        if self._simulation.round == self._rounds:  # keep what is needed to continue, without the engine's buffers
            self._end, self._simulation = self.state, None
        return record

    @property
    def state(self) -> dict[str, Any]:
        """What another simulation needs to continue from here."""
        return self._end if self._simulation is None else self._simulation.compact_state()


@dataclass(frozen=True)
class Line:
    """What is drawn of a run: at most the rounds that ``curve`` wants, and the ``cohorts`` of each of them."""

    curve: Curve
    history: History
    cohorts: list[np.ndarray]

    @classmethod
    def of(cls, run: Run) -> Self:
        """The line of a run of :class:`Training` that has begun."""
        whole, wanted = run.history.history, run.curve.rounds
        if whole.records[-1].round > wanted:  # what a shorter run would have recorded; its final model is not known
            records = [record for record in whole.records if record.round <= wanted]
            whole = History(whole.config | {"rounds": wanted}, records, template=whole.template)
        return cls(run.curve, whole, run.history.cohorts[:wanted])

    @property
    def rounds(self) -> int:
        return self.history.records[-1].round


def about(lines: Mapping[str, Line], federation: Federation | None) -> dict[str, Any]:
    """What ``scripts/hover.js`` needs to find the clients of curves on ``federation``; empty without such curves.

    Who trained in which round is a bitmap of rounds × clients, in base64; algorithms with the same cohorts share it.
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
