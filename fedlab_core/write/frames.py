"""Frames as rows of cells: what stands in a table, before it is Markdown or LaTeX."""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fedlab_core import validation

_NUMBER = r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
_MEASURED = re.compile(rf"({_NUMBER})(?: ± ({_NUMBER}))?")
_SUMMARY = ["mean", "low", "high", "sd", "runs"]
_BEST = {"highest": max, "lowest": min}


@dataclass(frozen=True)
class Cell:
    """``text`` and, if there is one, the half-width ``spread`` after a ±; ``number`` says whether text is a number."""

    text: str
    spread: str | None = None
    number: bool = False
    best: bool = False


@dataclass(frozen=True)
class Grid:
    """``headings`` of the columns, that of the names first, and ``rows`` of cells, the name first."""

    headings: list[str]
    rows: list[list[Cell]]

    @property
    def measured(self) -> list[bool]:
        """Which columns hold numbers."""
        return [any(row[column].number for row in self.rows) for column in range(len(self.headings))]


def grid(frame: Any, digits: int, best: str | None) -> Grid:
    """A frame as cells. Raises ``ValueError`` for anything but a frame of one row per index entry, and see ``best``."""
    if not isinstance(frame, pd.DataFrame) or frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise ValueError(f"frame {type(frame).__name__}: must be a pandas DataFrame with one level of rows and columns")
    digits = validation.integer("digits", digits)
    if list(frame.columns) == _SUMMARY:
        columns = _summary(frame, digits)
    else:
        columns = {str(name): [_cell(value, digits) for value in frame[name]] for name in frame.columns}
    if best is not None:
        validation.choice("best", best, _BEST)
        if frame.index.name == "seed":
            raise ValueError(f"best={best!r}: must be None for a frame of seeds × names, whose columns are the names")
        marked = list(columns)[:1] if list(frame.columns) == _SUMMARY else list(columns)
        columns |= {name: _marked(columns[name], best) for name in marked}
    names = [Cell(_words(name)) for name in frame.index]
    cells = zip(names, *columns.values(), strict=True)
    return Grid([str(frame.index.name or ""), *columns], [list(row) for row in cells])


def _summary(frame: pd.DataFrame, digits: int) -> dict[str, list[Cell]]:
    """The frame of ``compare.summary`` with its interval in one column."""
    half = (frame["high"] - frame["low"]) / 2
    means = [_measured(mean, width, digits) for mean, width in zip(frame["mean"], half, strict=True)]
    rest = {name: [_cell(value, digits) for value in frame[name]] for name in ("sd", "runs")}
    return {"mean ± half-width": means, **rest}


def _measured(mean: float, half: float, digits: int) -> Cell:
    cell = _cell(mean, digits)
    return cell if math.isnan(half) or not cell.number else Cell(cell.text, f"{half:.{digits}f}", number=True)


def _cell(value: Any, digits: int) -> Cell:
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "no")
    if isinstance(value, int | np.integer):
        return Cell(str(value), number=True)
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return Cell("–")
        return Cell(f"{value:.{digits}f}" if math.isfinite(value) else f"{value}".replace("inf", "∞"), number=True)
    text = _words(value)
    found = _MEASURED.fullmatch(text)
    return Cell(found[1], found[2], number=True) if found else Cell(text)


def _words(value: Any) -> str:
    """A value as one line of text."""
    return "–" if value is None or value is pd.NA or value is pd.NaT else " ".join(str(value).split())


def _marked(cells: list[Cell], best: str) -> list[Cell]:
    """The cells with the best number marked, and with it those that are printed alike."""
    values = [_value(cell) for cell in cells]
    finite = [value for value in values if not math.isnan(value)]
    if len(finite) < 2:
        return cells
    wanted = _BEST[best](finite)
    pairs = zip(cells, values, strict=True)
    return [Cell(cell.text, cell.spread, cell.number, best=value == wanted) for cell, value in pairs]


def _value(cell: Cell) -> float:
    text = cell.text.replace(",", "").replace("−", "-").replace("∞", "inf")
    return float(text) if cell.number else math.nan
