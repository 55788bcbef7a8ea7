"""The bug clinic: usual mistakes in federated learning code, each in a version that can be switched on.

A patient is an algorithm of the library, or one of its helpers, with one thing wrong. Patients go by numbers, so that
their names say nothing; what is wrong with each stands in the docstring of its class, and ``diagnosis`` reads it out.
Every mistake was seen in public code. Three of them are left out, since an ``Algorithm`` cannot express them: momentum
inside the local step, batches that are dropped if they are short, and averaged buffers of batch normalisation.

    clinic.PATIENTS                 number → Patient
    clinic.HEALTHY                  the library's own algorithms, to compare
    clinic.diagnosis(3)             what is wrong with Patient 3
    clinic.chart(findings)          a table of patients and examinations, as a figure
    clinic.who_is_it()              an explorer of a hidden patient
"""

from fedlab_course.chapters.ch09_bug_clinic.chart import chart
from fedlab_course.chapters.ch09_bug_clinic.helpers import HELPERS, GaveUp
from fedlab_course.chapters.ch09_bug_clinic.mystery import who_is_it
from fedlab_course.chapters.ch09_bug_clinic.patients import HEALTHY, PATIENTS, Patient, diagnosis

__all__ = ["HEALTHY", "HELPERS", "PATIENTS", "GaveUp", "Patient", "chart", "diagnosis", "who_is_it"]


def __dir__() -> list[str]:
    return __all__
