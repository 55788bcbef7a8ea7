"""The page of a run over rows of parameters: a table of the rows, each with a link to its own site."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedlab_core import files
from fedlab_course.publish import pages


def write(results: Sequence[Any], links: Sequence[str | None], target: Path, profile: str) -> None:
    """Write ``target/index.html``: name, parameters, status, seconds and verdicts of each result, and its link."""
    pages.write_assets(target)
    environment = pages.environment(pages.ASSETS)
    pages.write_symbols(environment, target)
    names = list(dict.fromkeys(name for result in results for name in result.parameters))
    rows = [
        {
            "result": result,
            "link": link,
            "values": [_text(result.parameters[name]) if name in result.parameters else "" for name in names],
            "held": sum(verdict["holds"] for verdict in result.verdicts),
        }
        for result, link in zip(results, links, strict=True)
    ]
    html = environment.get_template("rows.html.j2").render(names=names, rows=rows, profile=profile)
    with files.replacing(target / "index.html") as file:
        file.write(html.encode())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
