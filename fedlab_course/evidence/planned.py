"""How many seeds a table was to have: what its grid, or its experiment, says."""

import tomllib
from functools import lru_cache

from fedlab_course.evidence.configs import GRIDS
from fedlab_course.evidence.experiments.registry import of_table


@lru_cache(maxsize=64)
def seeds(table: str) -> int:
    """How many; its name may have an ending such as "_growth". Raises ``ValueError`` for a table that nothing makes."""
    path = GRIDS / f"{table}.toml"
    if path.is_file():
        given = tomllib.loads(path.read_text(encoding="utf-8")).get("seed", 0)
        return len(given) if isinstance(given, list) else 1
    return len(of_table(table).seeds)
