"""The bench of the clinic: tiny problems on which an algorithm runs in milliseconds, and right
answers are known.

The problems are those of :mod:`fedlab_course.check.on_quadratics`: a client is a quadratic with one
parameter, f_k(w) = a_k/2 (w − b_k)², and as data it holds ``sizes[k]`` copies of a sample.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.chapters.ch07_bug_clinic.patients import HEALTHY, PATIENTS, Patient
from fedlab_course.check import on_quadratics

Numbers = Sequence[float] | np.ndarray
LR = on_quadratics.LR
ROUNDS = 30  # of the curve that must not show a bug


def draw(seed: int, num_clients: int) -> tuple[np.ndarray, np.ndarray]:
    """Curvatures in [1, 3] and optima around zero, [num_clients] each."""
    rng = np.random.default_rng(seed)
    return rng.uniform(1, 3, num_clients), rng.normal(size=num_clients)


def start(
    patient: Patient, a: Numbers, b: Numbers, sizes: int | Sequence[int] = 1, **changes: Any
) -> fl.Simulation:
    """The patient's simulation on these clients, from w = 2; by default all take part and make 5
    steps, three times.

    ``changes``: other settings of :func:`fedlab_core.simulate`.
    """
    return on_quadratics.start(patient.algorithm, list(a), list(b), {"sizes": sizes, **changes})


def end(
    patient: Patient, a: Numbers, b: Numbers, sizes: int | Sequence[int] = 1, **changes: Any
) -> float:
    """The parameter w after the last round; NaN, which equals nothing, if the patient diverged. See
    :func:`start`.
    """
    simulation = start(patient, a, b, sizes, **changes)
    try:
        simulation.run()
    except fl.Diverged:
        return float("nan")
    return simulation.state_dict()["params"].item()


def same(u: float, v: float) -> bool:
    """Whether two numbers agree, up to rounding."""
    return bool(abs(u - v) < 1e-8)


class Disguised(fl.Algorithm):
    """Behaves as another algorithm, and has neither its name nor its class."""

    def __init__(self, inside: fl.Algorithm) -> None:
        self.inside = inside

    def describe(self) -> dict[str, Any]:
        return {"name": "FedAvg"}

    def setup(self, server: Server) -> None:
        self.inside.setup(server)

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
        return self.inside.cohorts(server)

    def correction(self, server: Server, client: int) -> fl.Correction:
        return self.inside.correction(server, client)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return self.inside.aggregate(server, updates)


class PlainMean(fl.Algorithm):
    """The bug of Patient 1 under no name."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.mean()


class Standing(fl.Algorithm):
    """A server that throws away what the clients send."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return server.params


# For exercises: patients whose names say the opposite of what they compute, or nothing.
DISGUISED = (
    Patient("Patient 21", "FedAvg", Disguised(fl.FedAvg())),
    Patient("FedAvg, a copy", "FedAvg", PlainMean()),
    Patient("a server that stands still", "FedAvg", Standing()),
)
# All that an exercise can give to an answer. The process of the answer may run in another language,
# where patients have other names, so that the place in this tuple is sent.
EVERYBODY = (*HEALTHY.values(), *PATIENTS.values(), *DISGUISED)


@dataclass(frozen=True)
class Trial:
    """What a class with a bug and a method ``passes(patient, seed)`` does.

    ``healthy`` and ``sick``: what it says of FedAvg and of itself, under five seeds; True, False,
    or in words what else it returned. ``hidden``: whether its bug makes no difference here, for
    each of three seeds. ``excess``: how far its losses end above FedAvg's if all take part and are
    alike, as a share of the way that FedAvg goes; NaN if it diverges. ``ignores``: whether it ends
    at the same w whatever the clients have. ``copies``: the patient that it is a copy of, or 0.
    """

    healthy: list[Any]
    sick: list[Any]
    hidden: list[bool]
    excess: float
    ignores: bool
    copies: int


MANY = 8  # clients, more than any examination of the clinic lets train together
# Where a bug of the server may show: sizes, cohorts, and numbers of steps that differ.
_SHOWS: tuple[tuple[int, dict[str, Any]], ...] = (
    (3, {"sizes": [1, 2, 4]}),
    (3, {"clients_per_round": 2}),
    (3, {"sizes": [1, 2, 4], "batch_size": 1, "local_epochs": 2}),
    (3, {"sizes": [1, 2, 4], "clients_per_round": 2, "rounds": 6}),
    (MANY, {"sizes": list(range(1, MANY + 1))}),
)


def trial(make: Any) -> dict[str, Any]:
    """The fields of :class:`Trial` for the class ``make``.

    The algorithms that its examination sees are :class:`Disguised`, and all are called FedAvg.
    """
    test = make()
    healthy = Patient("FedAvg", "FedAvg", Disguised(fl.FedAvg()))
    sick = Patient("FedAvg", "FedAvg", Disguised(make()))
    mine = _ends(sick)
    right = _ends(healthy)
    hidden = [
        all(same(u, v) for u, v in zip(*pair, strict=True))
        for pair in zip(mine, right, strict=True)
    ]
    known = {number: _ends(PATIENTS[number]) for number in (1, 5)}
    problems = [draw(seed, MANY) for seed in range(3)]
    last = [end(sick, *problem, rounds=ROUNDS) for problem in problems]
    best = [end(healthy, *problem, rounds=ROUNDS) for problem in problems]
    found = Trial(
        healthy=[_plain(test.passes(healthy, seed)) for seed in range(5)],
        sick=[_plain(test.passes(sick, seed)) for seed in range(5)],
        hidden=hidden,
        excess=_excess(problems, last, best),
        ignores=all(same(w, last[0]) for w in last),
        copies=next((number for number, ends in known.items() if _alike(mine, ends)), 0),
    )
    return vars(found)


def _ends(patient: Patient) -> list[list[float]]:
    """Where a patient ends, for each of three seeds and each setting of ``_SHOWS``."""
    return [
        [end(patient, *draw(seed, n), **work, seed=seed) for n, work in _SHOWS] for seed in range(3)
    ]


def _alike(mine: list[list[float]], others: list[list[float]]) -> bool:
    return all(
        same(u, v) for pair in zip(mine, others, strict=True) for u, v in zip(*pair, strict=True)
    )


def _excess(problems: Sequence[Any], last: Sequence[float], best: Sequence[float]) -> float:
    """The losses at ``last`` above those at ``best``, over what lies between w = 2 and ``best``."""
    above = 0.0
    way = 0.0
    for (a, b), mine, right in zip(problems, last, best, strict=True):
        reached = _loss(a, b, right)
        above += _loss(a, b, mine) - reached
        way += _loss(a, b, on_quadratics.START) - reached
    return above / way


def _loss(a: np.ndarray, b: np.ndarray, w: float) -> float:
    return float(np.mean(a / 2 * (w - b) ** 2))


def _plain(value: Any) -> Any:
    """A truth value as Python's own, and anything else in words."""
    return bool(value) if isinstance(value, bool | np.bool_) else repr(value)
