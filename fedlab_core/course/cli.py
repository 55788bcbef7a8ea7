"""The command ``course``."""

import argparse
import importlib.util
import sys
from pathlib import Path

from fedlab_core import arguments
from fedlab_core.course import harness
from fedlab_core.data import load_dataset


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``course`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    parser.add_argument("--profile", choices=harness.PROFILES, default="quick", help="how much work (default: quick)")
    parser.add_argument("--dataset", metavar="NAME", help="data set for the notebooks that let one choose")
    parser.add_argument("--only", nargs="+", default=[], metavar="NOTEBOOK", help="numbers or names, such as 02")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the notebooks; may be repeated"
    )
    parser.add_argument("--out", type=Path, default=Path("build"), metavar="FOLDER", help="default: build")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="limit for one cell (default: by profile)")
    parser.add_argument("--notebooks", type=Path, metavar="FOLDER", help="run the notebooks of another folder")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.timeout is not None and not options.timeout > 0:
        raise ValueError(f"--timeout {options.timeout:g}: must be a number of seconds > 0")
    missing = [name for name in ("papermill", "nbconvert", "latex2mathml") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"{', '.join(missing)} not installed; the course needs: pip install --editable '.[course]'")
    if options.dataset is not None:
        load_dataset(options.dataset)  # an unknown name or missing files are reported here, before anything runs
    results = harness.run_course(
        profile=options.profile,
        dataset=options.dataset,
        only=options.only,
        settings=arguments.parse_assignments(options.set),
        out=options.out,
        timeout=options.timeout,
        notebooks=options.notebooks,
    )
    print(f"site: {options.out / 'site' / 'index.html'}")
    failed = [result for result in results if result.status != "ok"]
    for result in failed:
        path = options.out / "notebooks" / f"{result.name}.ipynb"
        print(f"error: {result.name} failed: {result.error}. The executed notebook is {path}", file=sys.stderr)
    return 1 if failed else 0
