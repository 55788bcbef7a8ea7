"""Count the cores that this process may use, from its CPU affinity and the CPU quota of its
container.

Standard library only: a program can run this file before it imports PyTorch.
"""

import contextlib
import os
from pathlib import Path


def usable(root: Path = Path("/")) -> int:
    """Count the usable cores, at least 1: the CPU affinity, or fewer by a quota of control groups,
    version 2.
    """
    counts = [
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ]
    tree = root / "sys/fs/cgroup"
    group = "."
    with contextlib.suppress(OSError):
        group = (root / "proc/self/cgroup").read_text(encoding="utf-8").split("::/")[-1].strip()
    # in a container, the group may be the host's
    for folder in {tree, tree / group, *(tree / group).parents}:
        with contextlib.suppress(OSError, ValueError):  # no file, or no quota: "max"
            quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
            counts.append(int(quota) // int(period))
    return max(1, min(counts))
