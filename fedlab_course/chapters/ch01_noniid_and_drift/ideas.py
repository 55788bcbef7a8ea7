"""Explorer: what the Dirichlet α does to the clients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check import own
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider_of

_ = translator(__name__)


def skew(data: fl.Dataset, label_distance: Callable[..., Any]) -> Idea:
    """Who holds what when ``data`` is dealt to 100 clients with label mixes from Dir(α), and the
    mean EMD of the clients by ``label_distance``. Sliders ``alpha`` and ``seed``.
    """
    labels = np.asarray(data.train.y)
    classes = int(labels.max()) + 1
    words = own.whose(label_distance)

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = fl.partition.dirichlet(labels, num_clients=100, alpha=alpha, seed=seed)
        found = [float(label_distance(labels[part], labels, classes)) for part in parts]
        held = np.mean([len(np.unique(labels[part])) for part in parts])
        title = _("α = {alpha:g}: mean EMD {emd:.2f}, {words}; {held:.1f} labels a client").format(
            alpha=alpha, emd=np.mean(found), words=words, held=held
        )
        figure = fl.plots.partition(fl.FederatedDataset(data, parts), title=title)
        return prefixed(figure, _("Seed {seed}. {title}.").format(seed=seed, title=title))

    return Idea(draw, {"alpha": slider_of("alpha", "skew"), "seed": slider_of("seed", "skew")})
