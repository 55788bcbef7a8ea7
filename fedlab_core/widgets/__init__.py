"""Explorers: figures with sliders for a live notebook, each with a plain figure for everywhere else.

``Explorer`` trains; the others show one idea each: ``drift``, ``proximal``, ``corrections``, ``skew``,
``reachability``, ``forgetting``, and ``gallery`` for figures of one's own. As the last line of a cell each shows
itself; ``.figure()`` is the plain figure.
"""

from fedlab_core.widgets.dirichlet import skew
from fedlab_core.widgets.explorer import Explorer
from fedlab_core.widgets.idea import Idea
from fedlab_core.widgets.line import drift
from fedlab_core.widgets.optics import reachability
from fedlab_core.widgets.plane import corrections, proximal
from fedlab_core.widgets.precomputed import forgetting, gallery

__all__ = [
    "Explorer",
    "Idea",
    "corrections",
    "drift",
    "forgetting",
    "gallery",
    "proximal",
    "reachability",
    "skew",
]


def __dir__() -> list[str]:
    return __all__
