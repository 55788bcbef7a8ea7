"""What is left of a tier's label while the next tiers train."""

from typing import Any, NamedTuple

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.methods import continual

AFTER = 5  # updates that are looked at after a turn


class Followed(NamedTuple):
    """A run of tiers: the test ``accuracy`` at its end; ``knows`` [V, labels], the accuracy on test
    images of each label after each of V updates; ``trained`` [V], the main label of the tier that
    trained; ``way`` [V, P], the parameters after each update.
    """

    accuracy: float
    knows: np.ndarray
    trained: np.ndarray
    way: torch.Tensor

    def part(self, updates: slice) -> "Followed":
        """The run with only these ``updates``."""
        return self._replace(
            knows=self.knows[updates], trained=self.trained[updates], way=self.way[updates]
        )


def found(fed: fl.FederatedDataset, model: Any, seed: int) -> np.ndarray:
    """The tier of each client [N], int64, as FedMas finds it before its first round."""
    work: dict[str, Any] = {"clients_per_round": 1, "local_steps": 1, "batch_size": 1, "lr": 0.01}
    first = fl.Simulation(
        fed, model, fl.algorithms.TFedAvg(), rounds=1, **work, seed=seed, progress=False
    )
    first.run()
    tiers: np.ndarray = first.state_dict()["algorithm"]["clusters"].numpy()
    return tiers


def follow(
    fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, tiers: np.ndarray, **settings: Any
) -> Followed:
    """Run ``rule``, which trains the ``tiers`` [N] in their order, and look at each update."""
    simulation = fl.Simulation(fed, model, continual.Noted(rule), **settings)
    simulation.run()
    way = simulation.state_dict()["algorithm"]["noted_way"]
    tests = continual.tests_of(fed.dataset, [[label] for label in range(_labels(fed))])
    knows = continual.knowledge(way, model, tests)
    accuracy = simulation.history.records[-1].test_accuracy
    return Followed(accuracy, knows, np.resize(main_labels(fed, tiers), len(way)), way)


def main_labels(fed: fl.FederatedDataset, tiers: np.ndarray) -> np.ndarray:
    """The label with the most samples in each tier, in the order of the tiers."""
    counts = []
    for tier in np.unique(tiers):
        members = np.flatnonzero(tiers == tier)
        held = np.concatenate([fed.y[fed.parts[client]].numpy() for client in members])
        counts.append(np.bincount(held, minlength=_labels(fed)))
    return np.argmax(counts, axis=1)


def _labels(fed: fl.FederatedDataset) -> int:
    """The number of labels, 0, 1, … up to the highest."""
    return int(fed.y.max()) + 1


def kept(run: Followed) -> np.ndarray:
    """The accuracy on a tier's label 0, 1, …, ``AFTER`` updates after its turn: the mean over turns
    that are followed by ``AFTER`` tiers with other labels. NaN if there is none.
    """
    curves = []
    for turn in range(len(run.trained) - AFTER):
        label = run.trained[turn]
        if label not in run.trained[turn + 1 : turn + AFTER + 1]:
            curves.append(run.knows[turn : turn + AFTER + 1, label])
    return np.mean(curves, axis=0) if curves else np.full(AFTER + 1, np.nan)
