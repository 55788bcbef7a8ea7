"""How many rounds does a loss take, by local epochs E and label skew, on the digits?

100 clients, 10 a round. ``rounds``: the first round after which the training loss is ``TARGET`` or less, ``ROUNDS`` + 1
if there is none; ``log2_rounds``: its logarithm. The target was chosen in runs of seed 100, which is not among those
kept: all of these settings reach it.
"""

import math

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import deal

TARGET, ROUNDS = 0.5, 300
EPOCHS = (1, 5, 20, 40)
ALGORITHMS = {"fedavg": fl.FedAvg(), "fedsso": fl.FedSSO()}
SETTINGS = {"clients_per_round": 10, "batch_size": 10, "lr": 0.05, "progress": False}


def rounds_to_loss(fed: fl.FederatedDataset, algorithm: fl.Algorithm, local_epochs: int, seed: int) -> int:
    """The first round with the loss ``TARGET``; one more than ``ROUNDS`` if there is none."""
    model = fl.models.mlp(fed, seed=seed)
    simulation = fl.Simulation(fed, model, algorithm, rounds=ROUNDS, local_epochs=local_epochs, seed=seed, **SETTINGS)
    return next((record.round for record in simulation if record.train_loss <= TARGET), ROUNDS + 1)


def run(seed: int, *, algorithm: str, split: str) -> list[Row]:
    """One row for each number of local epochs."""
    found = {epochs: rounds_to_loss(deal(split, seed), ALGORITHMS[algorithm], epochs, seed) for epochs in EPOCHS}
    return [{"local_epochs": epochs, "rounds": n, "log2_rounds": math.log2(n)} for epochs, n in found.items()]


_CASES = [
    {"algorithm": algorithm, "split": split} for algorithm in ALGORITHMS for split in ("iid", "two_labels", "one_label")
]
C12_LOCAL_WORK = Experiment("c12_local_work", run, _CASES)
