"""Run an algorithm of a reader on quadratic clients, where its results are known in closed form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.check.base import Formula, Hint
from fedlab_course.check.known_mistakes import explained
from fedlab_course.check.tools import array, beside, close, require, shown

START, ROUNDS, LR, STEPS = 2.0, 3, 0.1, 5
_NONE: Mapping[str, Any] = {}


def start(algorithm: Any, a: Sequence[float], b: Sequence[float], changes: Mapping[str, Any] = _NONE) -> fl.Simulation:
    """A simulation of three rounds from w = 2, with five full-batch steps of every client.

    Client k has the loss a_k/2 (w − b_k)² and one sample, or ``changes["sizes"][k]`` copies of one; all take part.
    ``changes``: other settings of :func:`fedlab_core.simulate`.
    """
    changes = dict(changes)
    fed = fl.synthetic.quadratics(list(a), list(b), changes.pop("sizes", 1))
    model = fl.models.linear(fed, bias=False)
    torch.nn.init.constant_(next(model.parameters()), START)
    settings: dict[str, Any] = {"rounds": ROUNDS, "clients_per_round": len(a), "batch_size": None}
    settings |= {} if "local_epochs" in changes else {"local_steps": STEPS}
    settings |= {"lr": LR, "loss": "squared_error", "eval_every": 1000, "progress": False, **changes}
    return fl.Simulation(fed, model, algorithm, **settings)


def path(
    make: Any, arguments: Sequence[Any], a: Sequence[float], b: Sequence[float], changes: Mapping[str, Any] = _NONE
) -> list[float]:
    """The parameter w after each round of ``make(*arguments)``; the others as in :func:`start`."""
    simulation = start(make(*arguments), a, b, changes)
    return [simulation.state_dict()["params"].item() for _ in simulation]


def drawn(make: Any, arguments: Sequence[Any], clients: int, changes: Mapping[str, Any]) -> list[list[list[int]]]:
    """The cohorts of each round of ``make(*arguments)`` on so many equal ``clients``."""
    simulation = start(make(*arguments), [1.0] * clients, [0.0] * clients, changes)
    return [[np.asarray(one).tolist() for one in simulation.cohorts] for _ in simulation]


def require_path(
    answer: Any,
    expected: Sequence[float],
    hint: str,
    arguments: Sequence[Any],
    a: Sequence[float],
    b: Sequence[float],
    changes: Mapping[str, Any] = _NONE,
) -> None:
    """Raise the ``hint``, with both paths, unless :func:`path` of ``answer`` over as many rounds is ``expected``."""
    rounds = {"rounds": len(expected)}
    found = array(beside(answer, path, arguments, a, b, {**changes, **rounds}), (len(expected),))
    wanted = np.asarray(expected)
    words = f"{hint} Round by round w must be {shown(wanted)}, and yours is {shown(found)}."
    require(close(found, wanted), words)


@dataclass(frozen=True)
class PathCase:
    """A run of :func:`path`, the parameters that it must give, and the ``hint`` if it does not."""

    expected: Sequence[float]
    hint: str
    arguments: Sequence[Any]
    a: Sequence[float]
    b: Sequence[float]
    changes: Mapping[str, Any] = field(default_factory=dict)


def require_paths(answer: Any, cases: Sequence[PathCase], known: Formula) -> None:
    """Raise the hint of the first case that is not as expected, with the mistakes that give the results of all."""
    for case in cases:
        try:
            require_path(answer, case.expected, case.hint, case.arguments, case.a, case.b, case.changes)
        except Hint as hint:
            raise Hint(f"{hint} {_named(answer, cases, known)}".strip()) from None


def _named(answer: Any, cases: Sequence[PathCase], known: Formula) -> str:
    """Name the mistakes of the answer; "" if they are not known or one of the runs stops."""
    given, found = [], []
    for case in cases:
        rounds = len(case.expected)
        given.append((case.arguments, case.a, case.b, {**case.changes, "rounds": rounds}))
        try:
            found.append(array(beside(answer, path, *given[-1]), (rounds,)))
        except Exception:  # whatever the code of the student raises in a run that was not reached yet
            return ""
    return explained(known, given, found)
