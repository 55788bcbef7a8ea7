"""A run as an explorer trains it: it can go on to more rounds, and it knows who trained in which."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedlab_core.clients.table import ClientTable
from fedlab_core.history import History
from fedlab_core.simulation import Simulation
from fedlab_course.explorer.choices import Curve


@dataclass(frozen=True)
class Recorded:
    """``history`` of a run, and the ``cohorts`` of its rounds, int64 arrays of clients in increasing order."""

    history: History
    cohorts: list[np.ndarray]


class Training:
    """A run of ``curve``, an iterator over rounds. ``before``: the same run to another number of rounds, to go on from.

    ``history``: what is recorded of it, :class:`Recorded`.
    """

    def __init__(self, curve: Curve, before: "Training | None" = None) -> None:
        self._simulation: Simulation | None = curve.simulation()
        self._rounds = curve.rounds
        self._end: dict[str, Any] = {}
        if before is not None:
            self._simulation.load_state_dict(before.state)
        cohorts = [] if before is None else list(before.history.cohorts)
        self.history: Recorded = Recorded(self._simulation.history, cohorts)

    def __next__(self) -> Any:
        if self._simulation is None:
            raise StopIteration
        record = next(self._simulation)
        self.history.cohorts.append(np.unique(np.concatenate([np.empty(0, np.int64), *self._simulation.cohorts])))
        if self._simulation.round == self._rounds:  # all that is needed to go on, without the buffers of the engine
            self._end, self._simulation = self.state, None
        return record

    @property
    def state(self) -> dict[str, Any]:
        """What another simulation needs to go on from here."""
        return self._end if self._simulation is None else self._simulation.compact_state()

    @property
    def nbytes(self) -> int:
        """About what the state takes in memory."""
        state = self.state
        params = state["params"].nbytes
        tables = [value for value in state["algorithm"].values() if isinstance(value, ClientTable)]
        tensors = sum(getattr(value, "nbytes", 0) for value in state["algorithm"].values())
        return params * (1 + sum(table.num_rows_in_memory for table in tables)) + tensors
