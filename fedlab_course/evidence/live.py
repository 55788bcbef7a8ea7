"""Compare a live run with the stored ones: is it inside their band?"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course import display
from fedlab_course.evidence import tables

MEASURES = ("test_accuracy", "train_loss")
WIDTH = 2.0  # standard deviations over seeds
# Share of the compared rounds that may leave the band. A run of the same law as five others is beyond two of their
# standard deviations from their mean in one round of seven: P(|t₄| > 2 / √1.2) = 0.14.
ALLOWED = 0.2
_ROUNDING = 1e-5  # of a value: tables keep six digits


def band(
    live: History | Sequence[History] | Mapping[int, float],
    table: str,
    where: Mapping[str, Any] | None = None,
    *,
    measure: str = "test_accuracy",
    name: str = "The live run",
) -> None:
    """Show whether ``live`` is inside the stored band: mean ± 2 standard deviations over seeds, round by round.

    ``live``: a history, several, or round → value. ``table``: the sweep whose TABLE_curves.csv holds the band;
    ``where``: column → value of its rows. The rounds that both have are compared, of each history; a run that leaves
    the band in more than a fifth of them is outside. Raises ``ValueError`` for a table that is not there, a column or
    setting that it does not have, and runs that share no round with it.
    """
    validation.choice("measure", measure, MEASURES)
    stored = curve(table, where or {})
    runs = [live] if isinstance(live, History | Mapping) else list(live)
    found = pd.concat([_points(run, measure) for run in runs], ignore_index=True)
    both = found.merge(stored, on="round")
    if both.empty:
        first, *_, end = stored["round"]
        raise ValueError(f"live: has no round of the stored band of {table}, whose rounds are {first} … {end}")
    mean, spread = both[f"{measure}_mean"], WIDTH * both[f"{measure}_std"].fillna(0.0)
    count, outside = len(both), int(((both["live"] - mean).abs() > spread + _ROUNDING * mean.abs()).sum())
    leaves = outside > ALLOWED * count
    place, agreeing = ("outside", outside) if leaves else ("inside", count - outside)
    last = both.sort_values("round").iloc[-1]
    text = (
        f"{name} is {place} the stored band in {agreeing} of {count} compared rounds: {measure.replace('_', ' ')}, "
        f"round {last['round']:.0f}: {last['live']:.4g} live, {last[f'{measure}_mean']:.4g} ± "
        f"{WIDTH * last[f'{measure}_std']:.2g} stored ({last['n']:.0f} seeds, two standard deviations)."
    )
    display.publish(display.verdict("fedlab-band", f"{'✗' if leaves else '✓'} {place}", text))


def curve(table: str, where: Mapping[str, Any]) -> pd.DataFrame:
    """The stored band of one setting, a row for each round.

    Raises ``ValueError`` if the table is not there, if it has no such column or setting, and if several settings fit.
    """
    rows = tables.matching(tables.present(f"{table}_curves"), f"{table}_curves", where)
    if rows["round"].duplicated().any():
        raise ValueError(f"where={dict(where)}: fits several settings of {table}_curves; name further columns")
    return rows


def _points(run: History | Mapping[int, float], measure: str) -> pd.DataFrame:
    if isinstance(run, History):
        return run.frame.reset_index()[["round", measure]].rename(columns={measure: "live"}).dropna()
    return pd.DataFrame({"round": list(run), "live": [float(value) for value in run.values()]})
