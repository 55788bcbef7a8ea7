"""Aggregation weights of a cohort."""

import numpy as np


def weights(shares: np.ndarray, probabilities: np.ndarray, *, literal: bool = False) -> np.ndarray:
    """ω_k ∝ ρ_k/π_k of the clients of a cohort, float64 [K], summing to 1.

    ``shares`` ρ_k = n_k/Σn and ``probabilities`` π_k, both [K]. For equal shares and π = K/N this is [004] algorithm 1.
    ``literal`` keeps ρ_k/π_k as it is (at π = K/N the (N/K)·ρ_k of [004]): Horvitz and Thompson's weights, exactly
    unbiased, but for unequal shares they sum to 1 only on average, so that single rounds shrink or stretch the model.

    Raises ``ValueError`` for a client with π_k outside (0, 1] or a negative share.
    """
    rho, pi = np.asarray(shares, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if rho.ndim != 1 or rho.shape != pi.shape or len(rho) == 0:
        raise ValueError(f"shares {list(rho.shape)} and probabilities {list(pi.shape)}: must be [K] both, K ≥ 1")
    if not ((pi > 0) & (pi <= 1)).all():
        raise ValueError(f"probabilities={pi.min():g} … {pi.max():g}: must lie in (0, 1] for every drawn client")
    if not (rho >= 0).all() or rho.sum() == 0:
        raise ValueError("shares: must not be negative, and one must be positive")
    ratios = rho / pi
    return ratios if literal else ratios / ratios.sum()
