"""The small tables that are kept of the runs, and the numbers that a statement takes from them."""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fedlab_core import files
from fedlab_core.language import translator
from fedlab_course.evidence.configs import Statement
from fedlab_course.folders import RESULTS

_ = translator(__name__)

TABLES = RESULTS / "evidence"


@lru_cache(maxsize=64)
def read(name: str, folder: Path = TABLES) -> pd.DataFrame:
    """Read the table NAME.csv; a table that has not been measured yet is empty, with a column
    ``seed``.
    """
    path = folder / f"{name}.csv"
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["seed"])


def write(name: str, table: pd.DataFrame, folder: Path = TABLES) -> None:
    """Write the table NAME.csv."""
    with files.replacing(folder / f"{name}.csv") as file:
        file.write(table.to_csv(index=False, lineterminator="\n").encode())


@lru_cache(maxsize=16)
def groups(
    name: str, columns: tuple[str, ...], folder: Path = TABLES
) -> dict[tuple[Any, ...], pd.DataFrame]:
    """The rows of the table NAME.csv by their values in ``columns``: for figures that ask for many.

    A table that has not been measured yet has no groups.
    """
    table = read(name, folder)
    return dict(list(table.groupby(list(columns), sort=False))) if len(table) else {}


def matching(name: str, wanted: Mapping[str, Any], folder: Path = TABLES) -> pd.DataFrame:
    """The rows of the table NAME.csv with the ``wanted`` column values; "" is an empty cell.

    Raises ``ValueError`` for a table that has not been measured yet, an unknown column, and without
    a row.
    """
    table = read(name, folder)
    if table.empty:
        there = ", ".join(sorted(path.stem for path in folder.glob("*.csv")))
        raise ValueError(f"table={name!r}: has not been measured; there are {there or 'none'}")
    rows = table[_right(name, wanted, folder)]
    if rows.empty:
        raise ValueError(f"the table {name} has no row with {dict(wanted)}")
    return rows


def fits(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row has the ``wanted`` values, compared as in :func:`matching`; a missing key has
    the value "".
    """
    for name, value in wanted.items():
        there = "" if row.get(name) is None else row[name]
        if _text(there) != _text(value):
            return False
    return True


def numbers(statement: Statement, folder: Path = TABLES) -> dict[int, float]:
    """Compute the contrast of a statement: seed → number, for the seeds that have all of its rows.

    Raises ``ValueError`` for a row that a table holds twice for one seed, and for a column that is
    missing.
    """
    terms = []
    for sign, name, wanted in statement.rows():
        table = read(name, folder)
        if table.empty:
            return {}
        right = _right(name, wanted, folder, statement.measure)
        seeds = table["seed"].to_numpy()[right].tolist()
        values = table[statement.measure].to_numpy()[right].tolist()
        if len({*seeds}) < len(seeds):
            raise ValueError(
                f"statement {statement.id}: the table {name} has several rows with {wanted} for "
                "one seed"
            )
        pairs = zip(seeds, values, strict=True)
        terms.append({seed: sign * value for seed, value in pairs if not math.isnan(value)})
    common = set.intersection(*map(set, terms))
    return {
        int(seed): sum(term[seed] for term in terms) - statement.constant for seed in sorted(common)
    }


def diverged(statement: Statement, folder: Path = TABLES) -> str:
    """Count the runs of a statement that diverged: "fedmas diverged in 3 of 5 runs", and empty if
    there is none.
    """
    runs = []
    for _sign, name, wanted in statement.rows():
        table = read(name, folder)
        if "diverged" in table:
            flags = table["diverged"][_right(name, wanted, folder)].astype(bool)
            if flags.any():
                who = next((wanted[key] for key in ("algorithm", "method") if key in wanted), name)
                words = _("{who} diverged in {count} of {all} runs")
                runs.append(words.format(who=who, count=flags.sum(), all=len(flags)))
    return _("; ").join(runs)


def forget() -> None:
    """Read the tables again at the next call."""
    read.cache_clear()
    groups.cache_clear()
    _texts.cache_clear()


def _right(name: str, wanted: Mapping[str, Any], folder: Path, *further: str) -> np.ndarray:
    """Which rows have the ``wanted`` values; the table must have their columns and the ``further``
    ones.
    """
    table = read(name, folder)
    missing = {*wanted, *further} - {*table}
    if missing:
        raise ValueError(f"the table {name} has no column {', '.join(sorted(missing))}")
    right = np.ones(len(table), dtype=bool)
    for column, value in wanted.items():
        right &= _texts(name, column, folder) == _text(value)
    return right


@lru_cache(maxsize=1024)  # hundreds of statements ask for the same columns
def _texts(name: str, column: str, folder: Path) -> np.ndarray:
    return np.array([_text(value) for value in read(name, folder)[column]])


def _text(value: Any) -> str:
    """The text by which values are compared: 10 and 10.0 are one, and an empty cell is ""."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)
