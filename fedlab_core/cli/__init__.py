"""The command line of the library: ``run`` one experiment, ``sweep`` a grid, ``data`` on disk,
``conform``.
"""

from collections.abc import Sequence

from fedconform import command as conform
from fedlab_core.cli import data, program, run
from fedlab_core.sweep import command as sweep

_COMMANDS: dict[str, tuple[str, program.Configure]] = {
    "run": ("Run one experiment and write its history.", run.configure),
    "sweep": ("Run a grid of experiments in parallel, or show how far it is.", sweep.configure),
    "data": ("List, fetch and verify data sets.", data.configure),
    "conform": (
        "Check an implementation of federated algorithms on problems with known answers.",
        conform.configure,
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``fedlab-core``, which is ``python -m fedlab_core``, and return the exit status."""
    about = "Federated learning on non-IID data: experiments and data sets."
    return program.run("fedlab-core", about, _COMMANDS, arguments)
