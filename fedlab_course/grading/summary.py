"""The summary of a class: which exercise failed how often, and the commonest hint on it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fedlab_course.grading.table import Submission, clean

_MAX_WORDS = 300  # characters of a hint


def summary(points: Mapping[str, Sequence[str]], graded: Sequence[Submission]) -> str:
    """Return a line for each exercise, the most failed first, and below it the commonest hint.

    ``points``: exercise → the points of each submission of the class; ``graded``: the submissions
    with hints, which are those of this run.
    """
    failed = {name: sum(one == "0" for one in given) for name, given in points.items() if given}
    if not failed:
        return "summary: no submission is graded"
    width = max(map(len, failed))
    lines = ["summary, the most failed exercise first:"]
    for name in sorted(failed, key=lambda name: (-failed[name] / len(points[name]), name)):
        share = f"not solved in {failed[name]} of {len(points[name])}"
        lines.append(f"  {name:<{width}}  {share}{_by_status(name, graded)}")
        lines += _commonest(name, graded)
    return "\n".join(lines)


def _by_status(name: str, graded: Sequence[Submission]) -> str:
    """Return how many of the answers that failed in this run are not even begun, or crash."""
    rows = [row for each in graded for row in each.rows if row.exercise == name and not row.points]
    numbers = {
        "open": sum(row.status == "open" for row in rows),
        "crashed or endless": sum(row.is_crash for row in rows),
        "not judged": sum(row.status == "not judged" for row in rows),
    }
    words = ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number)
    return f" ({words})" if words else ""


def _commonest(name: str, graded: Sequence[Submission]) -> list[str]:
    """Return the commonest hint on wrong answers, as the lines of the summary."""
    rows = [row for each in graded for row in each.rows if row.exercise == name and row.status == "wrong"]
    if not rows:
        return []
    hint, times = Counter(clean(row.hint) for row in rows).most_common(1)[0]
    short = hint if len(hint) <= _MAX_WORDS else hint[:_MAX_WORDS] + "…"
    return [f"      {times} of {len(rows)} wrong answer{'s' * (len(rows) != 1)}: {short}"]
