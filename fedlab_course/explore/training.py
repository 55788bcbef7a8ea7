"""A run as an explorer trains and draws it, with the clients that trained in each round."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fedlab_core.history import History
from fedlab_course.explore.choices import Curve


@dataclass(frozen=True)
class Line:
    """The ``history`` of a ``curve``, and the ``cohorts`` of its rounds: int64 arrays of clients, sorted."""

    curve: Curve
    history: History
    cohorts: list[np.ndarray]

    @property
    def rounds(self) -> int:
        return self.history.records[-1].round

    def first(self, curve: Curve) -> Self:
        """At most the rounds of ``curve``, a curve equal to this one. The model of an earlier round is not known."""
        history, wanted = self.history, curve.rounds
        if self.rounds > wanted:
            records = [record for record in history.records if record.round <= wanted]
            history = History(history.config | {"rounds": wanted}, records, template=history.template)
        return type(self)(curve, history, self.cohorts[:wanted])


class Training:
    """A run of ``curve``, an iterator over rounds; ``before``: a training of an equal curve, to continue from."""

    def __init__(self, curve: Curve, before: "Training | None" = None) -> None:
        self._simulation = curve.simulation()
        if before is not None:
            self._simulation.load_state_dict(before._simulation.compact_state())
        self.history = Line(curve, self._simulation.history, list(before.history.cohorts) if before else [])

    def __next__(self) -> Any:
        record = next(self._simulation)
        self.history.cohorts.append(np.unique(np.concatenate([np.empty(0, np.int64), *self._simulation.cohorts])))
        return record
