"""The sweeps behind the tables: one for each grid of ``results/configs/grids``. Delete a table to make it anew."""

from pathlib import Path

import pandas as pd

from fedlab_core.sweep import command, plan
from fedlab_core.sweep.folder import Folder
from fedlab_course.evidence import tables
from fedlab_course.evidence.configs import GRIDS
from fedlab_course.experiments import measures


def names() -> list[str]:
    """The grids, in the order of their names."""
    return sorted(path.stem for path in GRIDS.glob("*.toml"))


def missing(whole: plan.Plan, stored: pd.DataFrame) -> list[plan.Run]:
    """The runs of a plan that have no row in the ``stored`` table."""
    rows = stored.to_dict("records")
    return [run for run in whole.runs if not any(tables.fits(row, _row(run, whole)) for row in rows)]


def run(name: str, sweeps: Path, scheduler: str | None, workers: int | None, *, dry_run: bool) -> bool:
    """Do the runs of a sweep that its table lacks, in the folder ``sweeps``, and return whether none failed.

    With ``dry_run`` print how many they are.
    """
    folder = Folder(sweeps, plan.read(GRIDS / f"{name}.toml"))
    runs = missing(folder.plan, tables.read(name))
    if dry_run or not runs:
        print(f"{len(runs)} runs are missing")
        return True
    return command.compute(folder, runs, scheduler, workers) == 0


def write(name: str, sweeps: Path) -> None:
    """Add the runs in the folder ``sweeps`` to the tables NAME and NAME_curves."""
    folder = Folder(sweeps, plan.read(GRIDS / f"{name}.toml"))
    stored, curves = tables.read(name), tables.read(f"{name}_curves")
    table, bands = measures.tables(folder, missing(folder.plan, stored))
    rows = [*stored.to_dict("records"), *table.to_dict("records")]
    wanted = [_row(run, folder.plan) for run in folder.plan.runs]
    rows.sort(key=lambda row: next((at for at, one in enumerate(wanted) if tables.fits(row, one)), len(wanted)))
    if len(table):
        tables.write(name, pd.DataFrame(rows))
        tables.write(f"{name}_curves", measures.pooled(curves, bands))


def _row(run: plan.Run, whole: plan.Plan) -> dict[str, object]:
    return measures.plain({name: run.axes.get(name, "") for name in whole.axes})
