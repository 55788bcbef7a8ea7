"""Compare algorithms seed by seed, with intervals, at equal rounds, server updates or bytes.

Everything starts from name → histories, one per seed::

    values = compare.at_equal(histories, "bytes")      # one row per seed, one column per name
    compare.summary(values)                            # mean and t-interval of each name
    compare.differences(values, "FedAvg")              # paired differences from FedAvg
    compare.table(histories)                           # all three prices
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fedlab_core import validation
from fedlab_core.history import History

Histories = Mapping[str, Sequence[History]]
PRICES = ("rounds", "updates", "bytes")
CLIENT_QUANTITIES = ("mean", "std", "worst_decile")
_TOLERANCE = 0.01
_NAMES = {"rounds": "round", "updates": "server update", "bytes": "byte"}
_UNITS = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))


@dataclass(frozen=True)
class Interval:
    """A mean over ``runs`` values and the ends of its confidence interval."""

    mean: float
    low: float
    high: float
    runs: int

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def t_interval(values: Any, level: float = 0.95) -> Interval:
    """Compute the mean of ``values`` [n] and its confidence interval, mean ± t · s/√n.

    s is the standard deviation (ddof 1) and t the quantile of Student's law with n − 1 degrees of freedom: for normal,
    independent values the interval covers the true mean with probability ``level``.
    """
    validation.real("level", level, below=1, exclusive=True)
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or len(numbers) < 2:
        raise ValueError(f"values {list(numbers.shape)}: must be [n] with n ≥ 2: a spread needs two runs")
    if not np.isfinite(numbers).all():
        raise ValueError(f"values: must be finite, got {numbers}")
    mean = float(numbers.mean())
    t = float(stats.t.ppf((1 + level) / 2, len(numbers) - 1))
    half = t * float(numbers.std(ddof=1)) / np.sqrt(len(numbers))
    return Interval(mean, mean - half, mean + half, len(numbers))


def price(history: History, x: str) -> pd.Series:
    """The cost up to each evaluated round: rounds, server updates, or bytes up and down."""
    validation.choice("x", x, PRICES)
    frame = history.frame
    if x == "bytes":
        return frame["bytes_up"] + frame["bytes_down"]
    return frame["round" if x == "rounds" else "server_updates"]


def smallest_price(histories: Histories, x: str) -> int:
    """The price of the cheapest run: the largest budget that every run has spent."""
    return int(min(price(run, x).iloc[-1] for run in _all(histories)))


def at_equal(
    histories: Histories, x: str = "rounds", budget: float | None = None, y: str = "test_accuracy"
) -> pd.DataFrame:
    """The column ``y`` of each history at an equal price, [seeds × names].

    ``x``: the price, "rounds", "updates" or "bytes"; ``budget``: its amount, by default :func:`smallest_price`. A run
    counts with its last evaluated round within the budget (plus 1 %), without interpolation, and as NaN if its first
    one costs more. Raises ``ValueError`` for an empty mapping, unequal seeds, and a run that ends before the budget.
    """
    allowed = smallest_price(histories, x) if budget is None else budget
    return _frame(histories, lambda name, run: _reached(name, run, x, allowed, y))


def clients(histories: Histories, quantity: str = "worst_decile") -> pd.DataFrame:
    """The "mean", "std" or "worst_decile" of the final accuracy per client, [seeds × names]."""
    validation.choice("quantity", quantity, CLIENT_QUANTITIES)
    if any(run.clients is None for run in _all(histories)):
        raise ValueError("histories: accuracy per client was not measured in all runs (regression, or a run not ended)")
    return _frame(histories, lambda name, run: getattr(run.clients, quantity))


def summary(values: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Per column of ``values`` [seeds × names]: ``mean``, ``low`` and ``high`` of its t-interval, ``sd``, ``runs``.

    A column with a NaN has NaN everywhere; a single run has a mean and no interval.
    """
    table = pd.DataFrame(index=values.columns, columns=["mean", "low", "high", "sd"], dtype=float)
    for name in values.columns[values.notna().all()]:
        table.loc[name, "mean"] = values[name].mean()
        if len(values) > 1:
            found = t_interval(values[name], level)
            table.loc[name] = [found.mean, found.low, found.high, values[name].std()]
    return table.assign(runs=len(values))


def differences(values: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Subtract the column ``reference`` from all others, seed by seed: [seeds × other names].

    The :func:`summary` of the result is the paired comparison: common effects of a seed cancel.
    """
    validation.choice("reference", reference, list(values.columns))
    return values.drop(columns=reference).sub(values[reference], axis=0)


def table(
    histories: Histories,
    prices: Sequence[str] = PRICES,
    y: str = "test_accuracy",
    *,
    level: float = 0.95,
    digits: int = 3,
) -> pd.DataFrame:
    """One row per name, one column per price: the mean over seeds ± half its t-interval, as text.

    Each column is :func:`at_equal` at the smallest price, which its heading names. A single run has no interval; a run
    whose first evaluated round exceeds the budget has "not one round".
    """
    columns = {}
    for x in prices:
        found = summary(at_equal(histories, x, y=y), level)
        half = (found["high"] - found["low"]) / 2
        means = found["mean"].map(f"{{:.{digits}f}}".format)
        texts = means.where(half.isna(), means + half.map(f" ± {{:.{digits}f}}".format))
        columns[price_in_words(x, smallest_price(histories, x))] = texts.where(found["mean"].notna(), "not one round")
    return pd.DataFrame(columns)


def price_in_words(x: str, amount: float) -> str:
    """A price as text: "1 round", "1,234,567 server updates", or bytes with three figures, as "59.8 MB"."""
    validation.choice("x", x, PRICES)
    if x == "bytes" and amount >= 999.5:
        # the first unit with at most three figures: 999,600 bytes are 1 MB, not 1000 kB
        size, unit = next(((size, unit) for size, unit in _UNITS if amount < 999.5 * size), _UNITS[-1])
        return f"{float(f'{amount / size:.3g}'):,g} {unit}"
    text = f"{amount:,.0f}"
    return f"{text} {_NAMES[x]}{'' if text == '1' else 's'}"


def _all(histories: Histories) -> list[History]:
    """Every run; at least one of each name."""
    runs = [run for group in histories.values() for run in group]
    if not runs or not all(map(len, histories.values())):
        raise ValueError('histories: must map every name to at least one history, as in {"FedAvg": [history]}')
    return runs


def _reached(name: str, run: History, x: str, budget: float, y: str) -> float:
    spent, who = price(run, x), f"{name} with seed {run.config['seed']}"
    if spent.iloc[-1] < budget:
        raise ValueError(f"budget={budget:g}: must be at most {spent.iloc[-1]:g} {x}, where {who} ends")
    within = run.frame[y][spent <= (1 + _TOLERANCE) * budget]
    return float(within.iloc[-1]) if len(within) else float("nan")


def _frame(histories: Histories, value: Callable[[str, History], float]) -> pd.DataFrame:
    """``value`` of each run, [seeds × names]."""
    _all(histories)
    seeds = {name: sorted(int(run.config["seed"]) for run in runs) for name, runs in histories.items()}
    first = next(iter(seeds))
    for name, mine in seeds.items():
        if len(set(mine)) < len(mine):
            raise ValueError(f"histories[{name!r}]: two runs have the same seed; every run must have its own")
        if mine != seeds[first]:
            raise ValueError(f"histories: {first} ran with seeds {seeds[first]}, {name} with {mine}; must be the same")
    columns = {name: {int(run.config["seed"]): value(name, run) for run in runs} for name, runs in histories.items()}
    return pd.DataFrame(columns, index=pd.Index(seeds[first], name="seed"))
