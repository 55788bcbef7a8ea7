"""The command line of the library: ``run`` one experiment, ``sweep`` over many, ``data`` sets on disk."""

from collections.abc import Sequence

from fedlab_core.cli import data, program, run
from fedlab_core.sweep import command as sweep

_COMMANDS: dict[str, tuple[str, program.Configure]] = {
    "run": ("Run one experiment and write its history.", run.configure),
    "sweep": ("Run a grid of experiments in parallel, or show how far it is.", sweep.configure),
    "data": ("List, fetch and verify data sets.", data.configure),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``python -m fedlab_core`` (or ``fedlab``) and return the exit status."""
    return program.run(
        "python -m fedlab_core", "Federated learning on non-IID data: experiments and data sets.", _COMMANDS, arguments
    )
