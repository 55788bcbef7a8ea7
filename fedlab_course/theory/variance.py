"""Variance of the sampled mean, in closed form.

Equal shares 1/N; a vector's variance is E‖mean of the sample − mean of all‖², the sum over its
coordinates; S² has the divisor n − 1. Textbook formulas (Cochran 1977, chapters 2, 5 and 8).
"""

import numpy as np

from fedlab_core import validation


def simple_variance(models: np.ndarray, clients_per_round: int) -> float:
    """(1 − K/N)·S²/K: K of the N rows of ``models`` [N, P], uniformly without replacement."""
    num = len(models)
    validation.integer("clients_per_round", clients_per_round, minimum=1, maximum=num)
    return (1 - clients_per_round / num) * _variance(models) / clients_per_round


def systematic_variance(models: np.ndarray, labels: np.ndarray, clients_per_round: int) -> float:
    """The variance of the mean of a :class:`fedlab_core.sampling.Systematic` cohort, whatever the
    shares.

    ``models`` [N, P]; ``labels`` [N], −1 for strata of one. Each of the N starts fixes the numbers
    m_c drawn from the clusters; given them, the cohort is a stratified sample with weights 1/K. So
    the variance is the mean over the starts of Σ_c (m_c/K)²(1 − m_c/n_c) S_c²/m_c, plus that of Σ_c
    (m_c/K)·(mean of cluster c).
    """
    num = len(models)
    size = validation.integer(
        "clients_per_round", clients_per_round, minimum=1, maximum=len(models)
    )
    placed = np.where(labels < 0, labels.max() + 1, labels)  # noise comes last in the row
    clusters, row, sizes = np.unique(np.sort(placed), return_inverse=True, return_counts=True)
    drawn = row[(np.arange(num)[:, None] + num * np.arange(size)) // size]
    counts = (drawn[:, :, None] == np.arange(len(clusters))).sum(1)
    members = [models[placed == c] for c in clusters]
    within = counts / size**2 * (1 - counts / sizes) * np.array([_variance(m) for m in members])
    between = (counts / size - sizes / num) @ np.stack([m.mean(axis=0) for m in members])
    return float(within.sum(1).mean() + np.square(between).sum(1).mean())


def _variance(rows: np.ndarray) -> float:
    """S², summed over coordinates; 0 for a single row."""
    values = np.asarray(rows, dtype=np.float64)
    return float(values.var(axis=0, ddof=1).sum()) if len(values) > 1 else 0.0
