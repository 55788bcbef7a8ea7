"""The readings: what a paper leaves open, or what papers say differently.

A reading is written like a mistake, as a step that is replaced. An implementation that follows a
reading passes, as a convention with the name of the reading.

Where the letter of a paper is clear, another equation is a mistake. FedAvg is McMahan's with n_k
weights, SCAFFOLD divides the change of c by N, FedDyn averages plainly, and FedNova's p_k are n_k
over the sum of the cohort.
"""

from collections.abc import Mapping

from fedconform.formulas.averaging import BatchNorm, FedNova, FedProx
from fedconform.formulas.local_training import Formula
from fedconform.formulas.scaffold import Scaffold
from fedconform.formulas.servers import FedAdam, FedAvgM, FedYogi
from fedconform.mistakes import in_averaging, in_scaffold, in_servers, in_training
from fedconform.mistakes.replacing import Mistake

_NO_SHORT_BATCH = "No paper says what becomes of a last batch with fewer than B samples."
_COUNT = "McMahan counts E n_k / B steps and FedNova ⌊E n_k / B⌋; neither says how to round."
_START = "Algorithm 2 of Reddi et al. leaves v₋₁ open: any value of at least τ² will do."
_BUFFERS = "No paper of FedAvg has batch normalisation."

# formula → mistake that is a reading there → why
READINGS: Mapping[type[Formula], Mapping[Mistake, str]] = {
    Formula: {
        in_training.DROPPED: _NO_SHORT_BATCH,
        in_training.ACROSS: _COUNT,
        in_training.ACROSS_DOWN: _COUNT,
    },
    FedProx: {
        in_averaging.PLAIN: (
            "Algorithm 2 of Li et al. draws clients with probability n_k / n and takes the plain "
            "mean. The suite prescribes the cohorts, so that both means are right."
        ),
    },
    FedNova: {
        in_averaging.ALWAYS_NORM: (
            "The paper leaves τ_eff free. Its code takes Σ p_k τ_k with a proximal term."
        ),
    },
    FedAvgM: {
        in_averaging.PLAIN: (
            "Hsu et al. weigh by n_k, and Reddi et al. average plainly in the same algorithm."
        ),
    },
    FedAdam: {
        in_averaging.PLAIN: (
            "Algorithm 2 of Reddi et al. averages plainly; its experiments weigh by n_k."
        ),
        in_servers.V_ZERO: "Kingma and Ba start v at 0. Reddi et al. ask for at least τ².",
        in_servers.TAU_START: _START,
        in_servers.ONE_START: _START,
        in_servers.BIAS: "Kingma and Ba correct the bias. Reddi et al. leave the correction out.",
    },
    FedYogi: {in_servers.SMALL_START: "Optimisers of libraries start at a small number."},
    Scaffold: {
        in_scaffold.WEIGHTED: (
            "Karimireddy et al. minimise the plain mean of the F_k and say that the weighted mean "
            "works alike."
        ),
        in_scaffold.WEIGHTED_SHARE: "The weighted mean of the F_k needs weights in c, too.",
    },
    BatchNorm: {
        in_averaging.PLAIN_BUFFERS: _BUFFERS,
        in_averaging.OLD_BUFFERS: _BUFFERS,
    },
}
_NOT_FOR: Mapping[type[Formula], frozenset[Mistake]] = {
    FedNova: frozenset({in_averaging.PLAIN}),  # it extends FedProx; its p_k are n_k / Σ n
}


def readings_of(formula: type[Formula]) -> Mapping[Mistake, str]:
    """Reading → why, of a formula and of the formulas that it extends."""
    found: dict[Mistake, str] = {}
    for base in formula.__mro__:
        found = {**READINGS.get(base, {}), **found}
    left_out = _NOT_FOR.get(formula, frozenset())
    return {reading: why for reading, why in found.items() if reading not in left_out}
