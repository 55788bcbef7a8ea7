"""Moving pictures: HTML with a script of its own, which stands in a notebook as on a page."""

from fedlab_course.shows.one_round import Show, one_round

__all__ = ["Show", "one_round"]


def __dir__() -> list[str]:
    return __all__
