"""Heterogeneity: distances of the clients' label mixes from the global label mix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fedlab_core.data.partition.parts import join_parts


@dataclass(frozen=True, repr=False)
class Heterogeneity:
    """The label mixes of N clients with C classes, and totals over clients.

    ``frame``: one row per client with columns ``client``, ``size``, one share per class (named by the class),
    ``emd`` and ``js``. ``label_counts``: samples per client and class, int64 [N, C]. ``size_min``, ``size_mean``,
    ``size_max``: samples per client. ``emd``, ``js``: means over clients, weighted by size. ``labels_per_client``:
    mean number of distinct labels of a client.

    p_k is the label distribution of client k, p that of all clients together:

    - emd = Σ_c |p_k(c) − p(c)|, the "earth mover's distance" of Zhao et al. 2018 ("Federated Learning with Non-IID
      Data", section 3.2), an L1 distance: 0 for equal mixes, at most 2.
    - js = √(½ KL(p_k ‖ m) + ½ KL(p ‖ m)), m = (p_k + p)/2, logarithms to base 2: the Jensen–Shannon distance (Endres
      and Schindelin 2003), 0 for equal mixes, 1 for mixes with no label in common.
    """

    frame: pd.DataFrame
    label_counts: np.ndarray
    size_min: int
    size_mean: float
    size_max: int
    emd: float
    js: float
    labels_per_client: float

    @property
    def totals(self) -> dict[str, float]:
        """Totals by name."""
        names = ("size_min", "size_mean", "size_max", "emd", "js", "labels_per_client")
        return {"clients": len(self.frame)} | {name: getattr(self, name) for name in names}

    def _summary(self) -> str:
        sizes = f"{self.size_min} to {self.size_max} samples each (mean {self.size_mean:.1f})"
        distances = f"mean EMD {self.emd:.3f} (0…2), mean JS distance {self.js:.3f} (0…1)"
        return f"{len(self.frame)} clients, {sizes}, {self.labels_per_client:.1f} labels per client; {distances}"

    def __repr__(self) -> str:
        table = self.frame.to_string(max_rows=10, index=False, float_format="%.2f")
        return f"Heterogeneity: {self._summary()}\n{table}"

    def _repr_html_(self) -> str:
        table = self.frame.to_html(max_rows=10, index=False, float_format="%.2f", border=0)
        return f"<p>{self._summary()}</p>{table}"


def measure_heterogeneity(
    y: np.ndarray, parts: Sequence[np.ndarray], num_classes: int, class_names: Sequence[str] = ()
) -> Heterogeneity:
    """Compare the label mix of each client with the mix of all clients together.

    ``y``: labels [n], integers 0 … num_classes − 1. ``parts``: one index array into ``y`` per client; a sample counts
    once for each client that holds it. ``class_names``: by default the numbers.

    Raises ``ValueError`` for no clients, an empty client, wrong indices or labels, or a wrong number of names.
    """
    names = [str(name) for name in class_names] or [str(c) for c in range(num_classes)]
    if len(names) != num_classes:
        raise ValueError(f"class_names: got {len(names)} names for num_classes={num_classes}; give one per class")
    _, sizes, joined = join_parts("parts", parts, len(y))
    labels = np.asarray(y)[joined]
    if labels.min() < 0 or labels.max() >= num_classes:
        raise ValueError(f"y: labels must lie in 0 … {num_classes - 1}, got {labels.min()} … {labels.max()}")
    cells = np.repeat(np.arange(len(sizes)), sizes) * num_classes + labels
    counts = np.bincount(cells, minlength=len(sizes) * num_classes).reshape(-1, num_classes)

    mix = counts / sizes[:, None]
    overall = counts.sum(0) / sizes.sum()
    middle = (mix + overall) / 2
    emd = np.abs(mix - overall).sum(1)
    js = np.sqrt(np.clip((_relative_entropy(mix, middle) + _relative_entropy(overall, middle)) / 2, 0, 1))
    ids = pd.DataFrame({"client": np.arange(len(sizes)), "size": sizes})
    shares = pd.DataFrame(mix, columns=names)
    return Heterogeneity(
        frame=pd.concat([ids, shares, pd.DataFrame({"emd": emd, "js": js})], axis=1),
        label_counts=counts,
        size_min=int(sizes.min()),
        size_mean=float(sizes.mean()),
        size_max=int(sizes.max()),
        emd=float(np.average(emd, weights=sizes)),
        js=float(np.average(js, weights=sizes)),
        labels_per_client=float((counts > 0).sum(1).mean()),
    )


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute KL(p ‖ q) in bits along the last axis, with 0·log 0 = 0."""
    ratio = np.divide(p, q, out=np.ones_like(q), where=(p > 0) & (q > 0))
    return (p * np.log2(np.where(p > 0, ratio, 1))).sum(-1)
