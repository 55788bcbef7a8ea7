"""What the lecturer sets: the algorithm, its work, the task and the deadline."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import fedlab_core as fl
from fedlab_core.algorithms import Algorithm
from fedlab_core.aliases import Config, Given
from fedlab_core.settings import Settings, from_keywords
from fedlab_course.classroom.assignment import MODES

MOST_VIRTUAL = 100
ALGORITHMS: dict[str, Callable[["ClassOptions"], Algorithm]] = {
    "fedavg": lambda _: fl.FedAvg(),
    "fedprox": lambda options: fl.FedProx(mu=options.mu),
    "scaffold": lambda _: fl.Scaffold(),
    "fednova": lambda _: fl.FedNova(),
    "fedsso": lambda _: fl.FedSSO(),
    "fedmas": lambda options: fl.FedMas(strength=options.strength, penalty_step="implicit"),
}
# Number → the smallest and the largest value.
BOUNDS: dict[str, tuple[float, float]] = {
    "mu": (0, 10),
    "strength": (0, 10),
    "lr": (0.001, 2),
    "epochs": (1, 50),
    "cohort": (1, 200),
    "batch": (1, 200),
    "rounds": (1, 200),
    "deadline": (1, 120),
    "virtual": (0, MOST_VIRTUAL),
    "seed": (0, 1_000_000),
}
CHOICES = {"algorithm": tuple(ALGORITHMS), "mode": tuple(MODES)}


@dataclass(frozen=True)
class ClassOptions:
    """``mode``: the labels that a phone draws; ``cohort`` K; ``epochs`` E; ``batch`` B; ``lr`` η;
    ``deadline`` of a round in seconds; ``virtual``: how many clients have parts of the digits.
    """

    algorithm: str = "fedavg"
    mode: str = "all"
    lr: float = 0.1
    epochs: int = 5
    cohort: int = 10
    batch: int = 5
    rounds: int = 20
    mu: float = 0.1
    strength: float = 0.1
    deadline: float = 15.0
    virtual: int = 0
    seed: int = 0

    def changed(self, given: Given) -> "ClassOptions":
        """These options with some others. Raises ``ValueError`` for a name or a value that is not
        offered.
        """
        kinds = {declared.name: declared.type for declared in fields(self)}
        checked: dict[str, Any] = {}
        for name, value in given.items():
            if name not in kinds:
                raise ValueError(f"{name}: is not a setting of the class")
            checked[name] = _checked(name, value, is_whole=kinds[name] is int)
        return replace(self, **checked)

    def as_dict(self) -> Config:
        return asdict(self)

    def make_algorithm(self) -> Algorithm:
        return ALGORITHMS[self.algorithm](self)

    def settings(self, num_clients: int, **more: Any) -> Settings:
        """The settings of a run with so many clients; K is at most their number."""
        return from_keywords(
            {
                "rounds": self.rounds,
                "clients_per_round": min(self.cohort, num_clients),
                "local_epochs": self.epochs,
                "batch_size": self.batch,
                "lr": self.lr,
                "seed": self.seed,
                "progress": False,
                **more,
            }
        )


def _checked(name: str, value: Any, is_whole: bool) -> object:
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise ValueError(f"{name}: must be one of {', '.join(CHOICES[name])}")
        return value
    low, high = BOUNDS[name]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not low <= value <= high or (is_whole and value != int(value)):
        kind = "a whole number" if is_whole else "a number"
        raise ValueError(f"{name}: must be {kind} from {low:g} to {high:g}")
    return int(value) if is_whole else float(value)
