"""Who is drawn, with which probability, and what that does to the variance of the mean."""

from fedlab_core.sampling.availability import Availability, Bernoulli
from fedlab_core.sampling.designs import AtLeastOne, Design, Systematic, Uniform
from fedlab_core.sampling.variance import simple_variance, systematic_variance, weight_variance
from fedlab_core.sampling.weights import weights

__all__ = [
    "AtLeastOne",
    "Availability",
    "Bernoulli",
    "Design",
    "Systematic",
    "Uniform",
    "simple_variance",
    "systematic_variance",
    "weight_variance",
    "weights",
]
