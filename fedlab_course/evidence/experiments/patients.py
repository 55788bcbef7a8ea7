"""Four patients of the bug clinic beside the SCAFFOLD that they say they are: what the curves of chapter 9 show.

Digits, 100 clients, K = 20, E = 5, B = 10, η = 0.05, MLP 64-200-10, 30 rounds: two labels a client, where clients are
equally large, and the samples of each label dealt with Dirichlet shares, where they are not.
"""

import json
from typing import Any

from fedlab_core.algorithms import Scaffold
from fedlab_core.reproduce import recipes
from fedlab_core.sweep import plan
from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.runs import measured

PATIENTS = (2, 3, 8, 9)
SETTINGS: dict[str, Any] = {"clients_per_round": 20, "local_epochs": 5, "batch_size": 10, "lr": 0.05}
FEDERATIONS: dict[str, dict[str, Any]] = {
    "two_labels": {"law": "labels_per_client", "labels_per_client": 2, "num_clients": 100},
    "unequal": {"law": "dirichlet", "alpha": 0.3, "by": "class", "num_clients": 100},
}


def run(seed: int, *, federation: str, rounds: int = 30) -> list[Row]:
    """A row for SCAFFOLD and one for each of the patients."""
    fed = plan.dealt("digits", json.dumps(FEDERATIONS[federation]), seed)
    rules = {"scaffold": Scaffold()} | {f"patient {number}": clinic.PATIENTS[number].algorithm for number in PATIENTS}
    rows = []
    for name, rule in rules.items():
        model = recipes.model("mlp", {}, fed, seed)
        found, _ = measured(fed, model, rule, **SETTINGS, rounds=rounds, seed=seed)
        rows.append({"federation": federation, "algorithm": name, "seed": seed} | found)
    return rows


CURVES = Experiment("c09_patients", run, [{"federation": name} for name in FEDERATIONS], tuple(range(10)))
