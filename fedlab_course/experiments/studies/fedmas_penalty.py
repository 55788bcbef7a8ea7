"""Why FedMas diverges, and what its silent spots change: MNIST, one label a client ([002], figure
4), on seeds that judge nothing.

FedMas pulls weights with a large importance Ω back to the model that a tier received. Ω is the mean
of |∂ ‖f(x)‖² / ∂w|, so that it grows with the outputs f(x). ``VARIANTS`` differ in the step of the
penalty, in the outputs, in λ, and in what [002] leaves open: whether a measurement of Ω replaces,
adds to or is averaged with the earlier ones, the order of tiers, where there is no penalty yet, and
which client measures.

The table has a row for each run. Its curves have a row for each layer and every other round: the
``largest`` and the ``mean`` Ω of the layer, the ``norm`` of its weights, ``outputs``, the root of
the mean squared logit over a thousand test images, and ``stiffness`` η · 2λ · largest: the explicit
step is stable below 2.
"""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow
from fedlab_course.experiments.measured_runs import deal, measured

IMAGES = 1_000  # of the test set, for ``outputs``
WORK: dict[str, Any] = {
    "clients_per_round": 0.2,
    "local_epochs": 5,
    "batch_size": 10,
    "lr": 0.01,
    "train_loss": False,
    "eval_every": 2,
}


@dataclass(frozen=True)
class MeasuredByCohort(fl.FedMas):
    """FedMas whose importance a client of the cohort measures, not one of the whole tier."""

    def measuring_client(self, server: Server, updates: LocalUpdates) -> int:
        """One of ``updates.clients``."""
        tier = int(server.state["clusters"][updates.clients[0]])
        return int(server.stream("importance", tier).choice(updates.clients))


VARIANTS: dict[str, fl.FedMas] = {
    "no penalty": fl.algorithms.TFedAvg(),
    "explicit 0.01": fl.FedMas(0.01),
    "implicit 0.01": fl.FedMas(0.01, penalty_step="implicit"),
    "implicit 0.1": fl.FedMas(0.1, penalty_step="implicit"),
    "softmax explicit 100": fl.FedMas(100.0, output="softmax"),
    "softmax 10": fl.FedMas(10.0, penalty_step="implicit", output="softmax"),
    "softmax 100": fl.FedMas(100.0, penalty_step="implicit", output="softmax"),
    "softmax 1000": fl.FedMas(1000.0, penalty_step="implicit", output="softmax"),
    "accumulated": fl.FedMas(0.01, penalty_step="implicit", importance_update="accumulate"),
    "averaged": fl.FedMas(0.01, penalty_step="implicit", importance_update="ema"),
    "shuffled": fl.FedMas(0.01, penalty_step="implicit", tier_order="shuffled"),
    "first round spared": fl.FedMas(0.01, penalty_step="implicit", no_penalty="first_round"),
    "measured by the cohort": MeasuredByCohort(0.01, penalty_step="implicit"),
}
# The importance of the CNN is larger than that of the MLP.
WEAKER: dict[str, fl.FedMas] = {
    "accumulated 0.001": fl.FedMas(0.001, penalty_step="implicit", importance_update="accumulate"),
}
OF_THE_CNN = ("accumulated", "softmax 1000", "implicit 0.01", "accumulated 0.001")


def run(seed: int, *, variant: str, network: str, rounds: int) -> list[ResultRow]:
    """A row for the run, and its curves."""
    fed = deal("one label", seed, dataset="mnist")
    is_mlp = network == "mlp"
    model = fl.models.mlp(fed, (64,), seed=seed) if is_mlp else fl.models.cnn_mnist(fed, seed=seed)
    algorithm = (VARIANTS | WEAKER)[variant]
    curves: list[ResultRow] = []

    def note(record: fl.RoundRecord, server: Server) -> None:
        if record.evaluated:
            for row in layers(model, algorithm, server):
                curves.append({"table": "curves", "round": record.round} | row)

    found, _ = measured(fed, model, algorithm, rounds=rounds, seed=seed, on_round=note, **WORK)
    names = ("end_accuracy", "mean_accuracy", "diverged")
    last = curves[-1]["round"] if curves else 0
    return [{name: found[name] for name in names} | {"last_round": last}, *curves]


def layers(template: nn.Module, algorithm: fl.FedMas, server: Server) -> Iterator[ResultRow]:
    """A row for each layer: its Ω and weights, the logits, and the stiffness of the penalty."""
    model = copy.deepcopy(template)
    vector_to_parameters(server.params, model.parameters())
    with torch.no_grad():
        outputs = float(model(server.fed.test.x[:IMAGES]).square().mean().sqrt())
    start = 0
    for name, layer in model.named_children():
        stop = start + sum(values.numel() for values in layer.parameters())
        if stop > start:
            importance = server.state["importance"][start:stop]
            largest = float(importance.max())
            yield {
                "layer": name,
                "largest": largest,
                "mean": float(importance.mean()),
                "norm": float(server.params[start:stop].norm()),
                "outputs": outputs,
                "stiffness": 2 * algorithm.strength * server.lr * largest,
            }
        start = stop


def _cases(network: str, variants: Iterable[str], rounds: int) -> list[ExperimentCase]:
    return [{"variant": name, "network": network, "rounds": rounds} for name in variants]


NOTED = ("largest", "mean", "norm", "outputs", "stiffness")
FEDMAS_PENALTY = Experiment("fedmas_penalty", run, _cases("mlp", VARIANTS, 40), bands=NOTED)
FEDMAS_PENALTY_CNN = Experiment("fedmas_penalty_cnn", run, _cases("cnn", OF_THE_CNN, 50))
