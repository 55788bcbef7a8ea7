"""Chapter 5: as much training in few updates; digits, one label a client.

"few_rounds" is FedAvg with one round more than tiers make within fifty updates, so about the same
training: their search, an epoch of 100 clients, is that of a round. "many_rounds" is FedAvg with as
many rounds as tiers make updates in fifty rounds. "full_tiers" is TFedAvg within fifty updates with
all clients of each tier and ``_EPOCHS`` epochs, so about as much training as FedAvg in as many.
"few_sides" has the clients of tiers within fifty updates, who train side by side in as many rounds,
and "few_sides_bytes" in twice as many: FedMas sends 2.1 times the bytes of TFedAvg.
"few_singles" has one client an update in as many rounds as tiers within fifty updates.
"one_step" is FedAvg with one local step a round: in fifty rounds it makes about as many steps as
tiers and their search within fifty updates. "one_step_long" has ten times the rounds, and as many
steps as fifty rounds of five epochs.
"…_rates" runs each rate on seeds 100–102, measured on validation samples, as in "tiers_pairs"; then
the best rate runs on seeds 200–219, measured on the test images. Accuracy is the mean over the last
tenth of the rounds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import DIGITS, deal, divided
from fedlab_course.experiments.studies.learning_rates import ON_DIGITS, validated
from fedlab_course.experiments.studies.tiers_early import SPLIT, UPDATES, after_tiers, whole
from fedlab_course.methods.one_client import OneClientAnUpdate
from fedlab_course.methods.side_by_side import SideBySide

_EPOCHS = 13
_CLIENTS = 100


def few(tiers: int) -> int:
    """:func:`whole`, and a round for the search."""
    return whole(tiers) + 1


def twice(tiers: int) -> int:
    """Twice :func:`whole`: the bytes of FedMas with one label a client, or a little less."""
    return 2 * whole(tiers)


def many(tiers: int) -> int:
    """The server updates of all rounds of ``tiers`` tiers."""
    return int(DIGITS["rounds"]) * tiers


def fifty(tiers: int) -> int:
    """The rounds of FedAvg with fifty updates."""
    return UPDATES


def five_hundred(tiers: int) -> int:
    """The rounds of one step with the steps of fifty rounds: two batches in each of five epochs."""
    return 10 * UPDATES


@dataclass(frozen=True)
class _Study:
    """A method in a table, its ``rule`` and own settings ``work``, and the function from the number
    of tiers to its rounds.
    """

    method: str
    rule: fl.Algorithm
    rounds_of: Callable[[int], int]
    work: Mapping[str, int | None] = field(default_factory=dict)

    def choose(self, seed: int, *, method: str) -> list[ResultRow]:
        """A row for each rate, measured on validation samples."""
        fed = divided(validated("digits", seed), SPLIT, seed)
        return [{"lr": lr} | self._ended(fed, lr, seed) for lr in ON_DIGITS.rates]

    def judge(self, seed: int, *, method: str, lr: float) -> list[ResultRow]:
        """The run at one rate, measured on the test images."""
        return [self._ended(deal(SPLIT, seed), lr, seed)]

    def _ended(self, fed: fl.FederatedDataset, lr: float, seed: int) -> ResultRow:
        """The rounds, and the accuracy after them, as :func:`after_tiers`."""
        return after_tiers(fed, self.rule, self.rounds_of, seed=seed, lr=lr, **self.work)


def chosen(earlier: Tables, table: str) -> list[ExperimentCase]:
    """The method at the rate with the highest mean accuracy in ``table``; the first of equals."""
    means = earlier[table].groupby(["method", "lr"], sort=False)["accuracy"].mean()
    best = means.groupby(level="method", sort=False).idxmax()
    return [{"method": method, "lr": float(lr)} for method, lr in best]


def _pair(name: str, study: _Study) -> tuple[Experiment, Experiment]:
    """The experiment that chooses rates, and the one that judges."""
    first = Experiment(f"{name}_rates", study.choose, [{"method": study.method}])
    best = partial(chosen, table=first.name)
    return first, Experiment(name, study.judge, best, after=first.name)


_ALL = {"clients_per_round": _CLIENTS, "local_epochs": _EPOCHS}
FEW_SIDES_RATES, FEW_SIDES = _pair("few_sides", _Study("tiers side by side", SideBySide(), whole))
FEW_SIDES_BYTES_RATES, FEW_SIDES_BYTES = _pair(
    "few_sides_bytes", _Study("tiers side by side", SideBySide(), twice)
)
FEW_SINGLES_RATES, FEW_SINGLES = _pair(
    "few_singles", _Study("one client an update", OneClientAnUpdate(), whole)
)
_ONE_STEP = {"local_epochs": None, "local_steps": 1}
FEW_ROUNDS_RATES, FEW_ROUNDS = _pair("few_rounds", _Study("FedAvg", fl.FedAvg(), few))
MANY_ROUNDS_RATES, MANY_ROUNDS = _pair("many_rounds", _Study("FedAvg", fl.FedAvg(), many))
FULL_TIERS_RATES, FULL_TIERS = _pair(
    "full_tiers", _Study("TFedAvg", fl.algorithms.TFedAvg(), whole, _ALL)
)
ONE_STEP_RATES, ONE_STEP = _pair("one_step", _Study("FedAvg", fl.FedAvg(), fifty, _ONE_STEP))
ONE_STEP_LONG_RATES, ONE_STEP_LONG = _pair(
    "one_step_long", _Study("FedAvg", fl.FedAvg(), five_hundred, _ONE_STEP)
)
