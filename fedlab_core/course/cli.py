"""The command ``course``."""

import argparse
import importlib.util
import sys
from pathlib import Path

from fedlab_core import arguments
from fedlab_core.course import build as builder
from fedlab_core.course import harness
from fedlab_core.data import load_dataset

_OPTIONS = ("profile", "dataset", "only", "set", "out", "timeout", "notebooks")
# What is done instead of running the course → the options that it heeds.
_APPLY = {"lint": ("only", "notebooks"), "build": ("only", "out", "notebooks"), "grade": ("timeout",)}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``course`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    parser.add_argument("--profile", choices=harness.PROFILES, help="how much work (default: quick)")
    parser.add_argument("--dataset", metavar="NAME", help="data set for the notebooks that let one choose")
    parser.add_argument("--only", nargs="+", default=[], metavar="NOTEBOOK", help="numbers or names, such as 02")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the notebooks; may be repeated"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="default: build, or build/student and so on")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="limit for one cell (default: by profile)")
    parser.add_argument("--notebooks", type=Path, metavar="FOLDER", help="run the notebooks of another folder")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--build", choices=builder.VERSIONS, help="write the notebooks for a class, ready for nbgrader"
    )
    instead.add_argument("--grade", type=Path, metavar="FILE", help="grade the exercises of a submitted notebook")
    instead.add_argument("--lint", action="store_true", help="check how the notebooks are written")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    _refuse_what_does_not_apply(options)
    if options.timeout is not None and not options.timeout > 0:
        raise ValueError(f"--timeout {options.timeout:g}: must be a number of seconds > 0")
    if options.lint:
        return _lint(options)
    if options.build:
        return _build(options)
    if options.grade:
        return _grade(options)
    return _run_course(options)


def _refuse_what_does_not_apply(options: argparse.Namespace) -> None:
    for instead, names in _APPLY.items():
        if getattr(options, instead):
            idle = [name for name in _OPTIONS if name not in names and getattr(options, name) not in (None, [])]
            if idle:
                listed = ", ".join(f"--{name}" for name in names)
                raise ValueError(f"--{idle[0]}: has no effect with --{instead}, which takes {listed} only")


def _run_course(options: argparse.Namespace) -> int:
    out = options.out or Path("build")
    _need("papermill", "nbconvert", "latex2mathml")
    if options.dataset is not None:
        load_dataset(options.dataset)  # an unknown name or missing files are reported here, before anything runs
    results = harness.run_course(
        profile=options.profile or "quick",
        dataset=options.dataset,
        only=options.only,
        settings=arguments.parse_assignments(options.set),
        out=out,
        timeout=options.timeout,
        notebooks=options.notebooks,
    )
    print(f"site: {out / 'site' / 'index.html'}")
    failed = [result for result in results if result.status != "ok"]
    for result in failed:
        path = out / "notebooks" / f"{result.name}.ipynb"
        print(f"error: {result.name} failed: {result.error}. The executed notebook is {path}", file=sys.stderr)
    return 1 if failed else 0


def _lint(options: argparse.Namespace) -> int:
    from fedlab_core.course import lint

    _need("nbformat")
    faults = 0
    for path in harness.select(options.notebooks or harness.NOTEBOOKS, options.only):
        for fault in lint.check(path):
            faults += 1
            print(f"{path.name}: {fault}", file=sys.stderr)
    print({0: "no faults", 1: "1 fault"}.get(faults, f"{faults} faults"))
    return 1 if faults else 0


def _build(options: argparse.Namespace) -> int:
    _need("nbformat")
    out = options.out or Path("build") / options.build
    for path in builder.build(options.build, out, only=options.only, notebooks=options.notebooks):
        print(path)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from fedlab_core.course import grade

    _need("nbclient", "nbformat", "ipykernel")
    try:
        print(grade.report(grade.grade(options.grade, options.timeout)))
    except grade.GradingFailed as failure:
        print(f"error: {options.grade}: {failure}", file=sys.stderr)
        return 1
    return 0


def _need(*modules: str) -> None:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"{', '.join(missing)} not installed; the course needs: pip install --editable '.[course]'")
