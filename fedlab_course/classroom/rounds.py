"""A run of the class: a thread that trains round after round, and can rest."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from fedlab_core.history import RoundRecord
from fedlab_core.remote import Client, ClientFailed, RemoteSimulation
from fedlab_core.server import Server
from fedlab_core.simulation import Diverged
from fedlab_course.classroom import virtual
from fedlab_course.classroom.options import ClassOptions
from fedlab_course.classroom.phones import Phones, Stopped

TRIES = 3  # of a round, before the run rests
PATIENCE = 20.0  # seconds that a resumed run waits for all its phones


class RoundEnd(NamedTuple):
    """What the pages show of a round: its record and cohorts; ‖y_k − w‖ of its clients, and the
    accuracy of y_k on the digits' test set; clusters [N] or None; of each virtual client the right
    and all training samples, and the right and all held-back ones; and w.
    """

    record: RoundRecord
    cohorts: list[list[int]]
    drift: dict[int, float]
    alone: dict[int, float]
    clusters: list[int] | None
    scores: dict[int, tuple[int, int, int, int]]
    params: np.ndarray


class Reports(NamedTuple):
    """What the thread calls in the loop: after a round, for trouble, and at the end."""

    ended_round: Callable[[RoundEnd], None]
    trouble: Callable[[str], None]
    finished: Callable[[], None]


class ClassRun:
    """Trains the ``phones`` by ``options``. ``held``: the held-back samples of virtual clients.

    ``checkpoint``: the file from which the run goes on; ``history``: the file of the result.
    """

    def __init__(
        self,
        phones: Phones,
        options: ClassOptions,
        held: list[tuple[Tensor, Tensor]],
        reports: Reports,
        checkpoint: Path | None,
        history: Path | None,
    ) -> None:
        self.phones = phones
        self.options = options
        self._held = held
        self._reports = reports
        self._history = history
        settings = options.settings(
            phones.num_clients, checkpoint=checkpoint, on_round=self._note_clusters
        )
        self._clusters: list[int] | None = None
        self._tester = Client(0, virtual.test_samples(), virtual.model(0), "cross_entropy")
        algorithm = options.make_algorithm()
        model = virtual.model(options.seed)
        test = virtual.test_samples()
        self.simulation = RemoteSimulation(phones, model, algorithm, settings, test)
        self._going = threading.Event()
        self._going.set()
        self._thread = threading.Thread(target=self._work, name="run of the class", daemon=True)

    @property
    def is_paused(self) -> bool:
        return not self._going.is_set()

    def start(self) -> None:
        self._thread.start()

    def pause(self) -> None:
        """Rest after this round."""
        self._going.clear()

    def resume(self) -> None:
        self._going.set()

    async def stop(self) -> None:
        """End the run, and wait until its thread has ended."""
        self.phones.stop()
        self._going.set()
        while self._thread.is_alive():
            await asyncio.sleep(0.01)

    def _note_clusters(self, record: RoundRecord, server: Server) -> None:
        labels = server.state.get("clusters")
        self._clusters = None if labels is None else labels.tolist()

    def _report(self, report: Callable[..., None], *values: Any) -> None:
        if not self.phones.stopped.is_set():
            self.phones.loop.call_soon_threadsafe(report, *values)

    def _work(self) -> None:
        tries = 0
        try:
            self._rest(PATIENCE if self.simulation.round else 0)
            while self.simulation.round < self.options.rounds:
                try:
                    self._rounds()
                except (ClientFailed, ValueError) as error:
                    tries += 1
                    self._report(self._reports.trouble, str(error))
                    if tries % TRIES == 0:
                        self._going.clear()
                    self._rest()
        except Stopped:
            return
        except Diverged as error:
            self._report(self._reports.trouble, str(error))
        self._report(self._reports.finished)

    def _rounds(self) -> None:
        for record in self.simulation:
            if self._history is not None:
                self.simulation.history.save(self._history)
            self._report(self._reports.ended_round, self._end(record))
            self._rest()

    def _rest(self, patience: float = 0.0) -> None:
        """Wait while the run is paused, or while no client is there; up to ``patience`` seconds
        while a client is missing.
        """
        until = time.monotonic() + patience
        while True:
            is_going = self._going.wait(0.1)
            present = self.phones.present()
            if is_going and (present.all() or (present.any() and time.monotonic() > until)):
                return
            time.sleep(0.02)

    def _end(self, record: RoundRecord) -> RoundEnd:
        simulation = self.simulation
        drift = {}
        alone = {}
        for client, (w, y) in self.phones.trained.items():
            drift[client] = float(torch.linalg.vector_norm(y - w))
            right, number = hits(self._tester, y, virtual.test_samples())
            alone[client] = right / number
        self.phones.trained = {}
        params = simulation.params
        return RoundEnd(
            record,
            [cohort.tolist() for cohort in simulation.cohorts],
            drift,
            alone,
            self._clusters,
            self._scores(params),
            params.numpy().copy(),
        )

    def _scores(self, params: Tensor) -> dict[int, tuple[int, int, int, int]]:
        """Client → right and all training samples, right and all held-back ones."""
        scores = {}
        first = len(self.phones.members)
        pairs = zip(self.phones.virtual, self._held, strict=True)
        for client, (own, held) in enumerate(pairs, start=first):
            trained = own.engine.x, own.engine.y
            scores[client] = (*hits(own, params, trained), *hits(own, params, held))
        return scores


def hits(client: Client, params: Tensor, samples: tuple[Tensor, Tensor]) -> tuple[int, int]:
    """How many samples ``params`` get right, and how many there are."""
    x, y = samples
    if not len(y):
        return 0, 0
    with torch.no_grad():
        output = client.engine.model.output(params, x)
    return int((output.argmax(1) == y).sum()), len(y)
