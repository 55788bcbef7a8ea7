"""The bug clinic: usual mistakes in federated learning code, each in a version that can be switched on.

A patient is an algorithm of the library, or one of its helpers, with one thing wrong. Patients go by numbers, so that
their names say nothing; what is wrong with each stands in the docstring of its class, and ``diagnosis`` reads it out.
Every mistake was seen in public code; those inside a local step or a model's buffers are left out, since an
``Algorithm`` cannot express them.
"""

from fedlab_course.chapters.ch09_bug_clinic.chart import chart
from fedlab_course.chapters.ch09_bug_clinic.mystery import WhoIsIt as who_is_it
from fedlab_course.chapters.ch09_bug_clinic.patients import HEALTHY, HELPERS, PATIENTS, GaveUp, Patient, diagnosis

__all__ = ["HEALTHY", "HELPERS", "PATIENTS", "GaveUp", "Patient", "chart", "diagnosis", "who_is_it"]
