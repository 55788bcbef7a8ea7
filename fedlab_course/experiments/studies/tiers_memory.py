"""Chapter 5: what is left of a tier's label in the first and in the last rounds, and how accuracy,
logits and Ω grow; digits, one label a client, 50 rounds.

TFedAvg, FedMas, and FedMas with Ω of the softmax or with an Ω that is added up, at one rate, η =
0.071, the best of TFedAvg within fifty updates. ``window``: "first", the whole rounds within fifty
updates, "last", rounds 46 to 50, or "next", round 11. ``after_n``: the accuracy on the label n
updates after its turn. The curves have ``test_accuracy``, ``outputs``, the root mean squared logit
on the test images, and ``importance``, the mean over all parameters of Ω on the first ``_SAMPLES``
test images.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.engines.flat import FlatModel
from fedlab_core.losses import OUTPUT_NORMS, Output
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal
from fedlab_course.experiments.studies.tiers_early import UPDATES
from fedlab_course.methods import forgotten, penalties

_ENDS = 10  # the last round with a penalty
RUNS: dict[str, fl.FedMas] = {
    "TFedAvg": fl.algorithms.TFedAvg(),
    "FedMas": fl.FedMas(0.1, penalty_step="implicit"),
    "FedMas replaced": fl.FedMas(1.0, penalty_step="implicit"),  # the best λ at this rate
    "FedMas softmax": fl.FedMas(100.0, penalty_step="implicit", output="softmax"),
    "FedMas added up": fl.FedMas(1.0, penalty_step="implicit", importance_update="accumulate"),
    "FedMas added up, ten rounds": penalties.PenaltyAtFirst(
        1.0, penalty_step="implicit", importance_update="accumulate", last_round=_ENDS
    ),
}
# in the round after the end of the penalty
_COMPARED = ("TFedAvg", "FedMas added up", "FedMas added up, ten rounds")
_SAMPLES = 50
_RATE = 0.07071
_LAST = 5  # rounds


def run(seed: int, *, method: str, rounds: int = DIGITS["rounds"]) -> list[ResultRow]:
    """A row for each window, and a curve of accuracy and logits."""
    fed = deal("one label", seed)
    model = fl.models.mlp(fed, seed=seed)
    count = len(np.unique(forgotten.found(fed, model, seed)))
    work = DIGITS | {"rounds": rounds, "lr": _RATE, "seed": seed, "progress": False}
    found = forgotten.follow(fed, model, RUNS[method], **work)
    windows = {"first": slice(UPDATES // count * count), "last": slice(-_LAST * count, None)}
    if method in _COMPARED and rounds > _ENDS:
        windows["next"] = slice(_ENDS * count, (_ENDS + 1) * count)
    rows: list[ResultRow] = []
    for window, updates in windows.items():
        left = forgotten.kept(found.part(updates))
        rows.append(
            {"window": window} | {f"after_{n}": float(share) for n, share in enumerate(left)}
        )
    judge = FlatModel(model)
    for number, params in enumerate(found.way[count - 1 :: count], start=1):
        logits = judge.output(params, fed.test.x)
        right = (logits.argmax(dim=1) == fed.test.y).float().mean()
        size = logits.square().mean().sqrt()
        omega = _importance(judge, params, fed.test.x[:_SAMPLES], RUNS[method].output)
        numbers = {
            "test_accuracy": float(right),
            "outputs": float(size),
            "importance": float(omega.mean()),
        }
        rows.append({"table": "curves", "round": number} | numbers)
    return rows


def _importance(
    model: FlatModel, params: torch.Tensor, samples: torch.Tensor, output: Output
) -> torch.Tensor:
    """Ω [P] at ``params`` on the ``samples`` x [n, …]."""
    norm = OUTPUT_NORMS[output]
    label = torch.zeros(1, dtype=torch.int64)  # which the norm of an output does not need
    rows = [model.gradient(params, x[None], label, norm).abs() for x in samples]
    return torch.stack(rows).mean(0)


TIERS_MEMORY = Experiment(
    "tiers_memory",
    run,
    [{"method": name} for name in RUNS],
    bands=("test_accuracy", "outputs", "importance"),
)
