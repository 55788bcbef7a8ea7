"""Claims of a notebook, checked where they are made and recorded by the harness.

:func:`check` looks at the runs of the notebook itself, :func:`stored` shows what many stored runs say, and :func:`band`
whether a live run lies where those do.
"""

import html
from typing import Any

import numpy as np

from fedlab_course.display import GOOD, MIXED, box, publish
from fedlab_course.evidence.live import band
from fedlab_course.evidence.shown import STORED, stored

__all__ = ["STORED", "VERDICT", "band", "check", "stored"]

VERDICT = "application/vnd.fedlab.verdict+json"


def check(claim: str, holds: Any, evidence: str = "") -> None:
    """Show whether ``claim`` holds in the runs above, with the ``evidence`` (numbers, their spread over seeds).

    ``holds`` is a truth value, or an array, table, tensor or list of them, all of which must be true. A claim that does
    not hold here is a result, not an error: nothing is raised. ``ValueError``, if ``holds`` is empty, has missing
    values or is anything but truth values: a number is the evidence, and a claim compares it. ``python -m
    fedlab_course run`` collects the verdicts in ``summary.json`` and on the site's start page.
    """
    verdict = {"claim": str(claim), "holds": _truth(claim, holds), "evidence": str(evidence)}
    publish({VERDICT: verdict, "text/html": _as_html(verdict), "text/plain": _as_text(verdict)})


def _truth(claim: str, holds: Any) -> bool:
    values = np.asarray(holds.detach().cpu() if hasattr(holds, "detach") else holds)
    listed = values.ravel().tolist()
    if not listed or not all(isinstance(value, bool | np.bool_) for value in listed):
        raise ValueError(
            f"claim {claim!r}: holds must be True or False, or an array of them without gaps, such as `gap < 0.02` "
            f"gives, and it is {holds!r}"
        )
    return all(listed)


def _words(verdict: dict[str, Any]) -> str:
    return "✓ holds" if verdict["holds"] else "✗ does not hold here"


def _as_text(verdict: dict[str, Any]) -> str:
    evidence = f" ({verdict['evidence']})" if verdict["evidence"] else ""
    return f"{_words(verdict)}: {verdict['claim']}{evidence}"


def _as_html(verdict: dict[str, Any]) -> str:
    colour = GOOD if verdict["holds"] else MIXED
    evidence = f'<div style="font-size: .9em">{html.escape(verdict["evidence"])}</div>'
    below = evidence if verdict["evidence"] else ""
    return box("fedlab-verdict", colour, _words(verdict), verdict["claim"], below)
