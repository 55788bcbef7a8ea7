"""What theory says, to be compared with experiments: variances of a sampled mean, absence, what
bounds are made of.
"""

from fedlab_course.theory.absent_group import AbsentGroup, inclusion
from fedlab_course.theory.bounds import Constants, SoftmaxRegression, dissimilarity
from fedlab_course.theory.closed_forms import covered, ditto_error, fedavg_path, resting_point
from fedlab_course.theory.variance import simple_variance, systematic_variance

__all__ = [
    "AbsentGroup",
    "Constants",
    "SoftmaxRegression",
    "covered",
    "dissimilarity",
    "ditto_error",
    "fedavg_path",
    "inclusion",
    "resting_point",
    "simple_variance",
    "systematic_variance",
]
