"""Partial work on the digits, for chapter 11: by chance, and always by the same clients.

100 clients, K = 20, B = 10, η = 0.05, 50 rounds, MLP 64-200-10. FedAvg that drops unfinished work ("drop") and that
keeps it ("keep"), FedProx with three strengths ("mu=…") and the best of them by the end accuracy of the seed ("best"),
and FedNova ("nova"). The runs of one seed are paired.

Stragglers: two labels a client, E = 5; a share of the cohort, drawn anew each round, does 1 … E epochs. Without
stragglers there is also FedAvg with a cohort of six ("six"): of a cohort of 20 with 90 % stragglers 5.6 finish.
Two speeds: fifty clients hold five labels, which the seed draws, two each, and always do one epoch; the fifty that
hold the other five do E = 10. "even" is FedAvg where all of them do ten. slow_accuracy and fast_accuracy: on the labels
of the one half and of the other, over the last tenth of the rounds.
"""

from typing import Any

import fedlab_core as fl
from fedlab_course.chapters.ch11_partial_work import two_speeds
from fedlab_course.evidence.controls import FedAvgDropping
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.runs import measured
from fedlab_course.evidence.measures import thinned

MUS = (0.01, 0.1, 1.0)
SETTINGS: dict[str, Any] = {"rounds": 50, "clients_per_round": 20, "batch_size": 10, "lr": 0.05}
_SIX = 6


def rules(local_epochs: int, batch_size: int) -> dict[str, fl.Algorithm]:
    """The algorithms by their names in the tables, all but "best"."""
    found: dict[str, fl.Algorithm] = {"drop": FedAvgDropping(local_epochs, batch_size), "keep": fl.FedAvg()}
    return found | {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS} | {"nova": fl.FedNova()}


def stragglers(seed: int, *, stragglers: float, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, with this share of stragglers."""
    data, given = fl.load_dataset("digits"), SETTINGS | {"local_epochs": 5} | settings
    law: dict[str, Any] = {"num_clients": 100, "labels_per_client": 2, "seed": seed}
    fed = fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, **law))
    about: Row = {"stragglers": stragglers}
    asked = {name: (rule, given) for name, rule in rules(given["local_epochs"], given["batch_size"]).items()}
    if not stragglers:
        asked["six"] = (fl.FedAvg(), given | {"clients_per_round": _SIX})
    found: dict[str, list[Row]] = {}
    for name, (rule, work) in asked.items():
        model = fl.models.mlp(fed, seed=seed)
        row, curve = measured(fed, model, rule, **work, stragglers=stragglers, seed=seed)
        points = thinned(curve)[["round", "test_accuracy", "train_loss"]].to_dict("records")
        found[name] = [row, *({"table": "curves"} | point for point in points)]
    return _named(found, about, seed)


def speeds(seed: int, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, where half of the clients are always slow."""
    given = SETTINGS | {"local_epochs": 10} | settings
    fed, slow = two_speeds.deal(fl.load_dataset("digits"), seed)
    half = fed.num_clients // 2
    asked: dict[str, fl.Algorithm] = {
        name: two_speeds.Slowed(rule, half) for name, rule in rules(given["local_epochs"], given["batch_size"]).items()
    }
    found: dict[str, list[Row]] = {}
    for name, rule in (asked | {"even": fl.FedAvg()}).items():
        model = fl.models.mlp(fed, seed=seed)
        watch = two_speeds.AccuracyBySpeed(model, slow)
        row, curve = measured(fed, model, rule, **given, on_round=watch, seed=seed)
        by_speed = watch.table.rename(columns="{}_accuracy".format)
        row |= by_speed.tail(max(1, len(by_speed) // 10)).mean().to_dict()
        points = thinned(curve.join(by_speed, on="round")).drop(columns=["bytes", "server_updates"])
        found[name] = [row, *({"table": "curves"} | point for point in points.to_dict("records"))]
    return _named(found, {}, seed)


def _named(found: dict[str, list[Row]], about: Row, seed: int) -> list[Row]:
    """The rows with the names of their algorithms, and once more those of the best μ as "best"."""
    best = max((f"mu={mu:g}" for mu in MUS), key=lambda name: found[name][0]["end_accuracy"])
    every = found | {"best": found[best]}
    return [{"algorithm": name, "seed": seed} | about | row for name, rows in every.items() for row in rows]


_SHARES = [{"stragglers": share} for share in (0.0, 0.5, 0.9)]
_SEEDS = tuple(range(10))
STRAGGLERS = Experiment("c11_stragglers", stragglers, _SHARES, _SEEDS, bands=("test_accuracy", "train_loss"))
SPEEDS = Experiment(
    "c11_speeds", speeds, [{}], _SEEDS, bands=("test_accuracy", "train_loss", "slow_accuracy", "fast_accuracy")
)
