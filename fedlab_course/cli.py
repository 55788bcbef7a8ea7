"""The command line of the course: run, build, grade and lint
notebooks, and measure the evidence.
"""

import argparse
import importlib.util
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedlab_core import language, validation
from fedlab_core.cli import program
from fedlab_core.engines import cores
from fedlab_course import folders, grading, outline
from fedlab_course.classroom import command as classroom
from fedlab_course.experiments import command as evidence
from fedlab_course.grading.nbgrader import course
from fedlab_course.harness import course_run, rows
from fedlab_course.harness.course_plan import Options
from fedlab_course.publish import build as builder
from fedlab_course.translation import command as translation


def main(given: Sequence[str] | None = None) -> int:
    """Run ``python -m fedlab_course`` (or ``fedlab-course``) and return the exit status.

    0 success, 1 failure, 2 bad arguments, 130 interrupted by Ctrl-C or SIGTERM: finished work is
    reported, kernels end.
    """
    if threading.current_thread() is threading.main_thread():  # it alone can handle signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    summary = (
        "A course on federated learning: run its notebooks, build them for a class, grade "
        "and lint them."
    )
    return program.run("python -m fedlab_course", summary, _COMMANDS, given)


def _configure_run(parser: argparse.ArgumentParser) -> None:
    limits = ", ".join(
        f"{seconds} in {profile}" for profile, seconds in course_run.TIMEOUTS.items()
    )
    add = parser.add_argument
    add(
        "--profile",
        choices=course_run.TIMEOUTS,
        default="quick",
        help="quick or full experiments (default: quick)",
    )
    add("--dataset", metavar="NAME", help="data set for the notebooks that have this parameter")
    _add_notebooks(parser)
    parameter = "set a parameter of the notebooks; may be repeated"
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=parameter)
    add("--out", type=Path, default=Path("build"), metavar="FOLDER", help="default: build")
    add("--timeout", type=_whole, metavar="SECONDS", help=f"limit for one cell (default: {limits})")
    add(
        "--jobs",
        type=_whole,
        metavar="N",
        help="notebooks run at once (default: one for each core)",
    )
    table = "TOML file with a [[row]] table of parameters (optional: name, only) for each run"
    add("--rows", type=Path, metavar="FILE", help=table)
    add("--again", action="store_true", help="with --rows: also run finished rows again")
    parser.set_defaults(run=_run)


def _configure_build(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    whom = (
        "instructor: with solutions; nbgrader: a course folder; hosted: for Colab, Kaggle and "
        "Binder"
    )
    add("version", nargs="?", choices=(*builder.VERSIONS, "nbgrader", "hosted"), help=whom)
    add(
        "--language",
        metavar="CODE",
        default=language.SOURCE,
        help="such as zh; without a version: the notebooks as they are, to notebooks/CODE",
    )
    _add_notebooks(parser)
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="default: hosted, or build/VERSION for other versions",
    )
    add("--repository", metavar="OWNER/NAME", help="hosted: the GitHub repository of the folder")
    add("--branch", metavar="NAME", help="hosted: its branch, tag or commit (default: main)")
    add(
        "--wheel",
        metavar="URL",
        help="hosted: the address that pip installs (default: the archive of the branch)",
    )
    parser.set_defaults(run=_build)


def _configure_grade(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"{parser.description} The submission's code runs on this machine with your rights and can "
        "read your files. There is no sandbox: grade strangers' work in a container."
    )
    add = parser.add_argument
    limits = grading.Limits()
    add(
        "path",
        type=Path,
        metavar="FILE|FOLDER",
        help="a submitted notebook, or with --csv a folder of them",
    )
    table = "write a row for each notebook in FOLDER and its subfolders to this file"
    add("--csv", type=Path, metavar="TABLE", help=table)
    add(
        "--jobs",
        type=_whole,
        metavar="N",
        help="submissions graded at once (default: one for each core)",
    )
    for name, unit, default, bound in (
        ("--timeout", "SECONDS", limits.cell, "one cell, or all calls of one exercise"),
        ("--total", "SECONDS", limits.total, "one submission with all its cells and exercises"),
        ("--memory", "MB", limits.memory, "all processes of one submission"),
    ):
        add(
            name,
            type=_whole,
            default=default,
            metavar=unit,
            help=f"limit for {bound} (default: %(default)g)",
        )
    add("--user", metavar="NAME", help="run the submissions' code as this user (root only)")
    then = "; what is graded stands in the table, and the same command goes on"
    parser.set_defaults(run=_grade, when_interrupted=then)


def _configure_lint(parser: argparse.ArgumentParser) -> None:
    _add_notebooks(parser)
    parser.set_defaults(run=_lint)


def _add_notebooks(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="NOTEBOOK",
        help="numbers or names, such as 02",
    )
    add(
        "--notebooks", type=Path, default=folders.NOTEBOOKS, metavar="FOLDER", help="another folder"
    )


def _whole(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number > 0")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    _need("papermill", "nbconvert", "latex2mathml", "pdoc")
    if options.again and options.rows is None:
        raise ValueError("--again: works only with --rows; without it everything is run")
    names = ("profile", "dataset", "only", "out", "timeout", "notebooks", "jobs")
    given = {name: getattr(options, name) for name in names}
    asked = Options(**given, settings=validation.parse_assignments(options.set))
    if options.rows is None:
        results = course_run.run_course(asked)
        where = f"{asked.executed.relative_to(options.out)}/{{}}.ipynb"
    else:
        results = rows.run_rows(options.rows, asked, again=options.again)
        where = "rows/{}"
    print(f"site: {asked.site / 'index.html'}")
    chapters = [outline.named(result.name) for result in results]
    earlier_names = sum(len(chapter.was) for chapter in chapters if chapter)
    if earlier_names:
        leads = "have a page that leads to the present one"
        print(f"      {earlier_names} earlier names of chapters {leads}")
    failed = [result for result in results if result.status != "ok"]
    for result in failed:
        place = options.out / where.format(result.name)
        print(f"error: {result.name} failed: {result.error}. See {place}", file=sys.stderr)
    return 1 if failed else 0


def _build(options: argparse.Namespace) -> int:
    _need("nbformat")
    where: dict[str, Any] = {"only": options.only, "notebooks": options.notebooks}
    given = {}
    for name in ("repository", "branch", "wheel"):
        if getattr(options, name):
            given[name] = getattr(options, name)
    code = language.known(options.language, "--language")
    if code != language.SOURCE and options.version in ("nbgrader", "hosted"):
        raise ValueError(f"--language {code}: does not work with build {options.version}")
    if options.version == "hosted":
        if "repository" not in given:
            raise ValueError(
                "--repository: build hosted needs the OWNER/NAME of a GitHub repository"
            )
        paths = builder.hosted(out=options.out or Path("hosted"), **given, **where)
    else:
        for name in given:
            raise ValueError(f"--{name}: works only with build hosted")
        out = options.out or _default_folder(options.version, code)
        if options.version == "nbgrader":
            paths = course.write(out, **where)
        else:
            paths = builder.build(options.version or builder.PLAIN, out, code, **where)
    print(*paths, sep="\n")
    return 0


def _default_folder(version: str | None, code: str) -> Path:
    """Where ``build`` writes. Raises ``ValueError`` if neither version nor language is named."""
    if version is not None:
        folder = Path("build", version)
        return folder if code == language.SOURCE else folder / code
    if code == language.SOURCE:
        raise ValueError("build: name a version, or a language such as --language zh")
    return Path("notebooks", code)


def _grade(options: argparse.Namespace) -> int:
    """Grade a notebook and print its report, or with ``--csv`` all below a folder. 1 if one could
    not be graded.
    """
    _need("IPython")
    path = options.path
    csv = options.csv
    user = options.user
    if path.is_dir() and csv is None:
        raise ValueError(
            f"{path}: is a folder. Name one notebook, or a table to write with --csv TABLE"
        )
    if csv is not None and not path.is_dir():
        raise ValueError(f"--csv {csv}: is for a folder of notebooks, and {path} is not a folder")
    number = None if user is None else grading.user_number(user)
    bounds = grading.Limits(options.timeout, options.total, options.memory, user=number)
    if csv is None:
        print(grading.report(grading.grade(path, bounds)))
        return 0
    problems = grading.grade_folder(path, csv, options.jobs or cores.usable(), bounds)
    print(f"table: {csv}")
    for problem in problems:
        print(f"error: not graded: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _lint(options: argparse.Namespace) -> int:
    _need("nbformat")
    from fedlab_course import lint

    paths = folders.select(options.notebooks, options.only)
    faults = [f"{path.name}: {fault}" for path in paths for fault in lint.check(path)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(faults) or 'no'} fault{'s' * (len(faults) != 1)}")
    return 1 if faults else 0


def _need(*modules: str) -> None:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(
            f"{', '.join(missing)} not installed: pip install '.[course]', the extra of the course"
        )


_COMMANDS: dict[str, tuple[str, program.Configure]] = {
    "run": ("Run the notebooks and write executed notebooks and a static site.", _configure_run),
    "build": (
        "Write the notebooks for students, instructors, nbgrader or the cloud.",
        _configure_build,
    ),
    "grade": ("Grade a submitted notebook, or a folder of them.", _configure_grade),
    "lint": ("Check the notebooks against the rules of the course.", _configure_lint),
    "classroom": (
        "Start a class whose phones are the federation: one page for phones, one to project.",
        classroom.configure,
    ),
    "translate": (
        "Bring the catalogues of a language up to date with the course, or check them.",
        translation.configure,
    ),
    "evidence": (
        "Run the missing experiments behind the stored verdicts, and write the report.",
        evidence.configure,
    ),
}
