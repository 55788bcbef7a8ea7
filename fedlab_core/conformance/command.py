"""The command ``conform``."""

import argparse
import runpy
from pathlib import Path

from fedlab_core.conformance.checking import Adapter, check

SHIPPED = Path(__file__).with_name("adapters")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to ``parser`` and set ``run``."""
    names = ", ".join(sorted(path.stem for path in SHIPPED.glob("[!_]*.py")))
    parser.add_argument(
        "adapter", metavar="ADAPTER", help=f"a Python file with a function run(task), or one of: {names}"
    )
    parser.add_argument("--only", nargs="+", metavar="ALGORITHM", help="check these algorithms only, such as Scaffold")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the table to this CSV file")
    parser.set_defaults(run=_run)


def load(name: str) -> Adapter:
    """The function ``run`` of a file, or of a shipped adapter. Raises ``ValueError`` if there is none."""
    path = Path(name)
    if not path.is_file():
        path = SHIPPED / f"{name}.py"
    if not path.is_file():
        raise ValueError(f"{name}: is neither a file nor the name of a shipped adapter")
    function = runpy.run_path(str(path), run_name="adapter").get("run")
    if not callable(function):
        raise ValueError(f"{path}: has no function run(task)")
    return function


def _run(arguments: argparse.Namespace) -> int:
    report = check(load(arguments.adapter), arguments.only)
    print(report)
    if arguments.out is not None:
        report.frame().to_csv(arguments.out, index=False, float_format="%.6g")
    return 0 if report.passed else 1
