"""The constants of [004]'s theorems on the digits: softmax regression with ridge 1 and 20 clients, by label skew.

It is the problem of :mod:`~fedlab_course.evidence.experiments.theorem_rates`, dealt out in three ways: "iid",
"two_labels" and "one_label" per client. All are exact up to rounding; only the deal is drawn.

``gap``: Γ = F* − Σ ρ_k F_k*. ``dissimilarity``: the least G of a (G, B)-dissimilarity, √(Σ ρ_k ‖∇F_k(w*)‖²).
``noise``: Σ ρ_k σ_k² of one sample at w*. ``smoothness``: an L that holds everywhere; ``curvature``: the largest
λ_max(∇²F_k(w*)). ``gradient``: √ of the largest E‖∇F_k(w, ξ)‖² at w = 0 and at w*. ``best_steps``: E* of eq. (35) with
all of these, for 4 of the 20 clients a round.
"""

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.problems import RIDGE

NUM_CLIENTS, COHORT = 20, 4
LABELS = {"iid": None, "two_labels": 2, "one_label": 1}


def federation(split: str, num_clients: int, seed: int) -> fl.FederatedDataset:
    """The digits, dealt out to clients."""
    dataset = fl.load_dataset("digits")
    law = {"num_clients": num_clients, "seed": seed}
    labels = LABELS[split]
    if labels is None:
        return fl.FederatedDataset(dataset, fl.partition.iid(dataset.train.y, **law))
    law["labels_per_client"] = labels
    return fl.FederatedDataset(dataset, fl.partition.labels_per_client(dataset.train.y, **law))


def run(seed: int, *, split: str) -> list[Row]:
    """One row: the constants of one deal."""
    problem = theory.SoftmaxRegression(federation(split, NUM_CLIENTS, seed), RIDGE)
    found = problem.constants()
    bound = theory.LocalStepsBound(
        **{name: found[name] for name in ("gap", "noise", "smoothness", "gradient")},
        convexity=RIDGE,
        num_clients=NUM_CLIENTS,
        clients_per_round=COHORT,
    )
    return [{"split": split, "seed": seed} | found | {"best_steps": bound.best_local_steps}]


C12_CONSTANTS = Experiment("c12_constants", run, [{"split": split} for split in LABELS], tuple(range(10)))
