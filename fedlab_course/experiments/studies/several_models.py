"""Chapter 11: one model, one for each cluster, or one for each client, on the digits dealt out to
40 clients.

A quarter of each client's samples, about nine, is kept from training. Five splits: IID, Dirichlet
0.3, two labels and one label a client, and "concepts": IID samples whose labels are named in four
ways.
"""

import math
from collections.abc import Mapping

import fedlab_core as fl
from fedlab_core import algorithms
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal, label_sets
from fedlab_course.methods import several
from fedlab_course.theory import cluster_quality

NUM_CLIENTS = 40
NUM_GROUPS = 4
SPLITS = ("iid", "dirichlet", "two labels", "one label", "concepts")
STRENGTHS = {"two labels": (0.0, 1.0), "one label": (0.0, 1.0)}
ALL_STRENGTHS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)


def methods(strengths: tuple[float, ...] = (0.0, 1.0)) -> dict[str, fl.Algorithm]:
    """The methods of the chapter by name; Ditto once for each λ of ``strengths``, and with λ = 0 it
    is "alone".
    """
    named: dict[str, fl.Algorithm] = {
        "FedAvg": fl.FedAvg(),
        "fine-tuning": algorithms.FineTune(epochs=5),
        "FedPer": algorithms.FedPer(local=("3",)),
        "per cluster": several.PerCluster(noise="nearest"),
        "IFCA": algorithms.IFCA(num_models=NUM_GROUPS),
    }
    return named | {
        f"Ditto λ={strength:g}" if strength else "alone": algorithms.Ditto(strength)
        for strength in strengths
    }


def federation(split: str, seed: int) -> several.Concepts:
    """The federation of a split, its true groups (all 0 where there are none), and the test set of
    each client.
    """
    if split == "concepts":
        data = fl.load_dataset("digits")
        return several.concepts(data, num_clients=NUM_CLIENTS, num_groups=NUM_GROUPS, seed=seed)
    fed = deal(split, seed, NUM_CLIENTS)
    return several.Concepts(fed, label_sets(fed, split), [fed.test] * NUM_CLIENTS)


def run(seed: int, *, split: str) -> list[ResultRow]:
    """One row for each method."""
    return served_rows(seed, split, methods(STRENGTHS.get(split, ALL_STRENGTHS)))


def served_rows(seed: int, split: str, compared: Mapping[str, fl.Algorithm]) -> list[ResultRow]:
    """One row for each of the ``compared`` algorithms, by name."""
    dealt = federation(split, seed)
    work = DIGITS | {"eval_every": DIGITS["rounds"], "seed": seed, "progress": False}
    model = fl.models.mlp(dealt.fed, seed=seed)
    rows = []
    for name, algorithm in compared.items():
        served = several.serve(dealt.fed, model, algorithm, dealt.tests, **work)
        last = served.history.records[-1]
        agrees = math.nan
        if len(set(dealt.ids.tolist())) > 1:
            agrees = cluster_quality.quality(served.models, dealt.ids).adjusted_rand
        row: ResultRow = {
            "method": name,
            "own": float(served.own.mean()),
            "whole": float(served.whole.mean()),
        }
        assert served.history.clients is not None  # the run has ended
        worst = float(served.history.clients.worst_decile)
        row |= {"worst": worst, "gap": float(served.trained.mean() - served.own.mean())}
        row |= {"models": int(served.models.max()) + 1, "adjusted_rand": agrees}
        rows.append(row | {"bytes": last.bytes_up + last.bytes_down})
    return rows


SEVERAL = Experiment(
    "several", run, [{"split": split} for split in SPLITS], columns={"split": "partition"}
)
