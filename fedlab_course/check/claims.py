"""Claims of a notebook: :func:`check` uses its own runs, :func:`stored` the stored ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedlab_core.language import translator
from fedlab_course import display
from fedlab_course.check import own
from fedlab_course.evidence.shown import STORED, stored

_ = translator(__name__)

__all__ = ["STORED", "VERDICT", "check", "stored"]

VERDICT = "application/vnd.fedlab.verdict+json"


def check(claim: str, holds: Any, evidence: str = "", of: Sequence[Any] = ()) -> None:
    """Show whether ``claim`` holds in the runs above, with the ``evidence`` (numbers, their spread
    over seeds).

    ``holds``: a truth value, or an array, table, tensor or list of truth values that must all be
    true; ``ValueError`` for anything else. A claim that does not hold is a result and no error.
    ``of``: the reader's functions or classes that the claim is about. If the course's solution
    stands in for one, the claim gets no tick, and the line says so.
    ``python -m fedlab_course run`` collects the verdicts.
    """
    data: dict[str, Any] = {
        "claim": str(claim),
        "holds": _truth(claim, holds),
        "evidence": str(evidence),
    }
    word = _("✓ holds") if data["holds"] else _("✗ does not hold here")
    if not own.is_own(*of):
        word = _("○ with the course's solution")
    lines = [data["evidence"]] if data["evidence"] else []
    display.publish(display.verdict("fedlab-verdict", word, data["claim"], lines, {VERDICT: data}))


def _truth(claim: str, holds: Any) -> bool:
    values = np.asarray(holds.detach().cpu() if hasattr(holds, "detach") else holds)
    listed = values.ravel().tolist()
    if not listed or not all(isinstance(value, bool | np.bool_) for value in listed):
        raise ValueError(
            f"claim {claim!r}: holds={holds!r}: must be True or False, or an array of truth values "
            "without gaps; compare the numbers, for example `gap < 0.02`"
        )
    return all(listed)
