"""The bug clinic: usual mistakes in federated learning code, each in a version that can be switched
on.

Patients go by numbers, so that their names say nothing; ``diagnosis`` tells what is wrong with
each. Every mistake was seen in public code, and an ``Algorithm`` or a helper can express it.
"""

from fedlab_course.chapters.ch07_bug_clinic.bench import EVERYBODY
from fedlab_course.chapters.ch07_bug_clinic.chart import chart
from fedlab_course.chapters.ch07_bug_clinic.examinations import (
    GIVEN,
    code,
    examine,
    examine_all,
    found_by,
    found_once,
    smallest_set,
    with_yours,
)
from fedlab_course.chapters.ch07_bug_clinic.mystery import WhoIsIt as who_is_it
from fedlab_course.chapters.ch07_bug_clinic.opening import alone, together
from fedlab_course.chapters.ch07_bug_clinic.patients import (
    HEALTHY,
    HELPERS,
    PATIENTS,
    GaveUp,
    Patient,
    diagnosis,
)
from fedlab_course.chapters.ch07_bug_clinic.repair import begun, turning_green

__all__ = [
    "EVERYBODY",
    "GIVEN",
    "HEALTHY",
    "HELPERS",
    "PATIENTS",
    "GaveUp",
    "Patient",
    "alone",
    "begun",
    "chart",
    "code",
    "diagnosis",
    "examine",
    "examine_all",
    "found_by",
    "found_once",
    "smallest_set",
    "together",
    "turning_green",
    "who_is_it",
    "with_yours",
]
