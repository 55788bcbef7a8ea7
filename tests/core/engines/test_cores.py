"""The cores that a process may use: affinity and the quota of its container, read from written
files.
"""

import os
from pathlib import Path

import pytest

from fedlab_core.engines import cores


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("200000 100000\n", 2),
        ("150000 100000\n", 1),
        ("10000 100000\n", 1),
        ("25000 10000\n", 2),
        ("max 100000\n", 16),
    ],
)
def test_the_quota_of_a_container(tmp_path: Path, text: str, expected: int) -> None:
    assert cores.usable(write(tmp_path, {"sys/fs/cgroup/cpu.max": text})) == expected


def test_the_smallest_quota_of_all_groups_above_counts(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/user.slice/job\n",
        "sys/fs/cgroup/user.slice/cpu.max": "300000 100000\n",
        "sys/fs/cgroup/user.slice/job/cpu.max": "500000 100000\n",
        "sys/fs/cgroup/user.slice/another/cpu.max": "100000 100000\n",
    }
    assert cores.usable(write(tmp_path, files)) == 3


def test_without_control_groups_it_is_the_affinity_or_the_cores_of_the_machine(
    tmp_path: Path, monkeypatch
) -> None:
    assert cores.usable(tmp_path) == 16
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores.usable(tmp_path) == 6


def test_what_cannot_be_read_is_no_quota(tmp_path: Path) -> None:
    assert (
        cores.usable(write(tmp_path, {"sys/fs/cgroup/cpu.max": "what\n", "proc/self/cgroup": ""}))
        == 16
    )
