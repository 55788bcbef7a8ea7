"""Chapter 5: what is left of a tier's label in the first and in the last rounds, and how the logits
grow; digits, one label a client, 50 rounds.

TFedAvg and FedMas at one rate, η = 0.071, the best of TFedAvg within fifty updates; FedMas at 0.4,
the best of its own; and FedMas with the softmax at the setting that is best for fifty rounds.
``window``: "first", rounds 1 to 4, or "last", rounds 46 to 50. ``after_n``: the accuracy on the
label n updates after its turn. The curve has ``outputs``, the root mean squared logit on the test
images.
"""

import numpy as np

import fedlab_core as fl
from fedlab_core.engines.flat import FlatModel
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal
from fedlab_course.methods import forgotten

RUNS: dict[str, tuple[fl.Algorithm, float]] = {
    "TFedAvg": (fl.algorithms.TFedAvg(), 0.07071),
    "FedMas": (fl.FedMas(0.1, penalty_step="implicit"), 0.07071),
    "FedMas 0.4": (fl.FedMas(0.1, penalty_step="implicit"), 0.4),
    "FedMas softmax": (fl.FedMas(10.0, penalty_step="implicit", output="softmax"), 0.2828),
}
_FIRST = 4  # rounds
_LAST = 5


def run(seed: int, *, method: str, rounds: int = DIGITS["rounds"]) -> list[ResultRow]:
    """A row for each window, and a curve of the logits."""
    fed = deal("one label", seed)
    model = fl.models.mlp(fed, seed=seed)
    tiers = forgotten.found(fed, model, seed)
    algorithm, lr = RUNS[method]
    work = DIGITS | {"rounds": rounds, "lr": lr, "seed": seed, "progress": False}
    found = forgotten.follow(fed, model, algorithm, **work)
    count = len(np.unique(tiers))
    windows = {"first": slice(_FIRST * count), "last": slice(-_LAST * count, None)}
    rows: list[ResultRow] = []
    for window, updates in windows.items():
        left = forgotten.kept(found.part(updates))
        rows.append(
            {"window": window} | {f"after_{n}": float(share) for n, share in enumerate(left)}
        )
    judge = FlatModel(model)
    for number, params in enumerate(found.way[count - 1 :: count], start=1):
        outputs = float(judge.output(params, fed.test.x).square().mean().sqrt())
        rows.append({"table": "curves", "round": number, "outputs": outputs})
    return rows


TIERS_MEMORY = Experiment(
    "tiers_memory", run, [{"method": name} for name in RUNS], bands=("outputs",)
)
