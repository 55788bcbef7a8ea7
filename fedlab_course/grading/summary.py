"""The summary of a class: which exercise failed how often, and the commonest hint on it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fedlab_course.check.exercises import Verdict
from fedlab_course.grading.points_table import Submission, clean

_MAX_WORDS = 300  # characters of a hint


def summary(points: Mapping[str, Sequence[str]], graded: Sequence[Submission]) -> str:
    """Return a line for each exercise, the most failed first, and below it the commonest hint.

    ``points``: exercise → the points of each submission of the class; ``graded``: the submissions
    with hints, which are those of this run.
    """
    failed = {
        name: sum(result == "0" for result in given) for name, given in points.items() if given
    }
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
    failed = [verdict for verdict in _verdicts(name, graded) if not verdict.points]
    numbers = {
        "open": sum(verdict.status == "open" for verdict in failed),
        "crashed or endless": sum(verdict.is_crash for verdict in failed),
        "not judged": sum(verdict.status == "not judged" for verdict in failed),
    }
    words = ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number)
    return f" ({words})" if words else ""


def _commonest(name: str, graded: Sequence[Submission]) -> list[str]:
    """Return the commonest hint on wrong answers, as the lines of the summary."""
    wrong = [verdict for verdict in _verdicts(name, graded) if verdict.status == "wrong"]
    if not wrong:
        return []
    hint, times = Counter(clean(verdict.hint) for verdict in wrong).most_common(1)[0]
    short = hint if len(hint) <= _MAX_WORDS else hint[:_MAX_WORDS] + "…"
    return [f"      {times} of {len(wrong)} wrong answer{'s' * (len(wrong) != 1)}: {short}"]


def _verdicts(name: str, graded: Sequence[Submission]) -> list[Verdict]:
    """Return the verdicts on the exercise ``name`` in all submissions."""
    rows = [row for submission in graded for row in submission.rows]
    return [row for row in rows if row.exercise == name]
