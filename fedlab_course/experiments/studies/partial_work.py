"""Partial work on the digits, for chapter 9: by chance, and always by the same clients.

FedAvg that drops unfinished work ("drop") and that keeps it ("keep"), FedProx with three strengths
("mu=…") and the best of them by the end accuracy of the seed ("best"), and FedNova ("nova").
Stragglers: two labels a client, E = 5; a share of the cohort, drawn anew each round, does 1 … E
epochs. Without stragglers there is also FedAvg with a cohort of six ("six"): of 20 with 90 %
stragglers 5.6 finish. Two speeds: fifty clients hold five labels, which the seed draws, two each,
and always do one epoch; the fifty that hold the other five do E = 10. "even" is FedAvg where all do
ten, "small" FedNova with a fifth of the rate and five times the rounds, and "nova, mu=10" FedNova
with a proximal term. slow_accuracy and fast_accuracy: on the labels of either half, over the last
tenth of the rounds.

"slow_remedies", under the seeds of two speeds: what FedNova was given and the others were not.
FedProx with μ = 10 ("mu=10"), and FedAvg with a fifth of the rate and five times the rounds
("keep, small").

"speed_rates": "even", "keep" and "nova" of two speeds at each of five learning rates.
"speed_rounds": the same three at the lowest of these rates, for two, four and eight times the
rounds.
"step_lengths", under ten seeds of two speeds: with μ = 10 FedProx and FedNova with the server's
step of each other, "mu=10, long" and "nova, mu=10, short".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, compared, deal, measured
from fedlab_course.methods import two_speeds

MUS = (0.01, 0.1, 1.0)
CURVES = ("test_accuracy", "train_loss")
BOTH = (*CURVES, "slow_accuracy", "fast_accuracy")
NUM_CLIENTS = 100
RATES = (0.05, 0.1, 0.2, 0.4, 0.57)
ROUNDS = (100, 200, 400)
TWO_SPEEDS = DIGITS | {"local_epochs": 10}


@dataclass(frozen=True)
class FedAvgDropping(fl.Algorithm):
    """FedAvg of the clients that did all ``local_epochs`` E of their epochs, in batches of
    ``batch_size`` B.

    The usual way with stragglers, and the baseline of Li et al. 2020, section 5.2. If nobody has
    finished, the model stays.
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
    algorithms: dict[str, fl.Algorithm] = {
        "drop": FedAvgDropping(local_epochs, batch_size),
        "keep": fl.FedAvg(),
    }
    return algorithms | {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS} | {"nova": fl.FedNova()}


def stragglers(seed: int, *, stragglers: float, **settings: Any) -> list[ResultRow]:
    """A row and a curve for each algorithm, with this share of stragglers."""
    fed = deal("two labels", seed)
    given = DIGITS | settings
    asked = {
        name: (rule, given)
        for name, rule in rules(given["local_epochs"], given["batch_size"]).items()
    }
    if not stragglers:
        asked["six"] = (fl.FedAvg(), given | {"clients_per_round": 6})
    runs = {}
    for name, (rule, work) in asked.items():
        model = fl.models.mlp(fed, seed=seed)
        runs[name] = measured(fed, model, rule, **work, stragglers=stragglers, seed=seed)
    return compared(runs, CURVES, best=lambda row: -row["end_accuracy"])


def speeds(seed: int, **settings: Any) -> list[ResultRow]:
    """A row and a curve for each algorithm, where half of the clients are always slow."""
    given = TWO_SPEEDS | settings
    slowed = rules(given["local_epochs"], given["batch_size"])
    asked = {name: (_slowed(rule), given) for name, rule in slowed.items()}
    asked["even"] = (fl.FedAvg(), given)
    asked["small"] = (_slowed(fl.FedNova()), _small_steps(given))
    asked["nova, mu=10"] = (_slowed(fl.FedNova(mu=10.0)), given)
    return compared(_by_speed(seed, asked), BOTH, best=lambda row: -row["end_accuracy"])


def remedies(seed: int, **settings: Any) -> list[ResultRow]:
    """A row and a curve for FedProx with μ = 10, and for FedAvg with small steps."""
    given = TWO_SPEEDS | settings
    asked = {
        "mu=10": (_slowed(fl.FedProx(mu=10.0)), given),
        "keep, small": (_slowed(fl.FedAvg()), _small_steps(given)),
    }
    return compared(_by_speed(seed, asked), BOTH)


def rates(seed: int, *, lr: float, **settings: Any) -> list[ResultRow]:
    """A row for ten epochs of all clients, for FedAvg and for FedNova, at this learning rate."""
    given = TWO_SPEEDS | {"lr": lr} | settings
    return _rows_alone(_by_speed(seed, _at_both_speeds(given)))


def more_rounds(seed: int, *, rounds: int, **settings: Any) -> list[ResultRow]:
    """A row for ten epochs of all clients, for FedAvg and for FedNova, after this many rounds."""
    given = TWO_SPEEDS | {"rounds": rounds, "lr": RATES[0]} | settings
    return _rows_alone(_by_speed(seed, _at_both_speeds(given)))


def _at_both_speeds(given: dict[str, Any]) -> dict[str, tuple[fl.Algorithm, dict[str, Any]]]:
    """FedAvg where all clients do all epochs; FedAvg and FedNova where half of them are slow."""
    return {
        "even": (fl.FedAvg(), given),
        "keep": (_slowed(fl.FedAvg()), given),
        "nova": (_slowed(fl.FedNova()), given),
    }


def lengths(seed: int, **settings: Any) -> list[ResultRow]:
    """A row for FedProx with the long step of FedNova, and for FedNova with the short step of
    FedProx, both with μ = 10.
    """
    given = TWO_SPEEDS | settings
    longer = two_speeds.LONGER
    asked = {
        "mu=10, long": (two_speeds.LongerMove(fl.FedProx(10.0), longer), given),
        "nova, mu=10, short": (two_speeds.LongerMove(fl.FedNova(mu=10.0), 1 / longer), given),
    }
    slowed = {name: (_slowed(rule), work) for name, (rule, work) in asked.items()}
    return _rows_alone(_by_speed(seed, slowed))


def _rows_alone(runs: Mapping[str, tuple[ResultRow, pd.DataFrame]]) -> list[ResultRow]:
    """The rows of the runs, without their curves."""
    return [{"algorithm": name} | row for name, (row, _) in runs.items()]


def _slowed(rule: fl.Algorithm) -> fl.Algorithm:
    """``rule`` where the first half of the clients does one epoch."""
    return two_speeds.Slowed(rule, NUM_CLIENTS // 2)


def _small_steps(given: dict[str, Any]) -> dict[str, Any]:
    """A fifth of the rate, and five times the rounds."""
    return given | {"lr": given["lr"] / 5, "rounds": 5 * given["rounds"]}


def _by_speed(
    seed: int, asked: Mapping[str, tuple[fl.Algorithm, dict[str, Any]]]
) -> dict[str, tuple[ResultRow, pd.DataFrame]]:
    """The row and the curve of each algorithm, with the accuracies on the labels of either half."""
    fed, slow = two_speeds.deal(fl.load_dataset("digits"), seed, num_clients=NUM_CLIENTS)
    runs = {}
    for name, (rule, work) in asked.items():
        model = fl.models.mlp(fed, seed=seed)
        watch = two_speeds.AccuracyBySpeed(model, slow)
        row, curve = measured(fed, model, rule, **work, on_round=watch, seed=seed)
        by_speed = watch.table.rename(columns="{}_accuracy".format)
        row |= by_speed.tail(max(1, len(by_speed) // 10)).mean().to_dict()
        runs[name] = (row, curve.join(by_speed, on="round"))
    return runs


STRAGGLERS = Experiment(
    "stragglers", stragglers, [{"stragglers": share} for share in (0.0, 0.5, 0.9)], bands=CURVES
)
SPEEDS = Experiment("two_speeds", speeds, [{}], bands=BOTH)
REMEDIES = Experiment("slow_remedies", remedies, [{}], bands=BOTH)
RATED = Experiment("speed_rates", rates, [{"lr": lr} for lr in RATES])
LONGER = Experiment("speed_rounds", more_rounds, [{"rounds": rounds} for rounds in ROUNDS])
LENGTHS = Experiment("step_lengths", lengths, [{}])
