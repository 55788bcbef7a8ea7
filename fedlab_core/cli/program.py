"""What the command lines of library and course share: commands, exit statuses, errors in one
paragraph.
"""

import argparse
import io
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence

from fedlab_core.simulation import Diverged

Configure = Callable[[argparse.ArgumentParser], None]


def run(
    prog: str,
    summary: str,
    commands: Mapping[str, tuple[str, Configure]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run the command that ``arguments`` name and return the exit status.

    0 success, 1 failure, 2 bad arguments, 130 interrupted. An error that a person can do something
    about is one paragraph on stderr; ``--traceback`` shows where it came from. ``commands``: name →
    summary and a function that adds arguments to a parser and sets ``run``, from the parsed
    arguments to the exit status.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a pipe on Windows has no μ
    parsed = _parser(prog, summary, commands).parse_args(arguments)
    try:
        return parsed.run(parsed)
    except KeyboardInterrupt:
        print(f"\ninterrupted{getattr(parsed, 'when_interrupted', '')}", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError, Diverged) as error:
        if parsed.traceback:
            raise
        print(
            textwrap.fill(f"error: {error}", 100, break_long_words=False, break_on_hyphens=False),
            file=sys.stderr,
        )
        return 2 if isinstance(error, ValueError) else 1


def _parser(
    prog: str, summary: str, commands: Mapping[str, tuple[str, Configure]]
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description=summary)
    parser.add_argument(
        "--traceback", action="store_true", help="show the full traceback of an error"
    )
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="|".join(commands))
    for name, (about, configure) in commands.items():
        configure(subparsers.add_parser(name, help=about, description=about))
    return parser
