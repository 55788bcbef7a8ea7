"""What is left of the labels of an update while the next ones train."""

from typing import Any, NamedTuple

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.methods import continual

AFTER = 5  # updates that are looked at after a turn


class Followed(NamedTuple):
    """A run: the test ``accuracy`` at its end; ``knows`` [V, labels], the accuracy on test images
    of each label after each of V updates; ``trained`` bool [V, labels], whether a client that
    trained for the update holds the label; ``way`` [V, P], the parameters after each update.
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


def follow(fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, **settings: Any) -> Followed:
    """Run ``rule``, and look at each update."""
    simulation = fl.Simulation(fed, model, continual.Noted(rule), **settings)
    simulation.run()
    noted = simulation.state_dict()["algorithm"]
    labels = _labels(fed)
    tests = continual.tests_of(fed.dataset, [[label] for label in range(labels)])
    knows = continual.knowledge(noted["noted_way"], model, tests)
    held = [np.bincount(fed.y[part].numpy(), minlength=labels) > 0 for part in fed.parts]
    trained = noted["noted_clients"].numpy() @ np.array(held)
    accuracy = simulation.history.records[-1].test_accuracy
    return Followed(accuracy, knows, trained, noted["noted_way"])


def _labels(fed: fl.FederatedDataset) -> int:
    """The number of labels, 0, 1, … up to the highest."""
    return int(fed.y.max()) + 1


def kept(run: Followed) -> np.ndarray:
    """The accuracy on a label 0, 1, …, ``AFTER`` updates after clients that hold it have trained:
    the mean over updates and labels for which the next ``AFTER`` updates do not train on the label.
    NaN if there is none.
    """
    curves = []
    for update in range(len(run.trained) - AFTER):
        after = run.trained[update + 1 : update + AFTER + 1].any(axis=0)
        for label in np.flatnonzero(run.trained[update] & ~after):
            curves.append(run.knows[update : update + AFTER + 1, label])
    return np.mean(curves, axis=0) if curves else np.full(AFTER + 1, np.nan)
