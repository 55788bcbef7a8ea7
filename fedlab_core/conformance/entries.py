"""The list of what is checked: algorithm, parameters, formula, known mistakes, settings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fedlab_core.conformance import averaging, controls, penalties, servers
from fedlab_core.conformance.averaging import Answer
from fedlab_core.conformance.local import Wrong
from fedlab_core.conformance.task import KINDS, SETTINGS, Setting, Task, make

_STRATA = Setting("stratified cohorts", (1, 3, 6, 2, 4, 5), ((0, 4), (3, 5), (1, 5), (0, 4)), copies=True)


@dataclass(frozen=True)
class Entry:
    """An algorithm with parameters. ``formula``: task and mistakes → what is right after every round."""

    algorithm: str
    parameters: Mapping[str, Any]
    formula: Callable[[Task, Wrong], Iterator[Answer]]
    mistakes: tuple[str, ...]
    settings: tuple[Setting, ...] = SETTINGS

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.parameters.items() if name != "strata")
        return f"{self.algorithm}({shown})"

    def tasks(self) -> list[Task]:
        """The tasks of this entry; "linear" only in the last setting, because it adds little to "softmax"."""
        pairs = [(kind, setting) for setting in self.settings for kind in KINDS]
        pairs = [pair for pair in pairs if pair[0] != "linear" or pair[1] is self.settings[-1]]
        return [make(self.algorithm, kind, setting, self.parameters) for kind, setting in pairs]

    def answer(self, task: Task, wrong: Wrong = ()) -> list[Answer]:
        """The right answer after every round, or that with the mistakes ``wrong``."""
        return list(self.formula(task, wrong))


_ADAPTIVE = {"server_lr": 0.2, "beta1": 0.5, "beta2": 0.8, "tau": 0.1}
ENTRIES = (
    Entry("FedAvg", {}, averaging.fedavg, averaging.FEDAVG),
    Entry("FedAvg", {"local_momentum": 0.5}, averaging.fedavg, averaging.FEDAVG),
    Entry("FedProx", {"mu": 0.5}, averaging.fedprox, averaging.FEDPROX),
    Entry("Scaffold", {"option": 2, "server_lr": 1.0}, controls.scaffold, controls.SCAFFOLD[2]),
    Entry("Scaffold", {"option": 2, "server_lr": 0.5}, controls.scaffold, controls.SCAFFOLD[2]),
    Entry("Scaffold", {"option": 1, "server_lr": 1.0}, controls.scaffold, controls.SCAFFOLD[1]),
    Entry("FedNova", {"mu": 0.0}, averaging.fednova, averaging.FEDNOVA),
    Entry("FedNova", {"mu": 0.5}, averaging.fednova, averaging.FEDNOVA),
    Entry("FedNova", {"mu": 0.0, "local_momentum": 0.5}, averaging.fednova, averaging.FEDNOVA),
    Entry("FedAvgM", {"beta": 0.5, "server_lr": 0.8}, servers.fedavgm, servers.FEDAVGM),
    Entry("FedAdam", _ADAPTIVE, servers.fedadam, servers.FEDADAM),
    Entry("FedYogi", _ADAPTIVE, servers.fedadam, servers.FEDYOGI),
    Entry("FedDyn", {"mu": 0.5}, controls.feddyn, controls.FEDDYN),
    Entry("QFedAvg", {"q": 2.0}, servers.qfedavg, servers.QFEDAVG),
    Entry("FedCurv", {"strength": 0.2}, penalties.fedcurv, penalties.FEDCURV),
    Entry("Stratified", {"strata": (0, 0, 0, 0, 1, 1)}, averaging.stratified, averaging.STRATIFIED, (_STRATA,)),
    Entry("MAS", {}, penalties.mas, penalties.MAS, SETTINGS[:2]),
)
