"""The small tables that are kept of the runs, and the numbers that a statement takes from them."""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core import files
from fedlab_course.evidence.configs import Statement
from fedlab_course.folders import RESULTS

TABLES = RESULTS / "evidence"


@lru_cache(maxsize=64)
def read(name: str, folder: Path = TABLES) -> pd.DataFrame:
    """Read the table NAME.csv; a table that has not been measured yet is empty, with a column ``seed``."""
    path = folder / f"{name}.csv"
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["seed"])


def write(name: str, table: pd.DataFrame, folder: Path = TABLES) -> None:
    """Write the table NAME.csv."""
    with files.replacing(folder / f"{name}.csv") as file:
        file.write(table.to_csv(index=False, lineterminator="\n").encode())


def present(name: str, folder: Path = TABLES) -> pd.DataFrame:
    """Read the table NAME.csv. Raises ``ValueError`` if it has not been measured yet."""
    table = read(name, folder)
    if table.empty:
        there = ", ".join(sorted(path.stem for path in folder.glob("*.csv")))
        raise ValueError(f"table={name!r}: has not been measured; there are {there or 'none'}")
    return table


def matching(table: pd.DataFrame, name: str, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """Choose the rows with the ``wanted`` column values; "" is an empty cell. Raises ``ValueError`` without a row."""
    rows = _chosen(table, name, wanted)
    if rows.empty:
        raise ValueError(f"the table {name} has no row with {dict(wanted)}")
    return rows


def fits(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row has the ``wanted`` values, compared as in :func:`matching`; a missing key has the value ""."""
    return all(_text("" if row.get(name) is None else row[name]) == _text(value) for name, value in wanted.items())


def numbers(statement: Statement, folder: Path = TABLES) -> dict[int, float]:
    """Compute the contrast of a statement: seed → number, for the seeds that have all of its rows.

    Raises ``ValueError`` for a row that a table holds twice for one seed, and for a column that is missing.
    """
    total: Any = 0.0
    for sign, name, wanted in statement.rows():
        table = read(name, folder)
        rows = table if table.empty else _chosen(table, name, wanted, statement.measure)
        if rows.empty:
            return {}
        if rows.seed.duplicated().any():
            raise ValueError(f"statement {statement.id}: the table {name} has several rows with {wanted} for one seed")
        total = (total + sign * rows.set_index("seed")[statement.measure]).dropna()
    found = (total - statement.constant).dropna().sort_index()
    return {int(seed): float(value) for seed, value in found.items()}


def _chosen(table: pd.DataFrame, name: str, wanted: Mapping[str, Any], *further: str) -> pd.DataFrame:
    """The rows with the ``wanted`` values; the table must have their columns and the ``further`` ones."""
    missing = {*wanted, *further} - {*table}
    if missing:
        raise ValueError(f"the table {name} has no column {', '.join(sorted(missing))}")
    for column, value in wanted.items():
        table = table[table[column].map(_text) == _text(value)]
    return table


def _text(value: Any) -> str:
    """The text by which values are compared: 10 and 10.0 are one, and an empty cell is ""."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
