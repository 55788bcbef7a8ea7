"""The command line: ``run`` one experiment, ``course`` all notebooks, ``data`` sets on disk."""

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence

from fedlab_core import experiment
from fedlab_core.course import cli as course
from fedlab_core.data import cli as data
from fedlab_core.simulation import Diverged

_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "run": ("Run one experiment and write its history.", experiment.configure),
    "course": ("Run the notebooks and write a static site.", course.configure),
    "data": ("List, fetch and verify data sets.", data.configure),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 success, 1 failure, 2 bad arguments, 130 interrupted.

    An error that a person can do something about is one paragraph on stderr; ``--traceback`` shows where it came from.
    """
    parser = _parser()
    parsed = parser.parse_args(arguments)
    try:
        return parsed.run(parsed)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError, Diverged) as error:
        if parsed.traceback:
            raise
        print(_paragraph(error), file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _parser() -> argparse.ArgumentParser:
    summary = "Federated learning on non-IID data: experiments, course and data sets."
    parser = argparse.ArgumentParser(prog="python -m fedlab_core", description=summary)
    parser.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
    commands = parser.add_subparsers(title="commands", required=True, metavar="run|course|data")
    for name, (summary, configure) in _COMMANDS.items():
        configure(commands.add_parser(name, help=summary, description=summary))
    return parser


def _paragraph(error: BaseException) -> str:
    return textwrap.fill(f"error: {error}", width=100, break_long_words=False, break_on_hyphens=False)
