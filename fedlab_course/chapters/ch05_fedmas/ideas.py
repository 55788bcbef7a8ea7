"""Explorer: what each tier still knows while tiers train one after another."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, look, new_figure, set_description
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea, gallery


def forgetting(
    accuracies: Mapping[float, np.ndarray], *, visits: Sequence[int], names: Sequence[str], goal: Goal | None = None
) -> Idea:
    """What each tier still knows while tiers train one after another, for several λ. Slider ``value``.

    ``accuracies``: λ → [V, T], the accuracy on the data of each of T tiers after each of V server updates; ``visits``
    [V]: the tier that was trained before each of them, drawn as a ring on its curve; ``names`` [T] of the tiers.
    """
    figures = {strength: _figure(strength, table, np.asarray(visits), names) for strength, table in accuracies.items()}
    return gallery(figures, "λ of the penalty", goal=goal)


def _figure(strength: float, table: np.ndarray, trained: np.ndarray, names: Sequence[str]) -> go.Figure:
    along, last, best = np.arange(1, len(table) + 1), table[-1], table.max(0)
    figure = new_figure(title=None, x_title="server updates", y_title="accuracy on its own data")
    for tier, (name, values) in enumerate(zip(names, table.T, strict=True)):
        mine = trained == tier
        ring, sizes = {"color": BLACK, "width": np.where(mine, 2.5, 0)}, np.where(mine, 12, 6)
        hover = f"{name}: %{{y:.1%}} after update %{{x}}<extra></extra>"
        add_curve(figure, along, values, name, look(tier), size=sizes, marker_line=ring, hovertemplate=hover)
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    text = (
        f"λ={strength:g}. Accuracy on the data of each of {len(names)} tiers after each of {len(table)} server "
        f"updates; large ringed marks where the tier itself was trained. "
        f"Lost since its best, on average {(best - last).mean():.1%}."
    )
    rows = [[name, f"{end:.1%}", f"{top:.1%}"] for name, end, top in zip(names, last, best, strict=True)]
    set_description(figure, text, ["tier", "at the end", "best"], rows)
    return figure
