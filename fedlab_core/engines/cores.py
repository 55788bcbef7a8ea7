"""Count the cores that this process may use, from its CPU affinity and the CPU quota of its container.

Standard library only: a program can run this file before it imports PyTorch.
"""

import os
from pathlib import Path, PurePosixPath

_FILES = ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")  # version 2 and version 1 of control groups


def usable(root: Path = Path("/")) -> int:
    """Count the usable cores, at least 1: the CPU affinity, or fewer if a quota is smaller.

    ``root`` is the folder that holds ``proc`` and ``sys``.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min([affinity, *quotas(root)])))


def quotas(root: Path = Path("/")) -> list[float]:
    """List the CPU quotas, in cores, of this process's control groups and of all groups above them."""
    return [quota for group in _groups(root) if (quota := _quota(group)) is not None]


def _groups(root: Path) -> list[Path]:
    """The folders that may have a CPU quota of this process.

    In a container, /proc may name the groups of the host. The container's own group is then the root of the tree.
    """
    tree = root / "sys/fs/cgroup"
    found = {tree, tree / "cpu"}
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:  # number:controllers:path; version 2 names no controllers
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            group = (tree / "cpu" if controllers else tree) / PurePosixPath(path).relative_to("/")
            found |= {group, *(above for above in group.parents if tree in above.parents)}
    return sorted(found)


def _quota(group: Path) -> float | None:
    """The quota of one control group in cores: its time over its period, both in µs; None without a quota."""
    for names in _FILES:
        try:
            words = " ".join((group / name).read_text(encoding="utf-8") for name in names).split()
        except OSError:
            continue
        if len(words) == 2 and all(word.isdecimal() for word in words):  # no quota: "max" or "-1"
            return int(words[0]) / int(words[1])
    return None
