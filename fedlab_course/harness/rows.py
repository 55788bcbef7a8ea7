"""Run the notebooks once for each row of a table of parameters: one folder for each row, one page
for all.

``docs/running.md`` shows the table. A row that was run with the same values, notebooks and library
is kept.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fedconform
import fedlab_core
from fedlab_core import validation
from fedlab_course import folders
from fedlab_course.harness import course_plan, course_run, notebook_parameters
from fedlab_course.harness.course_plan import CoursePlan, Options, Result

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
ParameterRow = dict[str, Any]  # its name, the selected notebooks "only", and its parameters


def read(file: Path, only: Sequence[str] = ()) -> list[ParameterRow]:
    """Read the rows of a file; ``only`` is the default of a row. Raises ``ValueError`` for a
    fault.
    """
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"--rows {file}: {getattr(error, 'strerror', None) or error}") from error
    if set(table) != {"row"} or not validation.matches(table["row"], list[dict]):
        raise ValueError(f"--rows {file}: must hold [[row]] tables and nothing else")
    rows: list[ParameterRow] = []
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
    """Run the notebooks once for each row of ``file`` into ``out/rows/NAME``;
    ``out/site/index.html`` lists the rows.

    A row overrides ``options``. Finished rows are kept unless ``again`` is true. Raises
    ``ValueError`` before anything runs if a row has a fault.
    """
    plans = []
    for row in read(file, options.only):
        try:
            plans.append(_plan(row, options))
        except ValueError as error:
            raise ValueError(f"--rows {file}: row {row['name']}: {error}") from error
    kept = []
    with course_plan.claimed(options):
        course_plan.clear(options)
        _write(plans, options)
        for plan in plans:
            course_plan.make(plan.options)
            kept.append(not again and _restored(plan))
            try:
                if not kept[-1]:
                    course_run.carry_out(plan)
            finally:
                _write(plans, options)
    results = [_whole(plan) for plan in plans]
    course_run.tell(results, kept)
    return results


def _plan(row: ParameterRow, options: Options) -> CoursePlan:
    given = {name: value for name, value in row.items() if name not in ("name", "only")}
    own = {name: given[name] for name in notebook_parameters.OPTIONS if name in given}
    others = {name: value for name, value in given.items() if name not in own}
    settings = {**options.settings, **others}
    own |= {"only": row["only"], "settings": settings, "out": options.out / "rows" / row["name"]}
    plan = course_run.prepare(replace(options, **own))
    plan.row = given
    plan.above = options
    plan.digest = _digest(plan)
    return plan


def _digest(plan: CoursePlan) -> str:
    """Compute the digest of a row: values, notebooks, and the source of all packages."""
    packages = (str(fedconform.__file__), str(fedlab_core.__file__), folders.__file__)
    sources = [folders.digest(Path(module).parent) for module in packages]
    notebooks = []
    for notebook in plan.notebooks:
        content = hashlib.sha256(notebook.path.read_bytes()).hexdigest()
        notebooks.append((notebook.path.name, notebook.given, content))
    content_of_row = json.dumps([plan.options.profile, notebooks, sources], sort_keys=True)
    return hashlib.sha256(content_of_row.encode()).hexdigest()


def _restored(plan: CoursePlan) -> bool:
    """Take over the results of an earlier run; False unless it
    finished this row without an error.
    """
    summary = course_plan.summary(plan.options)
    if (summary.get("digest"), summary.get("finished")) != (plan.digest, True):
        return False
    results = [Result(**entry) for entry in summary["notebooks"]]
    if any(result.status != "ok" for result in results):
        return False
    for notebook, result in zip(plan.notebooks, results, strict=True):
        notebook.result = result
    return True


def _whole(plan: CoursePlan) -> Result:
    """Combine the results of a row into one."""
    errors = [f"{each.name}: {each.error}" for each in plan.results if each.error is not None]
    verdicts = [verdict for each in plan.results for verdict in each.verdicts]
    seconds = round(sum(each.seconds for each in plan.results), 1)
    return Result(
        plan.options.out.name,
        _status(plan),
        seconds,
        dict(plan.row),
        verdicts,
        error="; ".join(errors) or None,
    )


def _status(row: CoursePlan) -> str:
    """Return the status of a row: that of its notebooks together."""
    if any(result.error is not None for result in row.results):
        return "failed"
    if row.finished:
        return "ok"
    return "stopped" if row.done else "not run"


def _write(plans: Sequence[CoursePlan], options: Options) -> None:
    """Write the page and the summary of all rows."""
    from fedlab_course.publish import pages

    results = [_whole(plan) for plan in plans]
    links = [
        os.path.relpath(plan.options.site / "index.html", options.site) if plan.done else None
        for plan in plans
    ]
    written = pages.write_rows(results, links, options.site, options.profile)
    entries = [{**vars(result), "folder": f"rows/{result.name}"} for result in results]
    finished = all(plan.finished for plan in plans)
    course_plan.write_summary(
        options, finished=finished, rows=entries, files=course_plan.relative(options.out, written)
    )
