"""Heterogeneity: distances of the clients' label mixes from the global label mix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, repr=False)
class Heterogeneity:
    """The label mixes of N clients with C classes, and totals over clients.

    ``frame``: one row per client with columns ``client``, ``size``, one share per class (named by
    the class), ``emd`` and ``js``. ``label_counts``: samples per client and class, int64 [N, C].
    ``totals``: number of clients, samples per client, means of ``emd`` and ``js`` weighted by size,
    mean number of distinct labels of a client.

    p_k is the label distribution of client k, p that of all clients together:

    - emd = Σ_c |p_k(c) − p(c)|, the "earth mover's distance" of Zhao et al. 2018, section 3.2: from
      0 to 2.
    - js = √(½ KL(p_k ‖ m) + ½ KL(p ‖ m)), m = (p_k + p)/2, logarithms to base 2: the Jensen–Shannon
      distance (Endres and Schindelin 2003), from 0 to 1.
    """

    frame: pd.DataFrame
    label_counts: np.ndarray
    totals: dict[str, float]

    def __repr__(self) -> str:
        totals = ", ".join(f"{name} {value:.4g}" for name, value in self.totals.items())
        rows = self.frame.to_string(max_rows=10, index=False, float_format="%.2f")
        return f"Heterogeneity: {totals}\n{rows}"


def measure_heterogeneity(
    labels: np.ndarray, sizes: np.ndarray, num_classes: int, class_names: Sequence[str] = ()
) -> Heterogeneity:
    """Compare the label mix of each client with the mix of all clients together.

    ``labels``: those of the first client, then those of the next, …, each in 0 … num_classes − 1.
    ``sizes``: how many each client has, [N], none of them 0. ``class_names``: by default the
    numbers.
    """
    cells = np.repeat(np.arange(len(sizes)), sizes) * num_classes + labels
    counts = np.bincount(cells, minlength=len(sizes) * num_classes).reshape(-1, num_classes)

    mix = counts / sizes[:, None]
    overall = counts.sum(0) / sizes.sum()
    middle = (mix + overall) / 2
    emd = np.abs(mix - overall).sum(1)
    divergence = (_relative_entropy(mix, middle) + _relative_entropy(overall, middle)) / 2
    js = np.sqrt(np.clip(divergence, 0, 1))

    ids = pd.DataFrame({"client": np.arange(len(sizes)), "size": sizes})
    names = [str(name) for name in class_names or range(num_classes)]
    shares = pd.DataFrame(mix, columns=names)
    distances = pd.DataFrame({"emd": emd, "js": js})
    totals = {
        "clients": len(sizes),
        "size_min": int(sizes.min()),
        "size_mean": float(sizes.mean()),
        "size_max": int(sizes.max()),
        "emd": float(np.average(emd, weights=sizes)),
        "js": float(np.average(js, weights=sizes)),
        "labels_per_client": float((counts > 0).sum(1).mean()),
    }
    return Heterogeneity(pd.concat([ids, shares, distances], axis=1), counts, totals)


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute KL(p ‖ q) in bits along the last axis, with 0·log 0 = 0."""
    ratio = np.divide(p, q, out=np.ones_like(q), where=np.broadcast_to(p > 0, q.shape))
    return (p * np.log2(ratio)).sum(-1)
