"""Moving pictures: HTML with a script of its own, which stands in a notebook as on a page."""

from fedlab_course.shows.drifting import drifting
from fedlab_course.shows.one_round import one_round
from fedlab_course.shows.show import Show

__all__ = ["Show", "drifting", "one_round"]


def __dir__() -> list[str]:
    return __all__
