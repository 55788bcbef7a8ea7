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
    """The table NAME.csv; empty, with a column ``seed``, if it has not been measured yet."""
    path = folder / f"{name}.csv"
    if not path.is_file():
        return pd.DataFrame(columns=["seed"])
    return pd.read_csv(path)


def write(name: str, table: pd.DataFrame, folder: Path = TABLES) -> None:
    """Write the table NAME.csv."""
    with files.replacing(folder / f"{name}.csv") as file:
        file.write(table.to_csv(index=False, lineterminator="\n").encode())


def numbers(statement: Statement, folder: Path = TABLES) -> dict[int, float]:
    """The contrast of a statement by seed, for the seeds that have all of its rows.

    There are none where a row has not been measured. Raises ``ValueError`` for a row that a table holds twice for one
    seed, and for a column that it lacks.
    """
    total: pd.Series | None = None
    for sign, name, wanted in statement.rows():
        table = read(name, folder)
        if table.empty:
            return {}
        column = _column(table, statement, name, wanted)
        if column.empty:
            return {}
        total = sign * column if total is None else total.add(sign * column).dropna()
    assert total is not None  # a statement has at least one row
    return {int(str(seed)): float(value) for seed, value in (total - statement.constant).dropna().sort_index().items()}


def present(name: str, folder: Path = TABLES) -> pd.DataFrame:
    """The table NAME.csv. Raises ``ValueError`` if it has not been measured yet."""
    table = read(name, folder)
    if table.empty:
        there = ", ".join(sorted(path.stem for path in folder.glob("*.csv")))
        raise ValueError(f"table={name!r}: has not been measured; there are {there or 'none'}")
    return table


def matching(table: pd.DataFrame, name: str, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of the table ``name`` with these values, at least one; "" is what a row does not have.

    Raises ``ValueError`` for a column that it lacks, and for values that no row has.
    """
    rows = _chosen(table, name, wanted)
    if rows.empty:
        raise ValueError(f"the table {name} has no row with {dict(wanted)}")
    return rows


def _chosen(table: pd.DataFrame, name: str, wanted: Mapping[str, Any]) -> pd.DataFrame:
    missing = {*wanted} - {*table}
    if missing:
        raise ValueError(f"the table {name} has no column {', '.join(sorted(missing))}")
    for column, value in wanted.items():
        table = table[table[column].map(_text) == _text(value)]
    return table


def fits(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row has these values, compared as :func:`matching` does; what it does not have is ""."""
    own = {name: "" if row.get(name) is None else row[name] for name in wanted}
    return all(_text(own[name]) == _text(value) for name, value in wanted.items())


def _column(table: pd.DataFrame, statement: Statement, name: str, wanted: dict[str, Any]) -> pd.Series:
    """The measured column of the rows with the ``wanted`` values, by seed."""
    if statement.measure not in table:
        raise ValueError(f"statement {statement.id}: the table {name} has no column {statement.measure}")
    try:
        rows = _chosen(table, name, wanted)
    except ValueError as error:
        raise ValueError(f"statement {statement.id}: {error}") from error
    if rows.seed.duplicated().any():
        raise ValueError(f"statement {statement.id}: the table {name} has several rows with {wanted} for one seed")
    return rows.set_index("seed")[statement.measure]


def _text(value: Any) -> str:
    """How values are compared: 10 and 10.0 are one, and what a row does not have is ""."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
