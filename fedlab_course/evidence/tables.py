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
    """Choose the rows of the table ``name`` with the ``wanted`` column values, at least one row.

    "" is the value of an empty cell. Raises ``ValueError`` for a column that is missing and values that no row has.
    """
    rows = _chosen(table, name, wanted)
    if rows.empty:
        raise ValueError(f"the table {name} has no row with {dict(wanted)}")
    return rows


def fits(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row has the ``wanted`` values, compared as in :func:`matching`; a missing key has the value ""."""
    return all(_text("" if row.get(name) is None else row[name]) == _text(value) for name, value in wanted.items())


def numbers(statement: Statement, folder: Path = TABLES) -> dict[int, float]:
    """Compute the contrast of a statement: seed → number, for the seeds that have all of its rows.

    Empty where a row has not been measured. Raises ``ValueError`` for a row that a table holds twice for one seed, and
    for a column that is missing.
    """
    total: pd.Series | float = 0.0
    for sign, name, wanted in statement.rows():
        table = read(name, folder)
        column = pd.Series(dtype=float) if table.empty else _column(table, statement, name, wanted)
        if column.empty:
            return {}
        total = (total + sign * column).dropna()
    found = (total - statement.constant).dropna().sort_index()  # type: ignore[union-attr]
    return {int(str(seed)): float(value) for seed, value in found.items()}


def _column(table: pd.DataFrame, statement: Statement, name: str, wanted: dict[str, Any]) -> pd.Series:
    """The measured column of the rows with the ``wanted`` values, by seed."""
    try:
        rows = _chosen(table, name, wanted)
        if statement.measure not in table:
            raise ValueError(f"the table {name} has no column {statement.measure}")
        if rows.seed.duplicated().any():
            raise ValueError(f"the table {name} has several rows with {wanted} for one seed; name further columns")
    except ValueError as error:
        raise ValueError(f"statement {statement.id}: {error}") from error
    return rows.set_index("seed")[statement.measure]


def _chosen(table: pd.DataFrame, name: str, wanted: Mapping[str, Any]) -> pd.DataFrame:
    missing = {*wanted} - {*table}
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
