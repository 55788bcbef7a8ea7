"""What theory says, to be held against experiments: variances of a sampled mean, absence, local steps, and a pull."""

from fedlab_course.theory.availability import inclusion
from fedlab_course.theory.local_steps import LocalStepsBound
from fedlab_course.theory.personal import ditto_error
from fedlab_course.theory.variance import simple_variance, systematic_variance, weight_variance

__all__ = ["LocalStepsBound", "ditto_error", "inclusion", "simple_variance", "systematic_variance", "weight_variance"]


def __dir__() -> list[str]:
    return __all__
