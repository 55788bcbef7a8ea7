"""Figures that change in place, and the elements that all explorers share."""

from fedlab_course.chart.elements import (
    button,
    column,
    error_in_words,
    extend,
    labelled,
    ladder,
    note,
    row,
    shared,
    text,
)
from fedlab_course.chart.live import Chart, Stage

__all__ = [
    "Chart",
    "Stage",
    "button",
    "column",
    "error_in_words",
    "extend",
    "labelled",
    "ladder",
    "note",
    "row",
    "shared",
    "text",
]
