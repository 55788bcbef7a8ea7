"""What theory says, to be held against experiments: variances of a sampled mean, absence, local steps, rest."""

from fedlab_course.theory.availability import inclusion
from fedlab_course.theory.local_steps import LocalStepsBound
from fedlab_course.theory.resting import covered, resting_point
from fedlab_course.theory.variance import simple_variance, systematic_variance, weight_variance

__all__ = [
    "LocalStepsBound",
    "covered",
    "inclusion",
    "resting_point",
    "simple_variance",
    "systematic_variance",
    "weight_variance",
]


def __dir__() -> list[str]:
    return __all__
