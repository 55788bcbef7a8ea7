"""Compute the missing units of an experiment in parallel, keep each as it ends, and make the tables of all of them."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core import files, validation
from fedlab_core.engines import threads
from fedlab_core.reproduce.description import digest
from fedlab_core.sweep.workers import workers_of
from fedlab_course.experiments.base import Case, Experiment, Row, Tables
from fedlab_course.experiments.measures import banded, rounded
from fedlab_course.experiments.registry import EXPERIMENTS

FOLDER = Path("build/evidence")
_Unit = tuple[Case, int]


def collect(
    experiment: str | Experiment,
    folder: Path = FOLDER,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    heard: Callable[[str], None] = lambda line: None,
) -> Tables:
    """Compute the missing units of an experiment on a Dask cluster, and return its tables by name.

    A unit is one seed of one case. Each is written to ``folder/NAME/DIGEST.json`` as it
    ends, so that an interruption loses only the units that are running. ``scheduler`` and ``workers``: as for a sweep.
    ``heard`` gets a line for each unit that has ended. Raises ``RuntimeError`` for units that fail, after the others.
    """
    found = _named(experiment)
    if found.after:
        collect(found.after, folder, scheduler=scheduler, workers=workers, heard=heard)
    to_do = missing(found, folder)
    failed = _compute(found, to_do, folder, scheduler, workers, heard) if to_do else []
    if failed:
        raise RuntimeError(f"{found.name}: {len(failed)} of {len(to_do)} units failed, the first with: {failed[0]}")
    return gathered(found, folder)


def missing(experiment: str | Experiment, folder: Path = FOLDER) -> list[_Unit]:
    """List the units that are not there yet. Raises ``ValueError`` if the experiment ``after`` is not complete."""
    found = _named(experiment)
    if found.after and missing(found.after, folder):
        raise ValueError(f"{found.name}: its cases follow from {found.after}, which is not complete; run that first")
    return [unit for unit in _units(found, folder) if not _path(found, *unit, folder).exists()]


def gathered(experiment: str | Experiment, folder: Path = FOLDER) -> Tables:
    """Make the tables of the units that are there, in the order cases × seeds.

    The column ``seconds`` of the main table shares the processor seconds of each unit among its rows; all else depends
    on cases and seeds alone.
    """
    found, rows = _named(experiment), dict[str, list[Row]]()
    for case, seed in _units(found, folder):
        path = _path(found, case, seed, folder)
        if not path.exists():
            continue
        unit = json.loads(path.read_text(encoding="utf-8"))
        own = sum("table" not in row for row in unit["rows"])
        for row in unit["rows"]:
            where = row.pop("table", "")
            cost = {} if where else {"seconds": unit["seconds"] / own}
            rows.setdefault(f"{found.name}_{where}" if where else found.name, []).append(row | cost)
    tables = {name: pd.DataFrame(those) for name, those in rows.items()}
    if found.name in tables:
        seconds = tables[found.name].pop("seconds")
        tables[found.name] = tables[found.name].assign(seconds=seconds)  # as the last column
    if found.bands and (curves := f"{found.name}_curves") in tables:
        tables[curves] = banded(tables[curves], list(found.bands))
    return {name: rounded(table, found.digits) for name, table in tables.items()}


def _named(experiment: str | Experiment) -> Experiment:
    if isinstance(experiment, Experiment):
        return experiment
    return EXPERIMENTS[validation.choice("experiment", experiment, EXPERIMENTS)]


def _units(experiment: Experiment, folder: Path) -> list[_Unit]:
    earlier = gathered(experiment.after, folder) if experiment.after else {}
    return list(experiment.units(earlier))


def _path(experiment: Experiment, case: Case, seed: int, folder: Path) -> Path:
    what = json.dumps({"name": experiment.name, "case": case, "seed": seed}, sort_keys=True)
    return folder / experiment.name / f"{digest(what.encode())}.json"


def _compute(
    experiment: Experiment,
    units: Sequence[_Unit],
    folder: Path,
    scheduler: str | None,
    workers: int | None,
    heard: Callable[[str], None],
) -> list[str]:
    """Compute the ``units``, write each as it ends, and return the errors."""
    failed, alone = [], replace(experiment, cases=())  # a worker needs no other cases
    with workers_of(scheduler, workers) as pool:
        waiting = {pool.submit(_timed, alone, case, seed): (case, seed) for case, seed in units}
        for ended, future in enumerate(as_completed(list(waiting)), start=1):
            case, seed = waiting.pop(future)
            error = future.exception()
            if error is None:
                result = {"name": experiment.name, "case": dict(case), "seed": seed} | future.result()
                with files.replacing(_path(experiment, case, seed, folder)) as file:
                    file.write((json.dumps(result, indent=1, default=_plain) + "\n").encode())
            else:
                failed.append(f"{dict(case)}, seed {seed}: {type(error).__name__}: {error}")
            how = failed[-1] if error else f"{result['seconds']:.1f} s"
            heard(f"{experiment.name} [{ended}/{len(units)}] {dict(case)} seed {seed}: {how}")
    return failed


def _timed(experiment: Experiment, case: Case, seed: int) -> dict[str, Any]:
    """On a worker: the rows of a unit, computed with one thread, and the processor seconds that they took."""
    started = time.process_time()
    with threads.one_inside():
        rows = experiment.unit(seed, **case)
    return {"seconds": time.process_time() - started, "rows": rows}


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item()
