"""Who is there, who is drawn with which probability, and the weights that follow."""

from fedlab_core.sampling.availability import Availability, Bernoulli
from fedlab_core.sampling.designs import AtLeastOne, Design, Systematic, Uniform
from fedlab_core.sampling.weights import weights

__all__ = ["AtLeastOne", "Availability", "Bernoulli", "Design", "Systematic", "Uniform", "weights"]
