"""The register of plans: what each statement asked when its first data came, and what changed
afterwards.
"""

import time
from functools import lru_cache

import pandas as pd

from fedlab_core import files
from fedlab_core.language import translator
from fedlab_course.evidence import configs, tables
from fedlab_course.evidence.configs import Statement
from fedlab_course.folders import RESULTS

_ = translator(__name__)

REGISTER = RESULTS / "plans.csv"
# their margins were committed within the hour of their tables (results/report/deviations.md)
_OF_ONE_HOUR = {"drift_digits", "table1_digits", "tiers_digits"}


@lru_cache(maxsize=1)
def read() -> dict[str, dict[str, str]]:
    """Statement → its ``plan`` digest, the ``date``, and whether the plan was fixed "before" or
    "after" its data.
    """
    return pd.read_csv(REGISTER, dtype=str).set_index("statement").to_dict("index")


def register() -> None:
    """Write the plans of new statements into the register, with the date and whether they have data
    already.
    """
    known = read()
    every = [*configs.read(), *configs.read(configs.COURSE)]
    now = [statement for claim in every for statement in claim.statements]
    rows = [
        {"statement": statement.id} | (known.get(statement.id) or _new(statement))
        for statement in now
    ]
    with files.replacing(REGISTER) as file:
        file.write(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode())
    read.cache_clear()


def _new(statement: Statement) -> dict[str, str]:
    try:
        fixed = "after" if tables.numbers(statement) else "before"
    except ValueError:  # a column that the table does not have yet
        fixed = "before"
    return {"plan": statement.plan, "date": time.strftime("%Y-%m-%d"), "fixed": fixed}


def mark(statement: Statement) -> str:
    """† if a statement was not fixed before its data, ‡ if nothing shows that it was, or ""."""
    if deviation(statement):
        return "†"
    return "‡" if _OF_ONE_HOUR & {table for _sign, table, _where in statement.rows()} else ""


def deviation(statement: Statement) -> str:
    """Say how a statement departs from a plan that was fixed
    before its data; empty if it does not.
    """
    first = read().get(statement.id)
    if first is None:
        return ""
    if first["plan"] != statement.plan or statement.changed:
        return _("changed after the data: {change}").format(change=statement.changed)
    return _("registered after the data") if first["fixed"] == "after" else ""
