"""What do the digits' ten labels, trained one after another, leave of each other, for many λ (chapter 6)?

100 clients with one label each, a tier for each label, a fifth of a tier at a time, rate 0.01, 30 rounds; MAS replaced
after each tier, or added up. ``just`` and ``kept``: accuracy on a label right after its turn in a ``round``, and nine
updates later, the mean over labels; chance, 0.1, once a run has diverged.
"""

import numpy as np

import fedlab_core as fl
from fedlab_course.chapters.ch06_forgetting import continual
from fedlab_course.experiments.base import Case, Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal

SETTING = DIGITS | {"rounds": 30, "lr": 0.01, "eval_every": 30}
ROUNDS = (1, 3, 10, 20, 29)


def run(seed: int, *, strength: float, update: str) -> list[Row]:
    """A row for each of ``ROUNDS``, and in the table of ends one for the run: whether it was ``lost``, how many
    ``rounds`` it did, and its largest η·2λ·max Ω.
    """
    fed = deal("one label", seed)
    tiers = [int(fed.y[part[0]]) for part in fed.parts]
    model = fl.models.mlp(fed, seed=seed)
    algorithm = fl.FedMas(strength, tiers=tiers, importance_update=update)  # type: ignore[arg-type]
    ran = continual.watch(fed, model, algorithm, **SETTING, progress=False, seed=seed)
    knows = continual.knowledge(ran.way, model, continual.tests_of(fed.dataset, [[label] for label in range(10)]))
    rows: list[Row] = []
    for number in ROUNDS:
        curve = np.nan_to_num(continual.recall(knows, range(number - 1, number)), nan=0.1)
        rows.append({"round": number, "just": float(curve[0]), "kept": float(curve[-1])})
    end = {"lost": float(ran.diverged), "rounds": len(ran.way) // 10, "stiffest": ran.stiffest}
    return [*rows, {"table": "ends"} | end]


_STRENGTHS = {"replace": (0.0, 0.2, 2.0, 5.0, 10.0, 24.0), "accumulate": (0.05, 0.2)}
_CASES: list[Case] = [
    {"strength": strength, "update": update} for update, strengths in _STRENGTHS.items() for strength in strengths
]
TIER_MEMORY = Experiment("c06_tiers", run, _CASES)
