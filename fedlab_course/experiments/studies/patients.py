"""Four patients of the bug clinic beside the SCAFFOLD that they say they are: what the curves of chapter 9 show.

Digits, 100 clients, 30 rounds: two labels a client, where clients are equally large, and the samples of each label
dealt with Dirichlet shares, where they are not.
"""

import fedlab_core as fl
from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal, measured

PATIENTS = (2, 3, 8, 9)


def run(seed: int, *, federation: str, rounds: int = 30) -> list[Row]:
    """A row for SCAFFOLD and one for each of the patients."""
    fed = deal(federation, seed)
    rules = {"scaffold": fl.Scaffold()} | {
        f"patient {number}": clinic.PATIENTS[number].algorithm for number in PATIENTS
    }
    work = DIGITS | {"rounds": rounds, "seed": seed}
    return [
        {"algorithm": name} | measured(fed, fl.models.mlp(fed, seed=seed), rule, **work)[0]
        for name, rule in rules.items()
    ]


CURVES = Experiment("c09_patients", run, [{"federation": name} for name in ("two_labels", "unequal")])
