"""Compute the missing units of an experiment in parallel, keep each as it ends, and make the tables
of all of them.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from fedlab_core import files, validation
from fedlab_core.description import digest
from fedlab_core.engines import threads
from fedlab_core.sweep.workers import workers_of
from fedlab_course.experiments.all_experiments import EXPERIMENTS
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measures import banded, rounded

FOLDER = Path("build/evidence")
_Unit = tuple[ExperimentCase, int]


def collect(
    experiment: str | Experiment,
    folder: Path = FOLDER,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    heard: Callable[[str], None] = lambda line: None,
) -> Tables:
    """Compute the missing units of an experiment on a Dask cluster, and return its tables by name.

    A unit is one seed of one case. Each is written to ``folder/NAME/DIGEST.json`` as it ends, so
    that an interruption loses only the units that are running. ``scheduler`` and ``workers``: as
    for a sweep. ``heard`` gets a line for each unit that has ended. Raises ``RuntimeError`` for
    units that fail, after the others.
    """
    definition = _named(experiment)
    if awaited := _awaited(definition):
        collect(awaited, folder, scheduler=scheduler, workers=workers, heard=heard)
    to_do = missing(definition, folder)
    failed = _compute(definition, to_do, folder, scheduler, workers, heard) if to_do else []
    if failed:
        raise RuntimeError(
            f"{definition.name}: {len(failed)} of {len(to_do)} units failed, the first with: "
            f"{failed[0]}"
        )
    return gathered(definition, folder)


def missing(experiment: str | Experiment, folder: Path = FOLDER) -> list[_Unit]:
    """List the units that are not there yet. Raises ``ValueError`` if the experiment ``after`` is
    not complete and does not grow.
    """
    definition = _named(experiment)
    awaited = _awaited(definition)
    if awaited and missing(awaited, folder):
        raise ValueError(
            f"{definition.name}: its cases follow from {awaited}, which is not complete; run that "
            "first"
        )
    units = _units(definition, folder)
    return [unit for unit in units if not _path(definition, *unit, folder).exists()]


def restore(experiment: str | Experiment, stored: pd.DataFrame, folder: Path = FOLDER) -> int:
    """Keep the units whose rows are in the ``stored`` table of an experiment that grows, so that
    they are not done again; return their number.
    """
    definition = _named(experiment)
    rows = dict[str, list[ResultRow]]()
    cases = list(_units(definition, folder))
    first = cases[0][0] if cases else {}
    # a list in a case has an element in each row of the unit
    plain = [name for name, value in first.items() if not isinstance(value, list)]
    for row in stored.to_dict("records"):
        rows.setdefault(_key(row[name] for name in (*plain, "seed")), []).append(row)
    number = 0
    for case, seed in cases:
        path = _path(definition, case, seed, folder)
        own = rows.get(_key([*(case[name] for name in plain), seed]))
        if own is None or path.exists():
            continue
        seconds = sum(row.pop("seconds") for row in own)
        _keep(definition, case, seed, {"seconds": seconds, "rows": own}, folder)
        number += 1
    return number


def gathered(experiment: str | Experiment, folder: Path = FOLDER) -> Tables:
    """Make the tables of the units that are there, in the order cases × seeds.

    The column ``seconds`` of the main table shares the processor seconds of each unit among its
    rows; all else depends on cases and seeds alone.
    """
    definition = _named(experiment)
    rows = dict[str, list[ResultRow]]()
    for case, seed in _units(definition, folder):
        path = _path(definition, case, seed, folder)
        if not path.exists():
            continue
        unit = json.loads(path.read_text(encoding="utf-8"))
        own = sum("table" not in row for row in unit["rows"])
        for row in unit["rows"]:
            part = row.pop("table", "")
            table = f"{definition.name}_{part}" if part else definition.name
            cost = {} if part else {"seconds": unit["seconds"] / own}
            rows.setdefault(table, []).append(row | cost)
    tables = {name: pd.DataFrame(those) for name, those in rows.items()}
    if definition.name in tables:
        main = tables[definition.name]
        seconds = main.pop("seconds")
        tables[definition.name] = main.assign(seconds=seconds)  # as the last column
    curves = f"{definition.name}_curves"
    if definition.bands and curves in tables:
        tables[curves] = banded(tables[curves], list(definition.bands))
    return {name: rounded(table, definition.digits) for name, table in tables.items()}


def _named(experiment: str | Experiment) -> Experiment:
    if isinstance(experiment, Experiment):
        return experiment
    return EXPERIMENTS[validation.choice("experiment", experiment, EXPERIMENTS)]


def _awaited(experiment: Experiment) -> str:
    """The experiment that has to be complete before this one, or ""."""
    after = experiment.after
    return "" if not after or _named(after).grows else after


def _units(experiment: Experiment, folder: Path) -> list[_Unit]:
    earlier = gathered(experiment.after, folder) if experiment.after else {}
    return list(experiment.units(earlier))


def _key(values: Iterable[Any]) -> str:
    """What a unit and its stored rows have in common."""
    return json.dumps([str(value) for value in values])


def _path(experiment: Experiment, case: ExperimentCase, seed: int, folder: Path) -> Path:
    unit = json.dumps({"name": experiment.name, "case": case, "seed": seed}, sort_keys=True)
    return folder / experiment.name / f"{digest(unit.encode())}.json"


def _compute(
    experiment: Experiment,
    units: Sequence[_Unit],
    folder: Path,
    scheduler: str | None,
    workers: int | None,
    heard: Callable[[str], None],
) -> list[str]:
    """Compute the ``units``, write each as it ends, and return the errors."""
    # a worker needs no other cases
    failed = []
    alone = replace(experiment, cases=())
    with workers_of(scheduler, workers) as pool:
        waiting = {pool.submit(_timed, alone, case, seed): (case, seed) for case, seed in units}
        for ended, future in enumerate(as_completed(list(waiting)), start=1):
            case, seed = waiting.pop(future)
            error = future.exception()
            if error is None:
                result = future.result()
                _keep(experiment, case, seed, result, folder)
            else:
                failed.append(f"{dict(case)}, seed {seed}: {type(error).__name__}: {error}")
            how = failed[-1] if error else f"{result['seconds']:.1f} s"
            heard(f"{experiment.name} [{ended}/{len(units)}] {dict(case)} seed {seed}: {how}")
    return failed


def _keep(
    experiment: Experiment, case: ExperimentCase, seed: int, result: dict[str, Any], folder: Path
) -> None:
    """Write the ``result`` of a unit: its rows, and the processor seconds that they took."""
    about = {"name": experiment.name, "case": dict(case), "seed": seed}
    with files.replacing(_path(experiment, case, seed, folder)) as file:
        file.write((json.dumps(about | result, indent=1, default=_plain) + "\n").encode())


def _timed(experiment: Experiment, case: ExperimentCase, seed: int) -> dict[str, Any]:
    """On a worker: the rows of a unit, computed with one thread, and the processor seconds that
    they took.
    """
    started = time.process_time()
    with threads.one_inside():
        rows = experiment.unit(seed, **case)
    return {"seconds": time.process_time() - started, "rows": rows}


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item()
