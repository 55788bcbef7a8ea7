"""Run the notebooks once for each row of a table of parameters: one folder for each row, one page for all.

``docs/running.md`` shows the table. A row that was run with the same values, notebooks and library is kept.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fedlab_core
from fedlab_core import validation
from fedlab_course import folders
from fedlab_course.harness import parameters, plan, run
from fedlab_course.harness.plan import Options, Plan, Result

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
Row = dict[str, Any]  # its name, the selected notebooks "only", and its parameters


def read(file: Path, only: Sequence[str] = ()) -> list[Row]:
    """Read the rows of a file; ``only`` is the default of a row. Raises ``ValueError`` for a fault."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"--rows {file}: {getattr(error, 'strerror', None) or error}") from error
    if set(table) != {"row"} or not validation.matches(table["row"], list[dict]):
        raise ValueError(f"--rows {file}: must hold [[row]] tables and nothing else")
    rows: list[Row] = []
    for number, entry in enumerate(table["row"], start=1):
        row = {"name": f"row-{number}", "only": list(only)} | entry
        about = f"--rows {file}: row {number}: name={row['name']!r}"
        if not (isinstance(row["name"], str) and _NAME.fullmatch(row["name"])):
            raise ValueError(f"{about}: must be letters, digits, '.', '_' and '-'")
        if row["name"].lower() in {other["name"].lower() for other in rows}:
            raise ValueError(f"{about}: another row has it")
        if not validation.matches(row["only"], list[str]):
            raise ValueError(f"{about}: only={row['only']!r}: must be a list of texts")
        rows.append(row)
    return rows


def run_rows(file: Path, options: Options, *, again: bool = False) -> list[Result]:
    """Run the notebooks once for each row of ``file`` into ``out/rows/NAME``; ``out/site/index.html`` lists the rows.

    A row overrides ``options``. Finished rows are kept unless ``again`` is true. Raises ``ValueError`` before anything
    runs if a row has a fault.
    """
    plans = []
    for row in read(file, options.only):
        try:
            plans.append(_plan(row, options))
        except ValueError as error:
            raise ValueError(f"--rows {file}: row {row['name']}: {error}") from error
    kept = []
    with plan.claimed(options):
        plan.clear(options)
        _write(plans, options)
        for one in plans:
            plan.make(one.options)
            kept.append(not again and _restored(one))
            try:
                if not kept[-1]:
                    run.carry_out(one)
            finally:
                _write(plans, options)
    results = [_whole(one) for one in plans]
    run.tell(results, kept)
    return results


def _plan(row: Row, options: Options) -> Plan:
    given = {name: value for name, value in row.items() if name not in ("name", "only")}
    own = {name: given[name] for name in parameters.OPTIONS if name in given}
    settings = {**options.settings, **{name: value for name, value in given.items() if name not in own}}
    own |= {"only": row["only"], "settings": settings, "out": options.out / "rows" / row["name"]}
    one = run.prepare(replace(options, **own))
    one.row, one.above, one.digest = given, options.out, _digest(one)
    return one


def _digest(one: Plan) -> str:
    """Compute the digest of a row: values, notebooks, and the source of library and course."""
    sources = [folders.digest(Path(module).parent) for module in (str(fedlab_core.__file__), folders.__file__)]
    read = [(each.path.name, each.given, hashlib.sha256(each.path.read_bytes()).hexdigest()) for each in one.notebooks]
    return hashlib.sha256(json.dumps([one.options.profile, read, sources], sort_keys=True).encode()).hexdigest()


def _restored(one: Plan) -> bool:
    """Take over the results of an earlier run; False unless it finished this row without an error."""
    found = plan.summary(one.options.out)
    if (found.get("digest"), found.get("finished")) != (one.digest, True):
        return False
    results = [Result(**entry) for entry in found["notebooks"]]
    if any(result.status != "ok" for result in results):
        return False
    for each, result in zip(one.notebooks, results, strict=True):
        each.result = result
    return True


def _whole(one: Plan) -> Result:
    """Combine the results of a row into one."""
    errors = [f"{each.name}: {each.error}" for each in one.results if each.error is not None]
    status = "failed" if errors else "ok" if one.finished else "stopped" if one.done else "not run"
    verdicts = [verdict for each in one.results for verdict in each.verdicts]
    seconds = round(sum(each.seconds for each in one.results), 1)
    return Result(one.options.out.name, status, seconds, dict(one.row), verdicts, error="; ".join(errors) or None)


def _write(plans: Sequence[Plan], options: Options) -> None:
    """Write the page and the summary of all rows."""
    from fedlab_course.publish import pages

    results = [_whole(one) for one in plans]
    links = [f"../rows/{one.name}/site/index.html" if one.status != "not run" else None for one in results]
    written = pages.write_rows(results, links, options.out / "site", options.profile)
    entries = [{**vars(one), "folder": f"rows/{one.name}"} for one in results]
    finished = all(one.finished for one in plans)
    plan.write_summary(options, finished=finished, rows=entries, files=plan.relative(options.out, written))
