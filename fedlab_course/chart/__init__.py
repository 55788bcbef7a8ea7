"""Figures that change in place, and the elements that all explorers share."""

from fedlab_course.chart.elements import (
    button,
    column,
    error_in_words,
    extend,
    hint,
    labelled,
    ladder,
    note,
    row,
    shared,
    style,
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
    "hint",
    "labelled",
    "ladder",
    "note",
    "row",
    "shared",
    "style",
    "text",
]
