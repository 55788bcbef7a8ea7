"""Whether runs can locate an optimum: not at the edge of a grid, and not on a flat curve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core.compare import t_interval
from fedlab_core.language import translator
from fedlab_course.evidence import tables
from fedlab_course.evidence.configs import Statement

_ = translator(__name__)

LEVEL = 0.95


def not_located(statement: Statement, folder: Path = tables.TABLES) -> str:
    """Say why the runs do not locate the optima that a statement compares; empty if they do.

    ``statement.argmin`` names the curves: a ``table``, the column ``along`` of the values that were
    tried, and the column ``least`` whose smallest value counts. Every row of the contrast is one
    curve for each seed. An optimum at the edge of the grid is a bound: a wider grid may move it. On
    a flat curve chance chooses the optimum.
    """
    if not statement.argmin:
        return ""
    reasons = []
    for _sign, _table, wanted in statement.rows():
        reason = _of_curve(_curves(statement.argmin, wanted, folder), statement.argmin["along"])
        if reason:
            row = ", ".join(map(str, wanted.values()))
            reasons.append(_("{row}: {reason}").format(row=row, reason=reason))
    return _("; ").join(reasons)


def _curves(argmin: Mapping[str, str], wanted: Mapping[str, Any], folder: Path) -> pd.DataFrame:
    """The curves of one row, seeds × values of the grid."""
    rows = tables.matching(argmin["table"], wanted, folder)
    return rows.pivot(index="seed", columns=argmin["along"], values=argmin["least"])


def _of_curve(curves: pd.DataFrame, along: str) -> str:
    grid = list(curves.columns)
    name = along.replace("_", " ")
    edges = curves.idxmin(axis=1).isin([grid[0], grid[-1]])
    if edges.any():
        return _(
            "the best value of {name} is at the edge of the grid, {first} or {last}, in {count} of "
            "{all} runs"
        ).format(
            name=name,
            first=f"{grid[0]:g}",
            last=f"{grid[-1]:g}",
            count=edges.sum(),
            all=len(curves),
        )
    best = grid.index(curves.mean().idxmin())
    as_good = [place for place in range(len(grid)) if not _is_worse(curves, place, best)]
    if as_good[0] < best - 1 or as_good[-1] > best + 1:
        first = grid[as_good[0]]
        last = grid[as_good[-1]]
        flat = _("the curve is flat: {name} {first} to {last} cannot be told from the best")
        return flat.format(name=name, first=f"{first:g}", last=f"{last:g}")
    return ""


def _is_worse(curves: pd.DataFrame, place: int, best: int) -> bool:
    """Whether the interval of the paired difference to the best value lies above zero."""
    differences = curves.iloc[:, place] - curves.iloc[:, best]
    if place == best or len(differences) < 2:
        return False
    return t_interval(differences.to_numpy(), LEVEL).low > 0
