"""Examine a class that a reader wrote, and run it on given clients.

A submission may read this module.
"""

from collections.abc import Callable, Sequence

import numpy as np

import fedlab_core as fl
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic.bench import Disguised, Numbers, end
from fedlab_course.chapters.ch07_bug_clinic.examinations import limit, order, round_1

EXAMINATIONS = {"limit": limit, "order": order, "round 1": round_1} | clinic.GIVEN
Class = Callable[[], fl.Algorithm]


def found_by(make: Class) -> list[str]:
    """The names of the ``EXAMINATIONS`` that the class ``make`` fails under seed 0 or 1."""
    patient = _patient(make)
    examined = {name: clinic.examine(exam, patient, (0, 1)) for name, exam in EXAMINATIONS.items()}
    return [name for name, passed in examined.items() if passed is False]


def ends(make: Class, federations: Sequence[tuple[Numbers, Numbers, list[int]]]) -> list[float]:
    """Where the class ``make`` ends on federations of quadratics: curvatures, optima, sizes."""
    patient = _patient(make)
    return [end(patient, np.array(a), np.array(b), sizes) for a, b, sizes in federations]


def _patient(make: Class) -> clinic.Patient:
    return clinic.Patient("FedAvg", "FedAvg", Disguised(make()))
