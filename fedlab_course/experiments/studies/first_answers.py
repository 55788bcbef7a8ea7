"""[004] section 3.4.2: every client trains, and the first answers of each cluster count. Does it matter?

FedSSO on the digits with 100 clients, where each has a time of its own, exp(z_k) with z_k from the normal law, times
exp(0.25 z) in each round: "first" takes as many of a cluster as the systematic draw does, and of them the fastest;
"random" is the systematic draw. ``asked``: how many different clients ever took part. Bytes are not compared: "first"
also sends the model to everybody.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal, measured

JITTER = 0.25


@dataclass(frozen=True)
class Heard(fl.FedSSO):
    """FedSSO that notes who took part; with ``first``, the fastest of each cluster."""

    first: bool = False
    times: tuple[float, ...] = ()
    heard: list[int] = field(default_factory=list)

    def describe(self) -> dict[str, Any]:
        """Without ``heard``, which is no setting."""
        return {name: value for name, value in super().describe().items() if name != "heard"}

    def cohorts(self, server: Server) -> list[np.ndarray]:
        """The cohort of the systematic draw, or as many of each cluster, the fastest."""
        drawn = super().cohorts(server)
        if self.first:
            strata = server.state["clusters"].cpu().numpy()
            late = np.array(self.times) * np.exp(JITTER * server.stream("times").standard_normal(server.num_clients))
            drawn = [fastest(cohort, strata, late) for cohort in drawn]
        self.heard.extend(k for cohort in drawn for k in cohort.tolist())
        return drawn


def fastest(cohort: np.ndarray, strata: np.ndarray, times: np.ndarray) -> np.ndarray:
    """As many clients of each stratum as ``cohort`` has, those with the shortest ``times`` [N], in increasing order.

    ``strata`` [N]; −1 counts as a stratum.
    """
    numbers, counts = np.unique(strata[cohort], return_counts=True)
    members = [np.flatnonzero(strata == number) for number in numbers]
    chosen = [some[np.argsort(times[some])[:count]] for some, count in zip(members, counts, strict=True)]
    return np.sort(np.concatenate(chosen))


def run(seed: int, *, split: str, draw: str) -> list[Row]:
    """One row."""
    fed = deal(split, seed)
    times = tuple(np.exp(fl.randomness.stream(seed, "times").standard_normal(fed.num_clients)).tolist())
    algorithm = Heard(first=draw == "first", times=times)
    settings = DIGITS | {"clients_per_round": 10, "seed": seed}
    found, _ = measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **settings)
    kept = {name: found[name] for name in ("end_accuracy", "end_loss", "diverged")}
    return [{"asked": len(set(algorithm.heard))} | kept]


_CASES = [{"split": split, "draw": draw} for split in ("two labels", "one label") for draw in ("random", "first")]
FIRST_ANSWERS = Experiment("c05_first", run, _CASES)
