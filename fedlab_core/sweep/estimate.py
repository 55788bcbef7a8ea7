"""How long a sweep may take: from runs that are done, and from two rounds of those that are not."""

import os
import time

from fedlab_core.simulation import Diverged, Simulation
from fedlab_core.sweep import runs
from fedlab_core.sweep.folder import Folder
from fedlab_core.sweep.grid import Grid

_TRIAL = 20.0  # seconds for all trials together; cells that come later are taken for average ones


def estimate(grid: Grid, folder: Folder) -> list[tuple[runs.Run, float | None]]:
    """Each run of the grid with the seconds of computation that it may take, or None if it has its result."""
    found: list[tuple[runs.Run, float | None]] = []
    per_round: list[float] = []
    began = time.monotonic()
    for cell, ready in runs.simulations(grid):
        config = ready.history.config
        mine = [runs.run_of(cell, config, seed) for seed in grid.seeds]
        missing = {run.digest for run in folder.missing(mine)}
        known = [folder.outcome(run)["seconds"] / config["rounds"] for run in mine if run.digest not in missing]
        if not known and (time.monotonic() < began + _TRIAL or not per_round):
            known = [_trial(ready)]
        per_round.append(sum(known) / len(known) if known else sum(per_round) / len(per_round))
        found += [(run, per_round[-1] * config["rounds"] if run.digest in missing else None) for run in mine]
    return found


def cores() -> int:
    """How many processes a local cluster has by default."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _trial(simulation: Simulation) -> float:
    """Seconds of a round, from the first two: the set-up before the first counts once."""
    rounds = min(2, simulation.settings.rounds)
    try:
        seconds = [next(simulation).seconds for _ in range(rounds)]
    except Diverged:
        return 0.0
    first, each = seconds[0], seconds[-1] - (seconds[0] if rounds == 2 else 0)
    return (first + each * (simulation.settings.rounds - 1)) / simulation.settings.rounds
