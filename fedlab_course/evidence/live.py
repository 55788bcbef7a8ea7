"""Does a live run lie where the stored ones do?"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course.display import GOOD, MIXED, box, publish
from fedlab_course.evidence import tables

MEASURES = ("test_accuracy", "train_loss")
WIDTH = 2.0  # standard deviations over seeds
# Of the compared rounds that may leave the band. A run of the same law as five others is beyond two of their standard
# deviations from their mean in one round of seven: P(|t₄| > 2 / √1.2) = 0.14.
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
    """Show whether ``live`` lies inside the stored band: mean ± 2 standard deviations over seeds, round by round.

    ``live``: a history, several, or round → value. ``table``: the name of the sweep whose TABLE_curves.csv holds the
    band, and ``where`` column → value of its rows. Compared are the rounds that both have; with several histories each
    of them is. A run that is outside in more than a fifth of them lies outside. Raises ``ValueError`` for a table that
    is not there, a column or setting that it lacks, and runs that share no round with it.
    """
    validation.choice("measure", measure, MEASURES)
    stored = curve(table, where or {})
    runs = [live] if isinstance(live, History | Mapping) else list(live)
    found = pd.concat([_points(run, measure) for run in runs], ignore_index=True)
    both = found.merge(stored, on="round")
    if both.empty:
        raise ValueError(f"live: has no round of the stored band of {table}, whose rounds are {_rounds(stored)}")
    mean, spread = both[f"{measure}_mean"], WIDTH * both[f"{measure}_std"].fillna(0.0)
    outside = both[(both["live"] - mean).abs() > spread + _ROUNDING * mean.abs()]
    last = both.sort_values("round").iloc[-1]
    evidence = (
        f"round {last['round']:.0f}: {last['live']:.4g} live, {last[f'{measure}_mean']:.4g} ± "
        f"{WIDTH * last[f'{measure}_std']:.2g} stored ({last['n']:.0f} seeds, two standard deviations)"
    )
    leaves = len(outside) > ALLOWED * len(both)
    verdict = "outside" if leaves else "inside"
    where_to = f"in {len(outside) if leaves else len(both) - len(outside)} of {len(both)} compared rounds"
    text = f"{name} lies {verdict} the stored band {where_to}: {measure.replace('_', ' ')}, {evidence}."
    sign = f"✗ {verdict}" if leaves else f"✓ {verdict}"
    shown = box("fedlab-band", MIXED if leaves else GOOD, sign, text)
    publish({"text/html": shown, "text/plain": f"{sign}: {text}"})


def curve(table: str, where: Mapping[str, Any]) -> pd.DataFrame:
    """The stored band of one setting, a row for each round.

    Raises ``ValueError`` if the table is not there, if it lacks a column or the setting, and if several settings fit.
    """
    rows = tables.matching(tables.present(f"{table}_curves"), f"{table}_curves", where)
    if rows["round"].duplicated().any():
        raise ValueError(f"where={dict(where)}: fits several settings of {table}_curves; name further columns")
    return rows


def _points(run: History | Mapping[int, float], measure: str) -> pd.DataFrame:
    if isinstance(run, History):
        frame = run.frame.reset_index()[["round", measure]].rename(columns={measure: "live"})
        return frame.dropna()
    return pd.DataFrame({"round": list(run), "live": [float(value) for value in run.values()]})


def _rounds(stored: pd.DataFrame) -> str:
    first, *_, last = stored["round"]
    return f"{first} … {last}"
