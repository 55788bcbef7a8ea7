"""The command ``fedconform``, which is also ``python -m fedlab_core conform``."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from fedconform import environment, formats
from fedconform.checking import LIMIT, check
from fedconform.declared import SHIPPED, load

EXIT = "Exit status: 0 nothing failed, 1 something failed or nothing was offered, 2 bad arguments."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a check to ``parser`` and set ``run``."""
    names = ", ".join(sorted(path.stem for path in SHIPPED.glob("[!_]*.py")))
    parser.epilog = EXIT
    parser.add_argument(
        "adapter",
        metavar="ADAPTER",
        help=f"a Python file with a function run(task), or one of: {names}",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="ALGORITHM",
        help="check these algorithms only, such as Scaffold",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help="the time for one problem (default: %(default)g)",
    )
    for name, what in (("out", "CSV"), ("json", "JSON"), ("junit", "JUnit XML")):
        parser.add_argument(
            f"--{name}", type=Path, metavar="FILE", help=f"also write the rows as {what}"
        )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.limit > 0:
        raise ValueError(f"--limit={arguments.limit:g}: must be positive, for example 60")
    report = check(load(arguments.adapter), arguments.only, limit=arguments.limit)
    print(report)
    if arguments.out is not None:
        formats.write_csv(report, arguments.out)
    if arguments.json is not None:
        formats.write_json(report, arguments.json)
    if arguments.junit is not None:
        formats.write_junit(report, arguments.junit)
    return 0 if report.passed else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``fedconform`` and return the exit status: 0 nothing failed, 1 something failed or
    nothing was offered, 2 bad arguments.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a pipe on Windows has no μ
    given = list(sys.argv[1:] if arguments is None else arguments)
    about = "Check an implementation of federated algorithms on problems with known answers."
    if given[:1] == [environment.NAME]:
        parser = argparse.ArgumentParser(f"fedconform {environment.NAME}")
        environment.configure(parser)
        given = given[1:]
    else:
        usage = f"`fedconform {environment.NAME} ADAPTER` makes the environment of an adapter."
        parser = argparse.ArgumentParser("fedconform", description=f"{about} {usage}")
        configure(parser)
    parsed = parser.parse_args(given)
    try:
        return int(parsed.run(parsed))
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
