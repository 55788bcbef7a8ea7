"""Which stored curves each figure of the sources is drawn from, as
``results/configs/figures/charts.toml`` says.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_course.evidence import tables
from fedlab_course.evidence.configs import CONFIGS

Where = Mapping[str, Any]
Drawn = tuple[str, Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class StoredChart:
    """Curves of the sweep ``table``: the rows with the values of a panel and of a line are one
    curve.

    ``lines``: name → column values, or a ``table`` of its own; ``panels``: title → column values.
    ``illustration``: line → (name, rounds, values) of a curve that a source has drawn and not
    measured, dotted in the first panel.
    """

    title: str
    table: str
    measure: str
    lines: Mapping[str, Where]
    panels: Mapping[str, Where] = field(default_factory=lambda: {"": {}})
    illustration: Mapping[str, Drawn] = field(default_factory=dict)

    def curve(self, panel: str, line: str, folder: Path) -> pd.DataFrame:
        """``round``, ``mean``, ``std`` and ``n`` of one curve. Raises ``ValueError`` if it is not
        there.
        """
        own = {**self.panels[panel], **self.lines[line]}
        name = f"{own.pop('table', self.table)}_curves"
        rows = tables.matching(name, own, folder).sort_values("round")
        return rows.rename(
            columns={f"{self.measure}_{measure}": measure for measure in ("mean", "std")}
        )


def _read() -> dict[str, StoredChart]:
    given = tomllib.loads((CONFIGS / "figures" / "charts.toml").read_text(encoding="utf-8"))
    drawn = given.pop("illustrations")
    for fields in given.values():
        fields["illustration"] = drawn.get(fields.get("illustration"), {})
    return {name: StoredChart(**fields) for name, fields in given.items()}


CHARTS: Mapping[str, StoredChart] = _read()  # by the name of the figure
