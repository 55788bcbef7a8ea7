"""The sweeps behind the tables: one for each grid of ``results/configs/grids``."""

from pathlib import Path

from fedlab_core import cli
from fedlab_core.sweep import plan
from fedlab_core.sweep.folder import Folder
from fedlab_course.evidence import tables
from fedlab_course.evidence.configs import GRIDS
from fedlab_course.experiments import measures


def names() -> list[str]:
    """The grids, in the order of their names."""
    return sorted(path.stem for path in GRIDS.glob("*.toml"))


def run(name: str, sweeps: Path, further: list[str]) -> int:
    """Run what is missing of a sweep in the folder ``sweeps`` with ``further`` arguments; return its exit status."""
    return cli.main(["sweep", str(GRIDS / f"{name}.toml"), "--out", str(sweeps), *further])


def write(name: str, sweeps: Path) -> None:
    """Write the tables NAME and NAME_curves from the runs of a sweep that are there."""
    folder = Folder(sweeps, plan.read(GRIDS / f"{name}.toml"))
    for end, table in zip(("", "_curves"), measures.tables(folder), strict=True):
        tables.write(f"{name}{end}", table)
