"""Explorers of short runs, and what they show."""

import plotly.graph_objects as go

from fedlab_course.explore.explorer import Explorer

SHORT = {"rounds": 5, "num_clients": 10, "clients_per_round": 4, "local_epochs": 1}


def make(**choice) -> Explorer:
    return Explorer(**{**SHORT, **choice})


def curves(figure: go.Figure) -> dict[str, list[float]]:
    return {trace.name: list(trace.y) for trace in figure.data}


def accuracy(explorer: Explorer, name: str) -> list[float]:
    return explorer.histories[name].frame.test_accuracy.tolist()
