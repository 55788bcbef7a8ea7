"""One idea each: a figure with sliders for a live notebook, and the plain figure for everywhere else.

As the last line of a cell each shows itself; ``.figure()`` is the plain figure. ``gallery`` is for figures of one's
own, ``Idea`` for drawings of one's own.
"""

from fedlab_course.ideas.gallery import gallery
from fedlab_course.ideas.idea import Idea

__all__ = ["Idea", "gallery"]
