"""Availability of clients, sampling designs with their inclusion probabilities, and the weights
that follow.
"""

from fedlab_core.sampling.availability import Availability, Bernoulli
from fedlab_core.sampling.designs import AtLeastOne, Design, Systematic, Uniform, weights

__all__ = ["AtLeastOne", "Availability", "Bernoulli", "Design", "Systematic", "Uniform", "weights"]
