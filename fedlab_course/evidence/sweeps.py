"""The runs behind the tables: a sweep for each grid of ``results/configs/grids``."""

from pathlib import Path

from fedlab_core import cli
from fedlab_core.sweep import plan
from fedlab_core.sweep.folder import Folder
from fedlab_course.evidence import measures, tables
from fedlab_course.evidence.configs import GRIDS


def names() -> list[str]:
    """The grids, in the order of their names."""
    return sorted(path.stem for path in GRIDS.glob("*.toml"))


def run(name: str, sweeps: Path, further: list[str]) -> int:
    """Do what is missing of a sweep in the folder ``sweeps``, and return its exit status; ``further`` arguments."""
    return cli.main(["sweep", str(GRIDS / f"{name}.toml"), "--out", str(sweeps), *further])


def write(name: str, sweeps: Path, out: Path) -> None:
    """Write ``out``/NAME.csv and NAME_curves.csv from what is there of the sweep."""
    folder = Folder(sweeps, plan.read(GRIDS / f"{name}.toml"))
    for end, table in zip(("", "_curves"), measures.tables(folder), strict=True):
        tables.write(f"{name}{end}", table, out)
