"""An experiment: a function of a seed and a case, and the cases."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fedlab_course.evidence import configs

ResultRow = dict[str, Any]
ExperimentCase = Mapping[str, Any]
Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Experiment:
    """``rows(seed, **case)`` gives the rows of one seed of one of the ``cases``, column → plain
    value.

    :meth:`unit` adds seed and case to each row, under the names in ``columns`` where these differ.
    Rows go to the table ``name``; rows with a key "table" go to ``NAME_table`` instead. ``cases``:
    mappings of plain values, or a function that makes them from the tables of another experiment,
    ``after``, which is completed first, unless it grows: then its present table is enough.
    ``bands``: the columns of the table ``NAME_curves`` that are kept as mean and standard deviation
    over seeds alone. ``seeds``: by default those in ``results/configs/experiments``. ``digits``: of
    the numbers that are stored; 17 keep a number as it is. ``grows``: a long experiment of one
    table, which is stored with the units that are there whenever the command ends; what the stored
    table has is not done again on another machine.
    """

    name: str
    rows: Callable[..., list[ResultRow]]
    cases: Sequence[ExperimentCase] | Callable[[Tables], Sequence[ExperimentCase]]
    after: str = ""
    bands: tuple[str, ...] = ()
    columns: Mapping[str, str] | None = None
    digits: int = 6
    seeds: Sequence[int] = ()
    grows: bool = False

    def units(
        self, earlier: Tables, seeds: Sequence[int] | None = None
    ) -> Iterator[tuple[ExperimentCase, int]]:
        """Pair every case with every seed, in their order."""
        wanted = self.seeds or configs.seeds(self.name) if seeds is None else seeds
        for case in self.cases(earlier) if callable(self.cases) else self.cases:
            for seed in wanted:
                yield case, seed

    def unit(self, seed: int, **case: Any) -> list[ResultRow]:
        """Compute the rows of one seed of one case."""
        names = self.columns or {}
        about = {names.get(key, key): value for key, value in case.items()} | {"seed": seed}
        return [about | row for row in self.rows(seed, **case)]
