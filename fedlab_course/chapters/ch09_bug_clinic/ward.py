"""Who is in the clinic."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedlab_core import validation
from fedlab_core.algorithms import Algorithm, FedAvg, FedCurv, FedNova, FedProx, Scaffold
from fedlab_course.chapters.ch09_bug_clinic import averaging, controls, helpers


@dataclass(frozen=True)
class Patient:
    """``name``, such as "Patient 3"; ``method``: what it says it is; ``algorithm``: what it runs."""

    name: str
    method: str
    algorithm: Algorithm


MU, STRENGTH = 1.0, 0.01
_SICK: tuple[tuple[str, Any], ...] = (
    ("FedAvg", averaging.UniformMean()),
    ("SCAFFOLD", controls.CohortShare()),
    ("SCAFFOLD", controls.NeverApplied()),
    ("FedProx", averaging.MovingAnchor(mu=MU)),
    ("FedAvg", averaging.LastOverwrites()),
    ("SCAFFOLD", controls.FlippedSign()),
    ("FedNova", averaging.TwiceRescaled()),
    ("SCAFFOLD", controls.LongestSteps()),
    ("SCAFFOLD", controls.OverwrittenControl()),
    ("FedAvg", averaging.SameCohorts()),
    ("SCAFFOLD", controls.ControlFromWeights()),
    ("FedCurv", helpers.StaleShare(strength=STRENGTH)),
)
PATIENTS = {sick.number: Patient(str(sick), method, sick) for method, sick in _SICK}

_WELL: dict[str, Algorithm] = {
    "FedAvg": FedAvg(),
    "FedProx": FedProx(mu=MU),
    "SCAFFOLD": Scaffold(),
    "FedNova": FedNova(),
    "FedCurv": FedCurv(strength=STRENGTH),
}
HEALTHY = {name: Patient(name, name, algorithm) for name, algorithm in _WELL.items()}

# Functions have no say in what they are called: they are listed by the number of the patient.
HELPERS: dict[int, Callable[..., Any]] = {
    13: helpers.squared_mean,
    14: helpers.last_batch,
    15: helpers.signed_importance,
    16: helpers.retry_partition,
    17: helpers.straggler_epochs,
    18: helpers.mean_of_batches,
}


def diagnosis(number: int) -> str:
    """What is wrong with this patient. Raises ``ValueError`` for a number that nobody has."""
    sick: dict[int, Any] = {n: type(patient.algorithm) for n, patient in PATIENTS.items()} | HELPERS
    return (inspect.getdoc(sick[validation.choice("patient", number, sick)]) or "").split("\n\n")[0]
