"""The constants of [004]'s theorems on the digits: softmax regression with ridge 1 and 20 clients, by label skew.

``gap``: Γ = F* − Σ ρ_k F_k*. ``dissimilarity``: the least G of a (G, B)-dissimilarity, √(Σ ρ_k ‖∇F_k(w*)‖²).
``noise``: Σ ρ_k σ_k² of one sample at w*. ``smoothness``: an L that holds everywhere; ``curvature``: the largest
λ_max(∇²F_k(w*)). ``gradient``: √ of the largest E‖∇F_k(w, ξ)‖² at w = 0 and at w*. ``best_steps``: E* of eq. (35) with
all of these, for 4 of the 20 clients a round. Only the deal is random.
"""

from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.problems import RIDGE
from fedlab_course.experiments.runs import deal

NUM_CLIENTS, COHORT = 20, 4
SPLITS = ("iid", "two_labels", "one_label")


def run(seed: int, *, split: str) -> list[Row]:
    """One row: the constants of one deal."""
    found = theory.SoftmaxRegression(deal(split, seed, NUM_CLIENTS), RIDGE).constants()
    bound = theory.LocalStepsBound(
        **{name: found[name] for name in ("gap", "noise", "smoothness", "gradient")},
        convexity=RIDGE,
        num_clients=NUM_CLIENTS,
        clients_per_round=COHORT,
    )
    return [found | {"best_steps": bound.best_local_steps}]


C12_CONSTANTS = Experiment("c12_constants", run, [{"split": split} for split in SPLITS])
