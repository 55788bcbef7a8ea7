"""Figures that change in place, and the elements that all explorers share."""

from fedlab_course.chart.elements import column, error_in_words, extend, ladder, note, row, text
from fedlab_course.chart.live import Chart, Stage

__all__ = ["Chart", "Stage", "column", "error_in_words", "extend", "ladder", "note", "row", "text"]
