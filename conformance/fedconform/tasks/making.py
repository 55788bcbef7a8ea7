"""The settings of the suite, and how a task is made of one. The same numbers come every time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedconform.tasks.problem import OF_KIND, num_features, num_parameters
from fedconform.tasks.task import Task

KINDS = ("quadratic", "linear", "softmax")
_NUMBERS = (*KINDS, "slope", "batchnorm")  # the number of a kind is part of the seed


@dataclass(frozen=True)
class Setting:
    """``name``; ``sizes`` n_k; ``cohorts``.

    ``copies``: all samples of a client are equal, so that their order is free. ``batch_size`` None:
    all samples. ``rates``, ``work``: see :class:`Task`. ``kinds``: the kinds of problems that the
    setting has. ``asks``: the setting is for adapters that call this of the task. ``single``: all
    arrays are in single precision.
    """

    name: str
    sizes: tuple[int, ...]
    cohorts: tuple[tuple[int, ...], ...]
    copies: bool = False
    batch_size: int | None = None
    epochs: int = 3
    rates: tuple[float, ...] = ()
    work: tuple[tuple[int, ...], ...] = ()
    kinds: tuple[str, ...] = KINDS
    asks: str = ""
    single: bool = False

    @property
    def ordered(self) -> bool:
        return not self.copies and self.batch_size is not None and "slope" not in self.kinds


def in_copies(name: str, sizes: Any, cohorts: Any, **others: Any) -> Setting:
    """A setting with batches of two equal samples."""
    return Setting(name, sizes, cohorts, copies=True, batch_size=2, epochs=2, **others)


def in_order(name: str, sizes: Any, cohorts: Any) -> Setting:
    """A setting with batches of three different samples, and short ones of two and of one."""
    kinds = ("quadratic", "softmax")
    return Setting(name, sizes, cohorts, batch_size=3, epochs=2, kinds=kinds)


_ALL = ((0, 1, 2),) * 3
_ONE_KIND = ("softmax",)
_SOME = (1, 3, 6, 2, 4)
_PARTIAL = ((0, 1), (1, 3), (0, 2), (4, 1), (3, 2), (0, 4))
EQUAL = Setting("equal clients", (3, 3, 3), _ALL)
UNEQUAL = Setting("unequal n_k", (2, 3, 7), _ALL)
STEPS = in_copies("unequal steps", (1, 3, 6), _ALL, kinds=("quadratic", "softmax"))
PARTIAL = in_copies("partial participation", _SOME, _PARTIAL)
IN_ORDER = in_order("batches in order", (1, 4, 5, 3), ((0, 1, 2), (3, 2, 1), (0, 2, 3), (1, 3, 0)))
# With a loss that is linear in w the order of full batches is free.
ANY_ORDER = Setting(
    "batches in any order", (4, 2, 6), _ALL, batch_size=2, kinds=("slope",), asks="problem"
)
ANY_SIZE = in_copies(
    "cohorts of any size",
    _SOME,
    ((2, 0, 1), (2,), (1, 2), (4, 0, 3, 1), (0,), (3, 4)),
    kinds=("quadratic", "softmax"),
)
SCHEDULE = in_copies(
    "changing rate",
    _SOME,
    _PARTIAL[:4],
    rates=(0.12, 0.06, 0.04, 0.03),
    kinds=_ONE_KIND,
    asks="lr_of",
)
STRAGGLERS = in_copies(
    "stragglers",
    _SOME,
    _PARTIAL[:4],
    work=((2, 1), (2, 2), (1, 1), (1, 2)),
    kinds=_ONE_KIND,
    asks="epochs_of",
)
SINGLE = in_copies("single precision", _SOME, _PARTIAL[:3], kinds=_ONE_KIND, single=True)
BUFFERS = Setting(
    "batch normalisation",
    (4, 2, 6),
    ((0, 1), (2, 1), (0, 2)),
    batch_size=2,
    epochs=2,
    kinds=("batchnorm",),
    asks="problem",
)
SETTINGS = (
    EQUAL,
    UNEQUAL,
    STEPS,
    PARTIAL,
    IN_ORDER,
    ANY_SIZE,
    SCHEDULE,
    STRAGGLERS,
    SINGLE,
)


def make(algorithm: str, kind: str, setting: Setting, parameters: Mapping[str, Any]) -> Task:
    """The task of one kind in one setting; always the same numbers.

    The curvatures of "quadratic" lie between 0.5 and 3.
    """
    rng = np.random.default_rng([_NUMBERS.index(kind), len(setting.sizes), setting.copies])
    x = []
    y = []
    for client, n in enumerate(setting.sizes):
        inputs, targets = _samples(kind, client, 1 if setting.copies else n, rng)
        x.append(np.repeat(inputs, n // len(targets), axis=0))
        y.append(np.repeat(targets, n // len(targets), axis=0))
    options = dict(parameters)
    momentum = options.pop("local_momentum", 0.0)
    start = rng.normal(size=num_parameters(kind))
    if setting.single:
        x = [inputs.astype(np.float32) for inputs in x]
        y = [targets if kind == "softmax" else targets.astype(np.float32) for targets in y]
        start = start.astype(np.float32)
    return Task(
        algorithm=algorithm,
        kind=kind,
        setting=setting.name,
        x=tuple(x),
        y=tuple(y),
        start=start,
        cohorts=setting.cohorts,
        epochs=setting.epochs,
        batch_size=setting.batch_size,
        lr=setting.rates[0] if setting.rates else 0.1,
        local_momentum=momentum,
        parameters=options,
        ordered=setting.ordered,
        rates=setting.rates,
        work=setting.work,
    )


def _samples(
    kind: str, client: int, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """n samples of one client."""
    inputs = rng.normal(size=(n, num_features(kind)))
    if kind == "quadratic":
        inputs = rng.uniform(0.7, 1.7, size=(n, 1))
    if kind == "softmax":
        return inputs, (np.arange(n) + client) % OF_KIND[kind].outputs
    return inputs, rng.normal(client, 1.0, size=n)
