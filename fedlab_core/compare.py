"""Compare algorithms seed by seed, with intervals, at equal rounds, server updates or bytes.

Everything starts from name → histories, one per seed:

    values = compare.at_equal(histories, "bytes")      # one row per seed, one column per name
    compare.summary(values)                            # mean and t-interval of each name
    compare.table(histories)                           # all three prices
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_core.language import translator

_ = translator(__name__)

Histories = Mapping[str, Sequence[History]]
PRICES = ("rounds", "updates", "bytes")
_TOLERANCE = 0.01
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


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


def t_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Compute the mean of ``values`` [n] and its confidence interval, mean ± t · s/√n.

    s is the standard deviation (ddof 1) and t the quantile of Student's law with n − 1 degrees of
    freedom.
    """
    validation.real("level", level, below=1, exclusive=True)
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or len(numbers) < 2:
        raise ValueError(
            f"values {list(numbers.shape)}: must be [n] with n ≥ 2: a spread needs two runs"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(f"values: must be finite, got {numbers}")
    mean = float(numbers.mean())
    t = float(special.stdtrit(len(numbers) - 1, (1 + level) / 2))
    half = t * float(numbers.std(ddof=1)) / np.sqrt(len(numbers))
    return Interval(mean, mean - half, mean + half, len(numbers))


def price(history: History, x: str) -> pd.Series:
    """The cost up to each evaluated round: rounds, server updates, or bytes up and down."""
    validation.choice("x", x, PRICES)
    frame = history.frame
    if x == "bytes":
        return frame["bytes_up"] + frame["bytes_down"]
    return frame["round" if x == "rounds" else "server_updates"]


def at_equal(histories: Histories, x: str = "rounds", y: str = "test_accuracy") -> pd.DataFrame:
    """The column ``y`` of each history at an equal price, [seeds × names].

    ``x``: "rounds", "updates" or "bytes"; the budget is all that the cheapest run has spent. A run
    counts with its last evaluated round within the budget (plus 1 %), without interpolation, and as
    NaN if its first one costs more. Raises ``ValueError`` for unequal seeds.
    """
    budget = (1 + _TOLERANCE) * _smallest_price(histories, x)
    columns: dict[str, dict[int, float]] = {}
    for name, runs in histories.items():
        columns[name] = {run.config["seed"]: _last_within(budget, run, x, y) for run in runs}
        if len(columns[name]) < len(runs):
            raise ValueError(
                f"histories[{name!r}]: two runs have the same seed; every run must have its own"
            )
    first = next(iter(columns))
    for name in columns:
        if columns[name].keys() != columns[first].keys():
            raise ValueError(
                f"histories: {first} ran with seeds {sorted(columns[first])}, {name} with "
                f"{sorted(columns[name])}; must be the same"
            )
    return pd.DataFrame(columns).rename_axis("seed").sort_index()


def _last_within(budget: float, run: History, x: str, y: str) -> float:
    """The last value of the column ``y`` at a price of at most ``budget``; NaN if there is none."""
    affordable = run.frame[y][price(run, x) <= budget]
    return float(affordable.tail(1).mean())


def summary(values: pd.DataFrame) -> pd.DataFrame:
    """Describe each column of ``values`` [seeds × names].

    ``mean``, ``low`` and ``high`` of its t-interval, ``sd``, ``runs``.
    """
    table = pd.DataFrame(index=values.columns, columns=["mean", "low", "high", "sd"], dtype=float)
    for name in values.columns[values.notna().all()]:
        table.loc[name, "mean"] = values[name].mean()
        if len(values) > 1:
            interval = t_interval(values[name])
            table.loc[name] = [interval.mean, interval.low, interval.high, values[name].std()]
    return table.assign(runs=len(values))


def table(histories: Histories) -> pd.DataFrame:
    """Mean and half-width of the 95 % interval of the test accuracy at equal rounds, updates and
    bytes, as text.

    Each heading names the budget; a run whose first evaluated round exceeds it has "not one round".
    """
    columns = {}
    for x in PRICES:
        values = summary(at_equal(histories, x))
        half_width = (values["high"] - values["low"]) / 2
        means = values["mean"].map("{:.3f}".format)
        texts = means.where(half_width.isna(), means + half_width.map(" ± {:.3f}".format))
        budget = _in_words(x, _smallest_price(histories, x))
        columns[budget] = texts.where(values["mean"].notna(), _("not one round"))
    return pd.DataFrame(columns)


def _smallest_price(histories: Histories, x: str) -> int:
    """The price of the cheapest run: the largest budget that every run has spent."""
    runs = [run for group in histories.values() for run in group]
    if not runs or not all(map(len, histories.values())):
        raise ValueError(
            'histories: must map every name to at least one history, as in {"FedAvg": [history]}'
        )
    return int(min(price(run, x).iloc[-1] for run in runs))


def _in_words(x: str, amount: float) -> str:
    """A price as text: "1 round", "1,234,567 server updates", or with three figures "59.8 MB"."""
    if x == "bytes":
        for size, unit in _UNITS:
            if amount >= 0.9995 * size:  # 999,600 bytes are 1 MB, not 1000 kB
                return f"{float(f'{amount / size:.3g}'):,g} {unit}"
        return _("{number} bytes").format(number=f"{float(f'{amount:.3g}'):,g}")
    if amount == 1:
        return _("1 round") if x == "rounds" else _("1 server update")
    words = _("{number} rounds") if x == "rounds" else _("{number} server updates")
    return words.format(number=f"{amount:,.0f}")
