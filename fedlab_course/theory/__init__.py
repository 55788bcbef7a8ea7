"""What theory says, to be held against experiments: variances of a sampled mean, absence, what bounds are made of."""

from fedlab_course.theory.absence import AbsentGroup
from fedlab_course.theory.availability import inclusion
from fedlab_course.theory.dissimilarity import Dissimilarity
from fedlab_course.theory.local_steps import LocalStepsBound
from fedlab_course.theory.personal import ditto_error
from fedlab_course.theory.resting import covered, resting_point
from fedlab_course.theory.rounds import fedavg_path
from fedlab_course.theory.smoothness import hessian_product, power_iteration
from fedlab_course.theory.softmax import SoftmaxRegression
from fedlab_course.theory.theorem_1 import error_bound
from fedlab_course.theory.variance import simple_variance, systematic_variance, weight_variance

__all__ = [
    "AbsentGroup",
    "Dissimilarity",
    "LocalStepsBound",
    "SoftmaxRegression",
    "covered",
    "ditto_error",
    "error_bound",
    "fedavg_path",
    "hessian_product",
    "inclusion",
    "power_iteration",
    "resting_point",
    "simple_variance",
    "systematic_variance",
    "weight_variance",
]


def __dir__() -> list[str]:
    return __all__
