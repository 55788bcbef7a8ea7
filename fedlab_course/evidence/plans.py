"""The register of plans: what each statement asked when its first data came, and what changed afterwards."""

import time
from functools import lru_cache

import pandas as pd

from fedlab_core import files
from fedlab_course.evidence import configs, tables
from fedlab_course.evidence.configs import Statement
from fedlab_course.folders import RESULTS

REGISTER = RESULTS / "plans.csv"


@lru_cache(maxsize=1)
def read() -> dict[str, dict[str, str]]:
    """Statement → its ``plan`` digest, the ``date``, and whether the plan was fixed "before" or "after" its data."""
    return pd.read_csv(REGISTER, dtype=str).set_index("statement").to_dict("index")


def register() -> None:
    """Write the plans of new statements into the register, with the date and whether they have data already."""
    known, every = read(), [*configs.read(), *configs.read(configs.COURSE)]
    now = [one for claim in every for one in claim.statements]
    rows = [{"statement": one.id} | (known.get(one.id) or _new(one)) for one in now]
    with files.replacing(REGISTER) as file:
        file.write(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode())
    read.cache_clear()


def _new(one: Statement) -> dict[str, str]:
    try:
        fixed = "after" if tables.numbers(one) else "before"
    except ValueError:  # a column that the table does not have yet
        fixed = "before"
    return {"plan": one.plan, "date": time.strftime("%Y-%m-%d"), "fixed": fixed}


def deviation(one: Statement) -> str:
    """Say how a statement departs from a plan that was fixed before its data; empty if it does not."""
    first = read().get(one.id)
    if first is None:
        return ""
    if first["plan"] != one.plan or one.changed:
        return f"changed after the data: {one.changed}"
    return "written after the data" if first["fixed"] == "after" else ""
