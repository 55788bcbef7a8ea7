"""Chapter 13: noise against labels and clusters, both read off the same ten sums.

The probe of FedSSO, clipped to the median norm κ of all probes, with noise of σκ in every entry.
The sum of a label adds the moves of its bias and of its weights in the last layer. A label is named
if its sum is above z standard deviations σκ√(entries) of the noise in it: ``threshold`` z is 0, or
1.5, which named the most sets with seeds 100 and 101. ``exact``, ``precision``, ``recall`` and
``main`` are those of the table ``leaked_labels``. ``sums_rand`` is the adjusted Rand index of
OPTICS' clusters of the ten sums and the label sets, ``all_rand`` that of the clusters of all
entries.
"""

import math

import torch

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import deal
from fedlab_course.experiments.studies.sent import NOISES, agreement, hidden
from fedlab_course.methods import leaks

THRESHOLDS = (0.0, 1.5)


def run(seed: int, *, split: str) -> list[ResultRow]:
    """One row for each noise and threshold."""
    fed = deal(split, seed)
    mixes = leaks.label_mixes(fed)
    model = fl.models.mlp(fed, seed=seed)
    moves, _ = leaks.moves(fed, model, seed=seed)
    clip = float(torch.linalg.vector_norm(moves, dim=1).median())
    *_, weight, _ = model.parameters()
    entries = weight.shape[1] + 1  # of one sum
    rows = list[ResultRow]()
    for noise in NOISES:
        sent = hidden(moves, clip, noise, fl.randomness.stream(seed, "privacy"))
        sums = leaks.scores(sent, model, "row")
        found = {
            "sums_rand": agreement(torch.from_numpy(sums), fed, split),
            "all_rand": agreement(sent, fed, split),
        }
        for threshold in THRESHOLDS:
            least = threshold * noise * clip * math.sqrt(entries)
            about = {"noise": noise, "threshold": threshold}
            rows.append(about | leaks.named(sums - least, mixes)._asdict() | found)
    return rows


NOISY_SUMS = Experiment(
    "noisy_sums", run, [{"split": "two labels"}], columns={"split": "partition"}
)
