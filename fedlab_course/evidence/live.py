"""Compare a live run with the stored ones: is it inside their band?"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_course import display
from fedlab_course.evidence import tables

WIDTH = 2.0  # standard deviations over seeds
# Share of the compared rounds that may leave the band. A run of the same law as five others is beyond two of their
# standard deviations from their mean in one round of seven: P(|t₄| > 2 / √1.2) = 0.14.
_ALLOWED = 0.2
_ROUNDING = 1e-5  # of a value: tables keep six digits


def band(
    live: History | Sequence[History],
    table: str,
    where: Mapping[str, Any],
    *,
    measure: str = "test_accuracy",
    name: str = "The live run",
) -> None:
    """Show whether ``live`` is inside the stored band: mean ± 2 standard deviations over seeds, round by round.

    ``table``: the sweep whose TABLE_curves.csv holds the band; ``where``: column → value of its rows. A run that leaves
    the band in more than a fifth of the common rounds is outside. Raises ``ValueError`` for a table or setting that is
    not there, several settings that fit, and runs that share no round with it.
    """
    validation.choice("measure", measure, ("test_accuracy", "train_loss"))
    curves = f"{table}_curves"
    stored = tables.matching(curves, where)
    if stored["round"].duplicated().any():
        raise ValueError(f"where={dict(where)}: fits several settings of {curves}; name further columns")
    runs = live if isinstance(live, Sequence) else [live]
    both = pd.concat([run.frame[["round", measure]].dropna() for run in runs]).merge(stored, on="round")
    if both.empty:
        first, *_, end = stored["round"]
        raise ValueError(f"live: has no round of the stored band of {table}, whose rounds are {first} … {end}")
    mean, spread = both[f"{measure}_mean"], WIDTH * both[f"{measure}_std"].fillna(0.0)
    count, outside = len(both), int(((both[measure] - mean).abs() > spread + _ROUNDING * mean.abs()).sum())
    leaves = outside > _ALLOWED * count
    place, agreeing = ("outside", outside) if leaves else ("inside", count - outside)
    last = both.sort_values("round").iloc[-1]
    text = (
        f"{name} is {place} the stored band in {agreeing} of {count} compared rounds: {measure.replace('_', ' ')}, "
        f"round {last['round']:.0f}: {last[measure]:.4g} live, {last[f'{measure}_mean']:.4g} ± "
        f"{WIDTH * last[f'{measure}_std']:.2g} stored ({last['n']:.0f} seeds, two standard deviations)."
    )
    display.publish(display.verdict("fedlab-band", f"{'✗' if leaves else '✓'} {place}", text))
