"""How many clusters does OPTICS find in the probes of 100 clients that hold digits, over its steepness ξ?

The probe is an epoch in batches of ten, or a step on one sample, as eq. (9) of [004] has it, at the rate 0.01.
``surplus``: clusters less the label sets that two clients or more hold; ``alone``: noise clients whose label set nobody
else holds.
"""

import numpy as np

from fedlab_core import clustering
from fedlab_course.chapters.ch07_fedmas.probes import probe
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import deal, label_sets
from fedlab_course.theory import cluster_quality

XI = (0.1, 0.15, 0.25, 0.4)


def run(seed: int, *, split: str, kind: str) -> list[Row]:
    """One row for every ξ."""
    fed = deal(split, seed)
    ids = label_sets(fed, split)
    sizes = np.bincount(ids)
    shared = int((sizes >= 2).sum())
    points, rows = probe(fed, kind, seed), []
    for xi in XI if kind == "epoch" else (0.25,):
        labels = clustering.optics(points, xi=xi).labels
        found = cluster_quality.quality(labels, ids)
        row: Row = {"xi": xi, "shared": shared, "clusters": found.num_clusters}
        row |= {"surplus": found.num_clusters - shared, "pure": found.num_pure, "noise": found.num_noise}
        rows.append(row | {"alone": int((sizes[ids] == 1)[labels < 0].sum())})
    return rows


_CASES = [
    {"split": split, "kind": kind} for split in ("iid", "two labels", "one label") for kind in ("epoch", "sample")
]
DIGIT_PROBES = Experiment("c05_probes", run, _CASES, columns={"kind": "probe"})
