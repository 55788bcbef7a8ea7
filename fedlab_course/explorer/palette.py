"""Which curve has which colour, for as long as it is on the chart."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from fedlab_core.plots.style import Look, known_slot, look
from fedlab_course.explorer.choices import Curve


class Palette:
    """The looks of the curves on a chart. Whatever comes and goes beside it, a curve keeps the look that it has."""

    def __init__(self) -> None:
        self._slots: dict[Curve, int] = {}

    def looks(self, curves: Sequence[Curve]) -> dict[Curve, Look]:
        """A look for each of ``curves``: that of its algorithm, or the next one where another curve has it already."""
        self._slots = {curve: slot for curve, slot in self._slots.items() if curve in curves}
        for curve in curves:
            own = known_slot(curve.algorithm)
            if own is not None and own not in self._slots.values():
                self._slots.setdefault(curve, own)
        for curve in curves:
            if curve not in self._slots:
                order = [*range(1, 7), 0, *range(7, 7 + len(curves))]  # FedAvg's black is the last to be given away
                self._slots[curve] = next(slot for slot in order if slot not in self._slots.values())
        return {curve: look(self._slots[curve]) for curve in curves}


def paint(figure: go.Figure, looks: Mapping[str, Look]) -> None:
    """Give each curve of ``figure`` the look that stands under its name in ``looks``."""
    for trace in figure.data:
        one = looks[trace.name]
        trace.update(line={"color": one.colour, "dash": one.dash}, marker={"color": one.colour, "symbol": one.marker})
