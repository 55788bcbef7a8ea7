"""The sweeps behind the tables: one for each grid of ``results/configs/grids``."""

from pathlib import Path

import pandas as pd

from fedlab_core.sweep import command, plan
from fedlab_core.sweep.folder import Folder
from fedlab_course.evidence import configs, tables
from fedlab_course.experiments import measures


def names() -> list[str]:
    """The grids, in the order of their names."""
    return sorted(path.stem for path in configs.GRIDS.glob("*.toml"))


def missing(whole: plan.Plan, stored: pd.DataFrame) -> list[plan.Run]:
    """The runs of a plan that have no row in the ``stored`` table."""
    rows = stored.to_dict("records")
    wanted = zip(whole.runs, _rows(whole), strict=True)
    return [run for run, setting in wanted if not any(tables.fits(row, setting) for row in rows)]


def run(
    name: str,
    sweeps: Path,
    scheduler: str | None = None,
    workers: int | None = None,
    *,
    dry_run: bool,
    again: bool,
) -> bool:
    """Do the runs of a sweep that its table lacks, add them to its tables, and return whether none
    failed.

    ``sweeps``: the folder of runs. ``again``: do the runs that the table has, too, and replace it.
    ``dry_run``: only print how many runs there are to do.
    """
    folder = Folder(sweeps, plan.read(configs.GRIDS / f"{name}.toml", seeds=configs.seeds(name)))
    stored = [pd.DataFrame() if again else tables.read(table) for table in (name, f"{name}_curves")]
    runs = missing(folder.plan, stored[0])
    if dry_run or not runs:
        print(f"{len(runs)} runs are missing")
        return True
    done = command.compute(folder, runs, scheduler, workers) == 0
    write(folder, *stored)
    return done


def write(folder: Folder, stored: pd.DataFrame, curves: pd.DataFrame) -> None:
    """Write the tables of a sweep: the ``stored`` rows and ``curves``, and those of further runs in
    ``folder``.
    """
    name = folder.plan.name
    table, bands = measures.tables(folder, missing(folder.plan, stored))
    rows = [*stored.to_dict("records"), *table.to_dict("records")]
    wanted = _rows(folder.plan)
    rows.sort(
        key=lambda row: next(
            (at for at, setting in enumerate(wanted) if tables.fits(row, setting)), len(wanted)
        )
    )
    if len(table):
        tables.write(name, pd.DataFrame(rows))
        tables.write(f"{name}_curves", measures.pooled(curves, bands))


def _rows(whole: plan.Plan) -> list[dict[str, object]]:
    axes = whole.axes
    return [measures.plain({name: run.axes.get(name, "") for name in axes}) for run in whole.runs]
