"""The page that a figure is drawn on: its traces, its axes, and where they lie."""

from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D

from fedlab_core.write.axes import Axis, keep_scale
from fedlab_core.write.bars import Bars, arrange
from fedlab_core.write.boxes import Boxes
from fedlab_core.write.colours import colour
from fedlab_core.write.curves import Curve
from fedlab_core.write.maps import Contours, HeatMap, Map
from fedlab_core.write.properties import Part
from fedlab_core.write.trace import Trace

_KINDS: dict[str, Any] = {"scatter": Curve, "bar": Bars, "heatmap": HeatMap, "contour": Contours, "box": Boxes}
_COLORWAY = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
)
_MARGINS = {"l": 80.0, "r": 80.0, "t": 100.0, "b": 80.0}


class Page:
    """A figure, {"data", "layout"}, on ``width`` × ``height`` pixels. All lengths are in pixels, y upwards.

    One pixel is a point of matplotlib's: at 72 dots an inch a font of 14 is 14 pixels high, as Plotly means it.
    """

    def __init__(self, figure: dict[str, Any], width: float, height: float) -> None:
        layout = figure.get("layout", {})
        template = layout.get("template", {})
        self.layout = Part("layout", layout, template.get("layout"))
        self.width, self.height = width, height
        self.font_size = float(self.layout("font.size", 12))
        self.font_colour = colour(self.layout("font.color", "#444"))
        self.margins = {side: float(self.layout(f"margin.{side}", size)) for side, size in _MARGINS.items()}
        self.canvas = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor=self._background("paper"))
        self.renderer = FigureCanvasAgg(self.canvas).get_renderer()
        self.pixels = Affine2D().scale(1 / 72) + self.canvas.dpi_scale_trans
        self.axes = self._axes(figure)
        self.traces = self._traces(figure, template)
        self.panels = self._panels()
        for axis in self.axes.values():
            axis.learn(self._columns(axis))
        for trace in self.traces:
            if isinstance(trace, Bars):
                arrange([one for one in self.traces if isinstance(one, Bars)], self.layout)
                break
        for trace in self.traces:
            trace.reach()

    def settle(self) -> None:
        """Put the axes where the margins leave them room, with ends that fit."""
        left, below = self.margins["l"], self.margins["b"]
        self.plot = (left, below, self.width - left - self.margins["r"], self.height - below - self.margins["t"])
        for axis in self.axes.values():
            begin, across = (left, self.plot[2]) if axis.letter == "x" else (below, self.plot[3])
            axis.start, axis.length = begin + axis.domain[0] * across, (axis.domain[1] - axis.domain[0]) * across
            axis.find_ends(self._shared(axis))
        for axis in self.axes.values():
            if axis.part("scaleanchor") in self.axes:
                keep_scale(axis, self.axes[axis.part("scaleanchor")])
        for (x, y), panel in self.panels.items():
            one, other = self.axes[x], self.axes[y]
            box = (one.start / self.width, other.start / self.height, one.length / self.width)
            panel.set_position((*box, other.length / self.height))
            panel.set_xlim(*one.ends)
            panel.set_ylim(*other.ends)

    def home(self, axis: Axis) -> Any:
        """The panel that an axis is written beside: that with the axis it is anchored to, otherwise its first."""
        anchor = axis.part("anchor", "y" if axis.letter == "x" else "x")
        if anchor == "free":
            axis.part.refuse("anchor", anchor)
        key = (axis.name, anchor) if axis.letter == "x" else (anchor, axis.name)
        own = [panel for names, panel in self.panels.items() if axis.name in names]
        return self.panels.get(key, own[0])

    def stands_along(self, axis: Axis) -> bool:
        """Whether bars or boxes stand side by side along an axis, which then has no grid unless it is told to."""
        return any(isinstance(one, Bars | Boxes) and one.axis(one.along) is axis for one in self.traces)

    def _background(self, what: str) -> Any:
        return colour(self.layout(f"{what}_bgcolor", "white"))

    def _axes(self, figure: dict[str, Any]) -> dict[str, Axis]:
        used = {"x": set[str](), "y": set[str]()}
        for trace in figure.get("data", ()):
            for letter, names in used.items():
                names.add(trace.get(f"{letter}axis", letter))
        axes = {}
        for letter, names in used.items():
            for name in sorted(names or {letter}):
                own = self.layout.part(f"{letter}axis{name[1:]}")
                common = self.layout.part(f"{letter}axis")  # the template's counts for all axes
                own.layers = [*own.layers[:1], *common.layers[1:]] if name[1:] and own.layers else own.layers
                axes[name] = Axis(name, own)
        return axes

    def _traces(self, figure: dict[str, Any], template: dict[str, Any]) -> list[Trace]:
        colorway = list(self.layout("colorway", _COLORWAY))
        traces: list[Trace] = []
        for number, data in enumerate(figure.get("data", ())):
            kind = data.get("type", "scatter")
            defaults = (template.get("data", {}).get(kind) or [{}])[0]
            part = Part(f"data[{number}]", data, defaults)
            if part.choice("visible", True, (True, False)):
                traces.append(_KINDS[kind](part, number, self.axes, colorway))
        decimated = 0
        for number, trace in enumerate(traces):
            if isinstance(trace, Curve | Bars | Map):
                trace.text_size = self.font_size
            if isinstance(trace, Curve | Bars):
                trace.text_colour = self.layout("font.color", "#444")
            if isinstance(trace, Curve):
                trace.before = decimated
                decimated += bool(trace.part("marker.maxdisplayed", 0)) and "markers" in trace.mode
                same = [one for one in traces[:number] if isinstance(one, Curve) and one.x_axis is trace.x_axis]
                trace.below = next((one for one in same[::-1] if one.y_axis is trace.y_axis), None)
            if isinstance(trace, Map) and trace.part("coloraxis"):
                trace.shared = self.layout.part(trace.part("coloraxis"))
        return traces

    def _panels(self) -> dict[tuple[str, str], Any]:
        """One pair of matplotlib's axes per pair of the figure's, without any of its own decoration."""
        keys = dict.fromkeys((trace.x_axis.name, trace.y_axis.name) for trace in self.traces)
        panels = {}
        for number, key in enumerate(keys or {("x", "y"): None}):
            panel = self.canvas.add_axes((0, 0, 1, 1), label=f"{number}", zorder=1)
            panel.set_axis_off()
            back = {"facecolor": self._background("plot"), "linewidth": 0, "transform": panel.transAxes}
            panel.add_patch(Rectangle((0, 0), 1, 1, zorder=0, **back))
            panels[key] = panel
        return panels

    def _columns(self, axis: Axis) -> list[Any]:
        """Everything that stands along an axis, and along those that go with it."""
        root = self._root(axis)
        mine = [one for one in self.traces if self._root(one.axis(axis.letter)) == root]
        return [column for trace in mine for column in trace.columns(axis.letter)]

    def _shared(self, axis: Axis) -> list[Any]:
        root = self._root(axis)
        return [reach for other in self.axes.values() if self._root(other) == root for reach in other.reaches]

    def _root(self, axis: Axis) -> str:
        """The axis that this one goes with."""
        return str(axis.part("matches", axis.name))
