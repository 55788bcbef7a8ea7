"""Explorer: what each tier still knows while tiers train one after another."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import look, new_figure, set_description
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.ideas import Idea, gallery


def forgetting(
    accuracies: Mapping[float, Any],
    *,
    visits: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    strength: float | None = None,
    **options: Any,
) -> Idea:
    """What each tier still knows while tiers train one after another, for several λ. Slider ``value``.

    ``accuracies``: λ → [V, T], the accuracy on the data of each of T tiers after each of V server updates; ``visits``
    [V]: the tier that was trained before each of them (0, 1, …, T − 1, 0, … if None), drawn as a ring on its curve;
    ``names`` [T] of the tiers, "tier 0", … if None. Raises ``ValueError`` for tables of other shapes and other names.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    tables = {float(key): np.asarray(value, dtype=float) for key, value in accuracies.items()}
    shapes = {table.shape for table in tables.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError(f"accuracies: must be tables [V, T] of one shape, got {sorted(map(list, shapes))}")
    updates, tiers = next(iter(shapes))
    trained = np.arange(updates) % tiers if visits is None else np.asarray(visits, dtype=int)
    if len(trained) != updates:
        raise ValueError(f"visits: must have one entry per server update, {updates}, got {len(trained)}")
    called = [f"tier {tier}" for tier in range(tiers)] if names is None else [str(name) for name in names]
    if len(called) != tiers:
        raise ValueError(f"names: must be {tiers}, one per tier, got {called}")
    figures = {key: _tiers_figure(key, table, trained, called) for key, table in tables.items()}
    return gallery(figures, "λ of the penalty", value=strength, **options)


def _tiers_figure(strength: float, table: np.ndarray, trained: np.ndarray, names: Sequence[str]) -> go.Figure:
    along = np.arange(1, len(table) + 1)
    figure = new_figure(title=None, x_title="server updates", y_title="accuracy on its own data")
    for tier, (name, values) in enumerate(zip(names, table.T, strict=True)):
        ring = {"color": "#000000", "width": np.where(trained == tier, 2.5, 0)}
        hover = f"{name}: %{{y:.1%}} after update %{{x}}<extra></extra>"
        sizes = np.where(trained == tier, 12, 6)
        add_curve(figure, along, values, name, look(tier), size=sizes, marker_line=ring, hovertemplate=hover)
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    lost = table.max(0) - table[-1]
    text = (
        f"λ={strength:g}. Accuracy on the data of each of {table.shape[1]} tiers after each of {len(table)} server "
        f"updates; large ringed marks where the tier itself was trained. "
        f"Lost since its best, on average {lost.mean():.1%}."
    )
    rows = [[name, f"{table[-1, tier]:.1%}", f"{table[:, tier].max():.1%}"] for tier, name in enumerate(names)]
    set_description(figure, text, ["tier", "at the end", "best"], rows)
    return figure
