"""One idea each: a figure with sliders for a live notebook, and the plain figure for everywhere else.

As the last line of a cell each shows itself; ``.figure()`` is the plain figure. ``gallery`` is for figures of one's
own, ``Idea`` for drawings of one's own.
"""

from fedlab_course.ideas.absence import absence
from fedlab_course.ideas.budget import budget
from fedlab_course.ideas.cohorts import cohorts
from fedlab_course.ideas.corrections import corrections, side_by_side
from fedlab_course.ideas.decay import decay
from fedlab_course.ideas.forgetting import forgetting
from fedlab_course.ideas.gallery import gallery
from fedlab_course.ideas.idea import Idea
from fedlab_course.ideas.local_steps import local_steps
from fedlab_course.ideas.margin import margin, undecided
from fedlab_course.ideas.personal import personal
from fedlab_course.ideas.proximal import proximal
from fedlab_course.ideas.reachability import reachability
from fedlab_course.ideas.skew import skew
from fedlab_course.ideas.unequal_work import unequal_work

__all__ = [
    "Idea",
    "absence",
    "budget",
    "cohorts",
    "corrections",
    "decay",
    "forgetting",
    "gallery",
    "local_steps",
    "margin",
    "personal",
    "proximal",
    "reachability",
    "side_by_side",
    "skew",
    "undecided",
    "unequal_work",
]


def __dir__() -> list[str]:
    return __all__
