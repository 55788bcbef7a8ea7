"""Partial work on the digits, for chapter 9: by chance, and always by the same clients.

FedAvg that drops unfinished work ("drop") and that keeps it ("keep"), FedProx with three strengths ("mu=…") and the
best of them by the end accuracy of the seed ("best"), and FedNova ("nova"). Stragglers: two labels a client, E = 5; a
share of the cohort, drawn anew each round, does 1 … E epochs. Without stragglers there is also FedAvg with a cohort of
six ("six"): of 20 with 90 % stragglers 5.6 finish. Two speeds: fifty clients hold five labels, which the seed draws,
two each, and always do one epoch; the fifty that hold the other five do E = 10. "even" is FedAvg where all do ten,
"small" FedNova with a fifth of the rate and five times the rounds, and "nova, mu=10" FedNova with a proximal term.
slow_accuracy and fast_accuracy: on the labels of either half, over the last tenth of the rounds.
"""

from dataclasses import dataclass
from typing import Any

import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.chapters.ch09_partial_work import two_speeds
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, compared, deal, measured

MUS = (0.01, 0.1, 1.0)
CURVES = ("test_accuracy", "train_loss")
BOTH = (*CURVES, "slow_accuracy", "fast_accuracy")


@dataclass(frozen=True)
class FedAvgDropping(fl.Algorithm):
    """FedAvg of the clients that did all ``local_epochs`` E of their epochs, in batches of ``batch_size`` B.

    The usual way with stragglers, and the baseline of Li et al. 2020, section 5.2. If nobody has finished, the model
    stays.
    """

    local_epochs: int
    batch_size: int

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Σ n_k y_k / Σ n_k over those who finished, [P]."""
        full = self.local_epochs * (updates.num_samples / self.batch_size).ceil()
        weights = updates.num_samples * (updates.num_steps >= full)
        return updates.weighted_mean(weights) if weights.any() else server.params


def rules(local_epochs: int, batch_size: int) -> dict[str, fl.Algorithm]:
    """The algorithms by their names in the tables, all but "best"."""
    found: dict[str, fl.Algorithm] = {"drop": FedAvgDropping(local_epochs, batch_size), "keep": fl.FedAvg()}
    return found | {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS} | {"nova": fl.FedNova()}


def stragglers(seed: int, *, stragglers: float, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, with this share of stragglers."""
    fed, given = deal("two labels", seed), DIGITS | settings
    asked = {name: (rule, given) for name, rule in rules(given["local_epochs"], given["batch_size"]).items()}
    if not stragglers:
        asked["six"] = (fl.FedAvg(), given | {"clients_per_round": 6})
    found = {
        name: measured(fed, fl.models.mlp(fed, seed=seed), rule, **work, stragglers=stragglers, seed=seed)
        for name, (rule, work) in asked.items()
    }
    return compared(found, CURVES, best=lambda row: -row["end_accuracy"])


def speeds(seed: int, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, where half of the clients are always slow."""
    given = DIGITS | {"local_epochs": 10} | settings
    fed, slow = two_speeds.deal(fl.load_dataset("digits"), seed)
    half = fed.num_clients // 2
    slowed = rules(given["local_epochs"], given["batch_size"])
    asked: dict[str, fl.Algorithm] = {name: two_speeds.Slowed(rule, half) for name, rule in slowed.items()}
    found = {}
    asked |= {"even": fl.FedAvg(), "small": asked["nova"], "nova, mu=10": two_speeds.Slowed(fl.FedNova(mu=10.0), half)}
    for name, rule in asked.items():
        work = given | ({"lr": given["lr"] / 5, "rounds": 5 * given["rounds"]} if name == "small" else {})
        model = fl.models.mlp(fed, seed=seed)
        watch = two_speeds.AccuracyBySpeed(model, slow)
        row, curve = measured(fed, model, rule, **work, on_round=watch, seed=seed)
        by_speed = watch.table.rename(columns="{}_accuracy".format)
        row |= by_speed.tail(max(1, len(by_speed) // 10)).mean().to_dict()
        found[name] = (row, curve.join(by_speed, on="round"))
    return compared(found, BOTH, best=lambda row: -row["end_accuracy"])


STRAGGLERS = Experiment(
    "c11_stragglers", stragglers, [{"stragglers": share} for share in (0.0, 0.5, 0.9)], bands=CURVES
)
SPEEDS = Experiment("c11_speeds", speeds, [{}], bands=BOTH)
