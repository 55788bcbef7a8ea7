"""Run an algorithm of a reader on quadratic clients, where its results are known in closed form.

Client k has the loss a_k/2 ‖w − b_k‖². With a number b_k the model has one parameter, with a pair
two, which do not influence each other; a_k may then be a pair, too. The exercises have the closed
forms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course import display
from fedlab_course.check.base import Formula, Hint
from fedlab_course.check.known_mistakes import explained
from fedlab_course.check.tools import array, close, require, run_with, shown

_ = translator(__name__)
START = 2.0
ROUNDS = 3
LR = 0.1
STEPS = 5
_NONE: Mapping[str, Any] = {}
Numbers = Sequence[float] | Sequence[Sequence[float]]  # a number per client, or a pair
Path = Sequence[float] | Sequence[Sequence[float]]


def _federation(a: Numbers, b: Numbers, sizes: int | Sequence[int]) -> fl.FederatedDataset:
    """Make clients with n_k equal samples √a_k, whose target is √a_k b_k.

    With pairs a_k they have n_k copies of two samples √(2 a_kd), one for each parameter, because a
    loss is a mean.
    """
    minima = np.asarray(b, dtype=float).reshape(len(a), -1)
    curvatures = np.asarray(a, dtype=float)
    clients = []
    for curvature, minimum, size in zip(
        curvatures, minima, np.broadcast_to(sizes, len(a)), strict=True
    ):
        if curvatures.ndim == 2:
            x = np.tile(np.diag(np.sqrt(2 * curvature)), (size, 1))
            clients.append((x, x @ minimum))
        else:
            x = np.full((size, 1), np.sqrt(curvature))
            clients.append((x, x * minimum))
    x, y = (np.concatenate(parts) for parts in zip(*clients, strict=True))
    return fl.FederatedDataset.from_clients(clients, (x, y), name="quadratics")


def start(
    algorithm: Any, a: Numbers, b: Numbers, changes: Mapping[str, Any] = _NONE
) -> fl.Simulation:
    """A simulation of three rounds from w = 2, with five full-batch steps of every client.

    A client has one sample, or ``changes["sizes"]`` copies of one, a number for all or one per
    client; all take part. ``changes``: other settings of :func:`fedlab_core.simulate`.
    """
    changes = dict(changes)
    fed = _federation(a, b, changes.pop("sizes", 1))
    model = fl.models.linear(fed, bias=False)
    torch.nn.init.constant_(next(model.parameters()), START)
    settings: dict[str, Any] = {"rounds": ROUNDS, "clients_per_round": len(a), "batch_size": None}
    settings |= {} if "local_epochs" in changes else {"local_steps": STEPS}
    settings |= {
        "lr": LR,
        "loss": "squared_error",
        "eval_every": 1000,
        "progress": False,
        **changes,
    }
    return fl.Simulation(fed, model, algorithm, **settings)


def path(
    make: Any,
    arguments: Sequence[Any],
    a: Sequence[float],
    b: Numbers,
    changes: Mapping[str, Any] = _NONE,
) -> list[Any]:
    """The parameters after each round of ``make(*arguments)``: a number, or a list of two; the
    others as in :func:`start`.
    """
    simulation = start(make(*arguments), a, b, changes)
    rounds = [simulation.state_dict()["params"].tolist() for _record in simulation]
    return [params if len(params) > 1 else params[0] for params in rounds]


def by_parameter(
    expected: Callable[[Sequence[float]], Sequence[float]], b: Sequence[Sequence[float]]
) -> list[list[float]]:
    """The path of two parameters, from the closed form ``expected`` of one: they do not influence
    each other.
    """
    return np.transpose([expected(column) for column in np.transpose(b)]).tolist()


def numbers_sent(
    make: Any, arguments: Sequence[Any], clients: int, changes: Mapping[str, Any] = _NONE
) -> list[float]:
    """How many numbers each client of ``make(*arguments)`` receives and sends in a round, divided
    by the number of parameters.
    """
    simulation = start(
        make(*arguments), [1.0] * clients, [[0.0, 1.0]] * clients, {**changes, "rounds": 1}
    )
    record = next(simulation)
    unit = 8 * 2 * len(simulation.cohorts[0])  # bytes of two numbers of float64 per client
    return [record.bytes_down / unit, record.bytes_up / unit]


def drawn(
    make: Any, arguments: Sequence[Any], clients: int, changes: Mapping[str, Any]
) -> list[list[list[int]]]:
    """The cohorts of each round of ``make(*arguments)`` on so many equal ``clients``.

    Only the first round trains: cohorts that do not depend on w need no training.
    """
    servers: list[Any] = []
    algorithm = make(*arguments)
    first = {**changes, "rounds": 1, "on_round": lambda record, server: servers.append(server)}
    next(start(algorithm, [1.0] * clients, [0.0] * clients, first))
    (server,) = servers
    every = []
    for number in range(1, changes.get("rounds", ROUNDS) + 1):
        server.round = number
        every.append([cohort.tolist() for cohort in server.cohorts_of(algorithm)])
    return every


def require_path(
    answer: Any,
    expected: Path,
    hint: str,
    arguments: Sequence[Any],
    a: Sequence[float],
    b: Numbers,
    changes: Mapping[str, Any] = _NONE,
) -> None:
    """Raise the ``hint``, with both paths, unless :func:`path` of ``answer`` over as many rounds is
    ``expected``.
    """
    rounds = {"rounds": len(expected)}
    wanted = np.asarray(expected)
    result = array(run_with(answer, path, arguments, a, b, {**changes, **rounds}), wanted.shape)
    require(close(result, wanted), by_round(hint, wanted, result))


def by_round(hint: str, wanted: np.ndarray, result: np.ndarray) -> str:
    """The ``hint`` of a path, with the path that is wanted and the one that came out."""
    paths = _("Round by round w must be {wanted}, and yours is {found}.")
    return display.sentences(hint, paths.format(wanted=shown(wanted), found=shown(result)))


@dataclass(frozen=True)
class PathCase:
    """A run of :func:`path`, the parameters that it must give, and the ``hint`` if it does not."""

    expected: Path
    hint: str
    arguments: Sequence[Any]
    a: Sequence[float]
    b: Numbers
    changes: Mapping[str, Any] = field(default_factory=dict)


def require_paths(answer: Any, cases: Sequence[PathCase], known: Formula) -> None:
    """Raise the hint of the first case that is not as expected, with the mistakes that give the
    results of all.
    """
    for case in cases:
        try:
            require_path(
                answer, case.expected, case.hint, case.arguments, case.a, case.b, case.changes
            )
        except Hint as hint:
            words = display.sentences(str(hint), _named(answer, cases, known))
            raise Hint(words.strip()) from None


def _named(answer: Any, cases: Sequence[PathCase], known: Formula) -> str:
    """Name the mistakes of the answer; "" if they are not known or one of the runs stops."""
    given = []
    results = []
    for case in cases:
        rounds = len(case.expected)
        given.append((case.arguments, case.a, case.b, {**case.changes, "rounds": rounds}))
        try:
            results.append(array(run_with(answer, path, *given[-1]), np.shape(case.expected)))
        except (
            Exception
        ):  # whatever the code of the student raises in a run that was not reached yet
            return ""
    return explained(known, given, results)
