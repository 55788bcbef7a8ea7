"""The list of what is checked: algorithm, parameters, formula, settings."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedconform.formulas import averaging, feddyn, penalties, scaffold, servers
from fedconform.formulas.local_training import Answer, Formula
from fedconform.mistakes.known import mistakes_in
from fedconform.mistakes.replacing import Mistake, with_mistakes
from fedconform.tasks import making
from fedconform.tasks.making import KINDS, SETTINGS, Setting, in_copies, in_order
from fedconform.tasks.task import Task

_HIDDEN = ("strata", "num_tiers", "measured_by")  # the same in all entries of an algorithm
_DRAWN = ((0, 4), (3, 5), (1, 5), (0, 4))
_STRATA = (
    in_copies("stratified cohorts", (1, 3, 6, 2, 4, 5), _DRAWN),
    in_order("batches in order", (1, 4, 5, 3, 2, 4), _DRAWN),
)
_TIERS = (
    Setting("all of each tier", (2, 3, 7, 4), ((0, 2), (1, 3)) * 3),
    in_copies(
        "part of each tier",
        (1, 3, 6, 2, 4, 5),
        ((0, 4), (1, 5), (2, 4), (3, 1), (0, 2), (5, 3)),
    ),
    in_order("batches in order", (1, 4, 5, 3, 2, 6), ((2, 4, 0), (3, 5, 1)) * 3),
)
_VISITS = {"num_tiers": 2, "measured_by": (2, 1, 0, 3, 0, 1)}
# of a second set of parameters
_FEW = (making.PARTIAL, making.IN_ORDER, making.STRAGGLERS)


@dataclass(frozen=True)
class Entry:
    """An algorithm with parameters, and its ``formula``."""

    algorithm: str
    parameters: Mapping[str, Any]
    formula: type[Formula]
    settings: tuple[Setting, ...] = SETTINGS
    kinds: tuple[str, ...] = (*KINDS, "slope", "batchnorm")

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name}={value}" for name, value in self.parameters.items() if name not in _HIDDEN
        )
        return f"{self.algorithm}({shown})"

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The known mistakes that the formula can make."""
        return mistakes_in(self.formula)

    def tasks(self) -> list[tuple[Setting, Task]]:
        """The tasks of this entry, each with its setting; "linear" only where samples are copies,
        because it adds little to "softmax".
        """
        pairs = [(setting, kind) for setting in self.settings for kind in setting.kinds]
        chosen = [
            (setting, kind)
            for setting, kind in pairs
            if kind in self.kinds and (kind != "linear" or setting.copies)
        ]
        return [
            (setting, making.make(self.algorithm, kind, setting, self.parameters))
            for setting, kind in chosen
        ]

    def rounds(self, task: Task, wrong: Collection[str] = ()) -> Iterator[Answer]:
        """The right answers, round by round, or those with the mistakes ``wrong``."""
        return with_mistakes(self.formula, wrong)(task).rounds()

    def answer(self, task: Task, wrong: Collection[str] = ()) -> list[Answer]:
        """All right answers, or those with the mistakes ``wrong``."""
        with np.errstate(all="ignore"):
            return list(self.rounds(task, wrong))


# the softmax of a single output is 1, and its importance 0
_OF_OUTPUT = {"logits": KINDS, "softmax": ("softmax",)}


def _fedmas(**parameters: Any) -> Entry:
    """FedMas with its defaults where ``parameters`` do not name a step or an output."""
    output = parameters.get("output", "logits")
    return Entry("FedMas", parameters | _VISITS, penalties.FedMas, _TIERS, _OF_OUTPUT[output])


_ADAPTIVE = {"server_lr": 0.2, "beta1": 0.5, "beta2": 0.8, "tau": 0.1}
_ADAPTIVE_2 = {"server_lr": 0.3, "beta1": 0.8, "beta2": 0.9, "tau": 0.01}
_STEPS = (*SETTINGS, making.ANY_ORDER)
ENTRIES = (
    Entry("FedAvg", {}, averaging.BatchNorm, (*_STEPS, making.BUFFERS)),
    Entry("FedAvg", {"local_momentum": 0.5}, averaging.FedAvg),
    Entry("FedAvg", {"local_momentum": 0.8}, averaging.FedAvg, _FEW),
    Entry("FedProx", {"mu": 0.5}, averaging.FedProx),
    Entry("FedProx", {"mu": 1.3}, averaging.FedProx, _FEW),
    Entry("Scaffold", {"option": 2, "server_lr": 1.0}, scaffold.Scaffold, _STEPS),
    Entry("Scaffold", {"option": 2, "server_lr": 0.5}, scaffold.Scaffold),
    Entry("Scaffold", {"option": 2, "server_lr": 0.7}, scaffold.Scaffold, _FEW),
    Entry("Scaffold", {"option": 1, "server_lr": 1.0}, scaffold.Scaffold),
    Entry("FedNova", {"mu": 0.0}, averaging.FedNova, _STEPS),
    Entry("FedNova", {"mu": 0.5}, averaging.FedNova),
    Entry("FedNova", {"mu": 1.3}, averaging.FedNova, _FEW),
    Entry("FedNova", {"mu": 0.0, "local_momentum": 0.5}, averaging.FedNova),
    Entry("FedNova", {"mu": 0.0, "local_momentum": 0.8}, averaging.FedNova, _FEW),
    Entry("FedAvgM", {"beta": 0.5, "server_lr": 0.8}, servers.FedAvgM),
    Entry("FedAvgM", {"beta": 0.9, "server_lr": 1.0}, servers.FedAvgM, _FEW),
    Entry("FedAdam", _ADAPTIVE, servers.FedAdam),
    Entry("FedAdam", _ADAPTIVE_2, servers.FedAdam, _FEW),
    Entry("FedYogi", _ADAPTIVE, servers.FedYogi),
    Entry("FedYogi", _ADAPTIVE_2, servers.FedYogi, _FEW),
    Entry("FedAdagrad", {"server_lr": 0.2, "beta1": 0.3, "tau": 0.02}, servers.FedAdagrad),
    Entry("FedDyn", {"mu": 0.5}, feddyn.FedDyn),
    Entry("FedDyn", {"mu": 1.3}, feddyn.FedDyn, _FEW),
    Entry("QFedAvg", {"q": 2.0}, servers.QFedAvg),
    Entry("QFedAvg", {"q": 1.5}, servers.QFedAvg, _FEW),
    Entry("FedCurv", {"strength": 0.2}, penalties.FedCurv),
    Entry("FedCurv", {"strength": 0.2, "penalty_step": "implicit"}, penalties.FedCurv, _FEW),
    _fedmas(strength=0.05),
    _fedmas(strength=0.5, penalty_step="implicit"),
    _fedmas(strength=2.0, penalty_step="implicit", output="softmax"),
    Entry("Stratified", {"strata": (0, 0, 0, 0, 1, 1)}, averaging.Stratified, _STRATA),
    Entry("MAS", {}, penalties.Importance, SETTINGS[:2]),
    Entry("MAS", {"output": "softmax"}, penalties.Importance, SETTINGS[:2], ("softmax",)),
)
