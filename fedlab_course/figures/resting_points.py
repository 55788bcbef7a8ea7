"""Where an average comes to rest, against what is turned: the strength of a spring, or the work of a client."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREY, looks, new_figure, set_description

Curve = tuple[Sequence[float], Sequence[float]]


def resting_points(
    lines: Mapping[str, Curve],
    *,
    optimum: float,
    x_title: str,
    y_title: str = "resting point",
    points: Mapping[str, Curve] | None = None,
    log_x: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Curves name → (x, resting points), with the ``optimum`` as a dotted line.

    ``points``: name → (x, y) of runs, drawn as markers over the curves. ``log_x``: a logarithmic axis. Names begin with
    that of an algorithm, which has its own colour. Raises ``ValueError`` if there are no lines.
    """
    if not lines:
        raise ValueError("lines: must hold at least one curve, name → (x, y)")
    marked = points or {}
    styles = looks({name: name for name in lines})
    figure = new_figure(title=title, x_title=x_title, y_title=y_title)
    for name, (x, y) in lines.items():
        look = styles[name]
        figure.add_scatter(
            x=x, y=y, name=name, mode="lines", line={"color": look.colour, "dash": look.dash, "width": 3}
        )
    for name, (x, y) in marked.items():
        figure.add_scatter(
            x=x, y=y, name=name, mode="markers", marker={"size": 10, "color": BLACK, "symbol": "diamond"}
        )
    ends = [min(min(x) for x, _ in lines.values()), max(max(x) for x, _ in lines.values())]
    rule = {"color": GREY, "dash": "dot", "width": 3}
    figure.add_scatter(x=ends, y=[optimum, optimum], name="optimum", mode="lines", line=rule)
    if log_x:
        figure.update_xaxes(type="log", dtick=1)
    phrases = "; ".join(_in_words(name, curve) for name, curve in lines.items())
    text = f"Curves of the {y_title} against {x_title}; the optimum is {optimum:.4g}. {phrases}."
    rows = [[name, f"{x:g}", f"{y:.4f}"] for name, curve in {**lines, **marked}.items() for x, y in _some(curve)]
    set_description(figure, text, ["curve", x_title, y_title], rows)
    return figure


def _some(curve: Curve, most: int = 12) -> list[tuple[float, float]]:
    """At most about so many points of a curve, the first and the last among them."""
    pairs = list(zip(*curve, strict=True))
    every = max(1, len(pairs) // (most - 1))
    return [*pairs[:-1:every], pairs[-1]]


def _in_words(name: str, curve: Curve) -> str:
    x, y = curve
    return f"{name}: from {y[0]:.4f} at {x[0]:g} to {y[-1]:.4f} at {x[-1]:g}, highest {max(y):.4f}"
