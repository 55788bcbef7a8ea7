"""What an experiment is: a function of a seed and a case, the cases, and the seeds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

Row = dict[str, Any]
Case = Mapping[str, Any]
Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Experiment:
    """``unit(seed, **case)`` gives the rows of one seed of one of the ``cases``: plain values by their column.

    Rows go to the table ``name``; those that have a key "table" go to ``NAME_table`` instead. ``cases``: mappings of
    plain values, or a function that makes them from the tables of another experiment, ``after``. ``bands``: the
    columns of the table ``NAME_curves`` that are kept as mean and standard deviation over seeds alone.
    """

    name: str
    unit: Callable[..., list[Row]]
    cases: Sequence[Case] | Callable[[Tables], Sequence[Case]]
    seeds: Sequence[int]
    after: str = ""
    bands: tuple[str, ...] = ()

    def units(self, earlier: Tables, seeds: Sequence[int] | None = None) -> Iterator[tuple[Case, int]]:
        """Every case with every seed, in their order."""
        for case in self.cases(earlier) if callable(self.cases) else self.cases:
            for seed in self.seeds if seeds is None else seeds:
                yield case, seed
