"""Run the notebooks once for each row of a table of parameters: one folder for each row, one page for all.

The table is a TOML file::

    [[row]]
    name = "strong"  # of its folder; by default row-1, row-2, …
    only = ["02"]    # replaces --only
    mu = 1.0         # parameters replace --set, --dataset and --profile
    seeds = [0, 1, 2]

A row that was run with the same values, notebooks and library is kept, so an interrupted run can continue.
"""

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fedlab_core
from fedlab_core import validation
from fedlab_core.data import load_dataset
from fedlab_course import folders
from fedlab_course.harness import output_folder, parameters, run
from fedlab_course.harness.plan import Notebook, Plan, Result

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ASSETS = "../../../site/assets"


@dataclass(frozen=True)
class Row:
    """A row of the table: its ``name``, the selected notebooks, and its parameters."""

    name: str
    only: Sequence[str]
    given: Mapping[str, Any]


def read(file: Path, only: Sequence[str] = ()) -> list[Row]:
    """Read the rows of a file; ``only`` is the default of a row. Raises ``ValueError`` for a fault."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"--rows {file}: {getattr(error, 'strerror', None) or error}") from error
    entries = table.get("row")
    if set(table) != {"row"} or not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise ValueError(f"--rows {file}: must hold [[row]] tables and nothing else")
    rows: list[Row] = []
    for number, entry in enumerate(entries, start=1):
        name, chosen = entry.pop("name", f"row-{number}"), entry.pop("only", only)
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError(f"--rows {file}: row {number}: name={name!r}: must be letters, digits, '.', '_' and '-'")
        if name.lower() in {row.name.lower() for row in rows}:
            raise ValueError(f"--rows {file}: row {number}: name={name!r}: another row has it")
        chosen = [chosen] if isinstance(chosen, str) else chosen
        if not (isinstance(chosen, Sequence) and all(isinstance(one, str) for one in chosen)):
            raise ValueError(f"--rows {file}: row {number} ({name}): only={chosen!r}: must be a list of texts")
        rows.append(Row(name, chosen, entry))
    return rows


def run_rows(
    file: Path,
    *,
    profile: str = "quick",
    dataset: str | None = None,
    only: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    out: Path = Path("build"),
    timeout: int | None = None,
    notebooks: Path | None = None,
    jobs: int | None = None,
    again: bool = False,
) -> list[Result]:
    """Run the notebooks once for each row of ``file`` into ``out/rows/NAME``; ``out/site/index.html`` lists the rows.

    The other arguments are those of :func:`fedlab_course.harness.run.run_course`; a row overrides them. Finished rows
    are kept unless ``again`` is true. Returns one result for each row. Raises ``ValueError`` before anything runs if
    a row has a fault.
    """
    run.check(profile, timeout, jobs)
    source = notebooks or folders.NOTEBOOKS
    common = {"profile": profile} | ({"dataset": dataset} if dataset is not None else {})
    table = read(file, only)
    plans = _plans(file, table, source, common, settings or {}, out)
    with output_folder.claimed(out, source):
        output_folder.clear(out)
        for plan in plans:
            output_folder.make(plan.out, source)
        kept = [plan for plan in plans if not again and _restored(plan)]
        _write(table, plans, out, profile)
        try:
            left = [plan for plan in plans if plan not in kept]
            run.carry_out(left, jobs, timeout, lambda plan: _write(table, plans, out, profile))
        finally:
            _write(table, plans, out, profile)
    results = [_whole(plan) for plan in plans]
    run.tell(results, ["  (kept)" if plan in kept else "" for plan in plans])
    return results


def _plans(
    file: Path, rows: Sequence[Row], source: Path, common: Mapping[str, Any], settings: Mapping[str, str], out: Path
) -> list[Plan]:
    """Make a plan for each row. Raises ``ValueError`` with the name of a row that has a fault."""
    plans: list[Plan] = []
    seen, loaded = {path: run.read(path) for path in folders.select(source, ())}, []
    for number, row in enumerate(rows, start=1):
        try:
            shared = {**common, **{name: row.given[name] for name in parameters.OPTIONS if name in row.given}}
            own = {name: value for name, value in row.given.items() if name not in parameters.OPTIONS}
            profile = validation.choice("profile", shared["profile"], run.PROFILES)
            if "dataset" in shared and shared["dataset"] not in loaded:
                load_dataset(shared["dataset"])  # reports unknown names and missing files before anything runs
                loaded.append(shared["dataset"])
            chosen = [seen[path] for path in folders.select(source, row.only)]
            values = parameters.resolve({one.name: one.declared for one in chosen}, shared, {**settings, **own})
        except ValueError as error:
            raise ValueError(f"--rows {file}: row {number} ({row.name}): {error}") from error
        folder, digest = out / "rows" / row.name, _digest(chosen, values, profile)
        plans.append(Plan(chosen, values, profile, folder, out / "runs", row.name, digest, _ASSETS))
    return plans


def _digest(chosen: Sequence[Notebook], values: Mapping[str, Any], profile: str) -> str:
    """Compute the digest of a row: values, notebooks, and the source of library and course."""
    sources = [folders.digest(Path(fedlab_core.__file__).parent), folders.digest(Path(folders.__file__).parent)]
    read = {one.name: hashlib.sha256(one.path.read_bytes()).hexdigest() for one in chosen}
    return hashlib.sha256(json.dumps([profile, values, read, sources], sort_keys=True).encode()).hexdigest()


def _restored(plan: Plan) -> bool:
    """Take over the results of an earlier run; False unless it finished this row without an error."""
    found = output_folder.summary(plan.out)
    if found.get("digest") != plan.digest or found.get("finished") is not True:
        return False
    entries = found["notebooks"]
    pages = [plan.out / "site" / f"{entry['name']}.html" for entry in entries] + [plan.out / "site" / "index.html"]
    if any(entry["status"] != "ok" for entry in entries) or not all(page.exists() for page in pages):
        return False
    plan.results, plan.reported = [Result(**entry) for entry in entries], True
    return True


def _whole(plan: Plan) -> Result:
    """Combine the results of a row into one."""
    errors = [f"{one.name}: {one.error}" for one in plan.results if one.error is not None]
    status = "failed" if errors else "ok" if plan.finished else "stopped" if plan.begun else "not run"
    verdicts = [verdict for one in plan.results for verdict in one.verdicts]
    seconds = round(sum(one.seconds for one in plan.results), 1)
    return Result(plan.title, status, seconds, verdicts=verdicts, error="; ".join(errors) or None)


def _write(rows: Sequence[Row], plans: Sequence[Plan], out: Path, profile: str) -> None:
    """Write the page and the summary of all rows."""
    from fedlab_course.publish import pages

    results = [replace(_whole(plan), parameters=dict(row.given)) for row, plan in zip(rows, plans, strict=True)]
    links = [f"../rows/{plan.title}/site/index.html" if plan.reported else None for plan in plans]
    pages.write_rows(results, links, out / "site", profile)
    finished = all(plan.finished for plan in plans)
    entries = [{**vars(one), "folder": f"rows/{one.name}"} for one in results]
    python = sys.version.split()[0]
    output_folder.write_summary(out, {"profile": profile, "python": python, "finished": finished, "rows": entries})
