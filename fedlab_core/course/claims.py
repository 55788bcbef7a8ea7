"""Claims of a notebook, checked where they are made and recorded by the harness."""

import html
import sys
from typing import Any

VERDICT = "application/vnd.fedlab.verdict+json"


def check(claim: str, holds: Any, evidence: str = "") -> None:
    """Show whether ``claim`` holds in the runs above, with the ``evidence`` (numbers, their spread over seeds).

    ``holds`` is read as a truth value. A claim that does not hold here is a result, not an error: nothing is raised.
    ``python -m fedlab_core course`` collects the verdicts in ``summary.json`` and on the site's start page.
    """
    verdict = {"claim": str(claim), "holds": _truth(holds), "evidence": str(evidence)}
    bundle = {VERDICT: verdict, "text/html": _as_html(verdict), "text/plain": _as_text(verdict)}
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def _truth(holds: Any) -> bool:
    try:
        return bool(holds)
    except (TypeError, ValueError):  # an array of several values: the claim holds if all of them do
        return bool(all(holds))


def _words(verdict: dict[str, Any]) -> tuple[str, str]:
    return ("✓", "holds") if verdict["holds"] else ("✗", "does not hold here")


def _as_text(verdict: dict[str, Any]) -> str:
    sign, words = _words(verdict)
    evidence = f" ({verdict['evidence']})" if verdict["evidence"] else ""
    return f"{sign} {words}: {verdict['claim']}{evidence}"


def _as_html(verdict: dict[str, Any]) -> str:
    sign, words = _words(verdict)
    colour = "#006b4f" if verdict["holds"] else "#a33c00"
    evidence = f'<div style="color: #555; font-size: .9em">{html.escape(verdict["evidence"])}</div>'
    return (
        f'<div class="fedlab-verdict" style="border-left: 4px solid {colour}; padding: .3em .8em; margin: .5em 0">'
        f'<strong style="color: {colour}">{sign} {words}</strong> · {html.escape(verdict["claim"])}'
        f"{evidence if verdict['evidence'] else ''}</div>"
    )
