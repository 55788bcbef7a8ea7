"""What is known of the rounds of a run: for the projector, as plain numbers."""

import math

from fedlab_core.aliases import Config
from fedlab_core.history import History
from fedlab_course.classroom.protocol import Packet, Refused
from fedlab_course.classroom.rounds import ClassRun, RoundEnd
from fedlab_course.classroom.seats import Seat


def _finite(value: float) -> float | None:
    """A number as JSON has it: None if it is not finite."""
    return value if math.isfinite(value) else None


class ScoreBoard:
    """The rounds so far, and counts of the newest round that phones have sent.

    ``rounds``: a dictionary a round. Its "held" has the sums of hits and held-back drawings over
    all clients that have sent theirs.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.rounds: list[Config] = []
        self.clients: dict[int, Config] = {}  # client of the run → what its tile shows
        self.seats: dict[int, int] = {}  # number of a seat → client of the run
        self._scored: set[int] = set()  # seats that have sent counts of the newest round

    def add(self, end: RoundEnd, run: ClassRun) -> None:
        """Add a round. Phones send their counts later."""
        record = end.record
        self.seats = {seat.number: client for client, seat in enumerate(run.phones.members)}
        sampled = {client for cohort in end.cohorts for client in cohort}
        hits = sum(score[2] for score in end.scores.values())
        held = sum(score[3] for score in end.scores.values())
        self._scored = set()
        self.rounds.append(
            _row(record.round, record.test_accuracy, record.drift)
            | {
                "loss": _finite(record.train_loss),
                "up": record.bytes_up,
                "down": record.bytes_down,
                "seconds": record.seconds,
                "hits": hits,
                "held": held,
                "alone": sum(end.alone.values()) / max(1, len(end.alone)),
            }
        )
        for client in range(run.phones.num_clients):
            tile = self.clients.setdefault(client, {"accuracy": None})
            tile["sampled"] = client in sampled
            tile["drift"] = _finite(end.drift.get(client, math.nan))
            tile["alone"] = end.alone.get(client)
            tile["cluster"] = None if end.clusters is None else end.clusters[client]
            if client in end.scores:
                right, samples, *_ = end.scores[client]
                tile["accuracy"] = right / samples

    def take(self, seat: Seat, packet: Packet, run: int) -> None:
        """Take the counts of a phone for the newest round; a second time, or of another round, they
        are ignored.
        """
        values = packet.values
        if values["hits"] > values["held"] or values["right"] > values["samples"]:
            raise Refused("wrong count")
        newest = self.rounds[-1]["round"] if self.rounds else -1
        is_newest = (values["run"], values["round"]) == (run, newest)
        if not is_newest or seat.number in self._scored:
            return
        self._scored.add(seat.number)
        seat.right = values["right"]
        seat.hits = values["hits"]
        self.rounds[-1]["hits"] += values["hits"]
        self.rounds[-1]["held"] += values["held"]
        client = self.seats.get(seat.number)
        if client is not None and values["samples"]:
            self.clients[client]["accuracy"] = values["right"] / values["samples"]

    def restore(self, history: History) -> None:
        """Take the rounds of a run that goes on; the counts of its phones are lost."""
        for record in history.records:
            row = _row(record.round, record.test_accuracy, record.drift)
            more = {
                "loss": _finite(record.train_loss),
                "seconds": record.seconds,
                "hits": 0,
                "held": 0,
            }
            self.rounds.append(row | more | {"up": record.bytes_up, "down": record.bytes_down})


def _row(number: int, accuracy: float, drift: float) -> Config:
    return {"round": number, "accuracy": _finite(accuracy), "drift": _finite(drift)}
