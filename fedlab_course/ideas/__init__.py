"""One idea each: a figure with sliders for a live notebook, and the plain figure for everywhere else.

As the last line of a cell each shows itself; ``.figure()`` is the plain figure. ``gallery`` is for figures of one's
own, ``Idea`` for drawings of one's own.
"""

from fedlab_course.ideas.budget import budget
from fedlab_course.ideas.corrections import corrections
from fedlab_course.ideas.forgetting import forgetting
from fedlab_course.ideas.gallery import gallery
from fedlab_course.ideas.idea import Idea
from fedlab_course.ideas.local_steps import local_steps
from fedlab_course.ideas.personal import personal
from fedlab_course.ideas.proximal import proximal
from fedlab_course.ideas.reachability import reachability
from fedlab_course.ideas.skew import skew

__all__ = [
    "Idea",
    "budget",
    "corrections",
    "forgetting",
    "gallery",
    "local_steps",
    "personal",
    "proximal",
    "reachability",
    "skew",
]


def __dir__() -> list[str]:
    return __all__
