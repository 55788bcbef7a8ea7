"""Five faulty lines of the clinic as functions, so that a reader's lines can take their place.

Each of Patients 1, 2, 7, 8 and 10 is a right algorithm but for one line. :class:`Faulty` has these
five lines, and :func:`repaired` builds the algorithm around the lines of another class with the
same methods. A line that returns None is not written yet: the faulty one stays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.language import translator
from fedlab_core.server import Server
from fedlab_course.chapters.ch07_bug_clinic.bench import draw, end, start
from fedlab_course.chapters.ch07_bug_clinic.chart import chart
from fedlab_course.chapters.ch07_bug_clinic.examinations import (
    Examination,
    Findings,
    examine_all,
    found_by,
)
from fedlab_course.chapters.ch07_bug_clinic.patients import HEALTHY, PATIENTS, Patient, name_of
from fedlab_course.explore import ideas
from fedlab_course.explore.goals import Goal

_ = translator(__name__)
# Patient → the method that has its line.
METHODS = {1: "next_w", 2: "next_c", 7: "step", 8: "next_c_k", 10: "generator"}
SEEDS = (0, 1, 2)
# Clients of different sizes and numbers of steps, of which two of four take part.
_UNLIKE: dict[str, Any] = {
    "sizes": [1, 2, 3, 4],
    "batch_size": 1,
    "local_epochs": 2,
    "clients_per_round": 2,
    "rounds": 4,
}


class Faulty:
    """The five lines as the patients have them."""

    def next_w(self, y: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        """FedAvg's next w [P], from the models y [K, P] and the numbers of samples n [K]."""
        return y.mean(0)

    def next_c(self, c: torch.Tensor, change: torch.Tensor, N: int) -> torch.Tensor:
        """SCAFFOLD's next c [P], from the changes of the c_k in a cohort [K, P]."""
        return c + change.mean(0)

    def step(self, move: torch.Tensor, N: int, K: int) -> torch.Tensor:
        """FedNova's step of the server [P], from the weighted mean move of a cohort [P]."""
        return N / K * move

    def next_c_k(
        self,
        c_k: torch.Tensor,
        c: torch.Tensor,
        w: torch.Tensor,
        y: torch.Tensor,
        tau: torch.Tensor,
        eta: float,
    ) -> torch.Tensor:
        """SCAFFOLD's next c_k of a cohort [K, P], from its models y [K, P] and steps tau [K]."""
        return c_k - c + (w - y) / (tau.max() * eta)

    def generator(self, server: Server) -> np.random.Generator:
        """The generator that draws the cohort of a round."""
        return np.random.default_rng(server.round)


class _Lines:
    """The lines of a reader, and the faulty one where the reader's returns None."""

    def __init__(self, written: Any) -> None:
        self._written = written

    def __call__(self, name: str, *arguments: Any) -> Any:
        result = getattr(self._written, name)(*arguments)
        return getattr(Faulty(), name)(*arguments) if result is None else result


def _with_next_w(lines: _Lines) -> fl.Algorithm:
    class WeightedMean(fl.FedAvg):
        def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
            found: torch.Tensor = lines("next_w", updates.params, updates.num_samples)
            return found

    return WeightedMean()


def _with_next_c(lines: _Lines) -> fl.Algorithm:
    class SharedChange(fl.Scaffold):
        def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
            c = server.state["c"]
            before = server.state["c_clients"][updates.clients].clone()
            params = super().aggregate(server, updates)
            change = server.state["c_clients"][updates.clients] - before
            server.state["c"] = lines("next_c", c, change, server.num_clients)
            return params

    return SharedChange()


def _with_step(lines: _Lines) -> fl.Algorithm:
    class PlainStep(fl.FedNova):
        def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
            move = super().aggregate(server, updates) - server.params
            step: torch.Tensor = lines("step", move, server.num_clients, len(updates.clients))
            return server.params + step

    return PlainStep()


def _with_next_c_k(lines: _Lines) -> fl.Algorithm:
    class OwnSteps(fl.Scaffold):
        def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
            table = server.state["c_clients"]
            c = server.state["c"]
            before = table[updates.clients].clone()
            given = (before, c, server.params, updates.params, updates.num_steps, server.lr)
            after = lines("next_c_k", *given)
            table[updates.clients] = after
            server.state["c"] = c + (after - before).sum(0) / server.num_clients
            return updates.mean()

    return OwnSteps()


def _with_generator(lines: _Lines) -> fl.Algorithm:
    class SeededCohorts(fl.FedAvg):
        def cohorts(self, server: Server) -> Iterator[np.ndarray]:
            rng = lines("generator", server)
            yield np.sort(rng.choice(server.num_clients, server.clients_per_round, replace=False))

    return SeededCohorts()


_BUILT: dict[int, Callable[[_Lines], fl.Algorithm]] = {
    1: _with_next_w,
    2: _with_next_c,
    7: _with_step,
    8: _with_next_c_k,
    10: _with_generator,
}


def repaired(number: int, lines: Any) -> Patient:
    """The patient ``number`` with a line of ``lines`` in place of the faulty one.

    ``lines``: an object with the methods of :class:`Faulty`. Raises ``ValueError`` for a patient
    whose line is not among the five.
    """
    built = _BUILT[validation.choice("patient", number, _BUILT)](_Lines(lines))
    return Patient(name_of(number), PATIENTS[number].method, built)


def begun(lines: Any) -> bool:
    """Whether the class ``lines`` has a method that is not empty."""
    written = [getattr(lines, name).__code__.co_code for name in METHODS.values()]
    return any(code != _empty.__code__.co_code for code in written)


def _empty() -> None: ...


def ends(make: Any) -> dict[int, list[float]]:
    """Where Patients 1, 2, 7 and 8 end with the lines of ``make()``, under each of the seeds."""
    lines = make()
    return {number: _ends_of(repaired(number, lines)) for number in METHODS if number != 10}


def _ends_of(patient: Patient) -> list[float]:
    return [end(patient, *draw(seed, 4), **_UNLIKE, seed=seed) for seed in SEEDS]


def right_ends() -> dict[int, list[float]]:
    """Where they must end: where the healthy algorithms do."""
    return {
        number: _ends_of(HEALTHY[PATIENTS[number].method]) for number in METHODS if number != 10
    }


def cohorts(make: Any, seeds: Sequence[int] = SEEDS) -> list[list[list[int]]]:
    """The cohorts that Patient 10 draws with the line of ``make()``, for each seed and round."""
    patient = repaired(10, make())
    drawn = []
    for seed in seeds:
        simulation = start(
            patient, [1.0] * 20, [0.0] * 20, clients_per_round=5, rounds=4, seed=seed
        )
        drawn.append([next(iter(simulation.cohorts)).tolist() for _round in simulation])
    return drawn


def turning_green(
    examinations: Mapping[str, Examination],
    findings: Findings,
    lines: Any,
    seeds: Sequence[int],
) -> ideas.Idea:
    """The table of all examinations, with a slider that repairs one patient after another.

    ``findings``: what Patients 1 to 11 pass.
    ``lines``: the class with the reader's five lines, for Patients 1, 2, 7, 8 and 10.
    """
    mine = lines()
    fixed = examine_all(examinations, [repaired(number, mine) for number in METHODS], seeds)

    def state(value: float) -> Findings:
        """The findings after the first ``value`` repairs."""
        done = [name_of(number) for number in list(METHODS)[: int(value)]]
        return {
            name: row | {patient: fixed[name][patient] for patient in done}
            for name, row in findings.items()
        }

    def are_green(value: float) -> bool:
        """Whether the five that have a line pass everything."""
        five = {name_of(number) for number in METHODS}
        return not five & set[str]().union(*found_by(state(value)).values())

    def draw_state(value: float) -> go.Figure:
        table = state(value)
        failing = set[str]().union(*found_by(table).values())
        names = [str(number) for number in list(METHODS)[: int(value)]]
        done = ", ".join(names) or _("none")
        title = _("Repaired: {done}. Still failing: {number}")
        return chart(table, title=title.format(done=done, number=len(failing)))

    figures = {float(value): draw_state(value) for value in range(len(METHODS) + 1)}
    goal = Goal(_("turn five columns green"), are_green)
    return ideas.gallery(figures, _("repairs"), value=0.0, goal=goal)
