"""Which digits each member of the class draws."""

from fedlab_core.aliases import Config

# Mode → how many labels a phone draws, and how many drawings of each.
MODES = {"all": (10, 2), "two": (2, 8), "one": (1, 12)}


def labels(mode: str, number: int) -> list[int]:
    """The labels of the seat ``number`` 0, 1, …

    Ten seats in turn have the ten first labels; further seats have other pairs.
    """
    if mode == "all":
        return list(range(10))
    first = number % 10
    if mode == "one":
        return [first]
    step = 1 + number // 10 % 9
    return sorted([first, (first + step) % 10])


def task(mode: str, number: int, identity: int) -> Config:
    """The task of a seat as a phone gets it. ``identity``: a number that changes with the mode."""
    own = {"labels": labels(mode, number), "each": MODES[mode][1]}
    return {"task": identity, "seat": number, **own}


def is_held(place: int, num_labels: int, number: int) -> bool:
    """Whether the drawing at ``place`` 0, 1, … of a task is kept for the phone's own test.

    It is a quarter of them. The labels come in turn, so a second term lets each label have its
    share; the seat ``number`` lets others have other labels.
    """
    turn = place // num_labels if num_labels > 1 else 0
    return (place + turn + number) % 4 == 3
