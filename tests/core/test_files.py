"""A file is whole or as it was, whatever ends the process that writes it, and nothing stays beside
it.
"""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from fedlab_core import files
from tests.core.test_checkpoints import simulation

KEY = "0123456789abcdef" * 2


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, error) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(b"old")
    with pytest.raises(error), files.replacing(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old" and names(tmp_path) == ["run.npz"]


def test_a_new_file_is_on_the_disk_before_it_replaces_the_old_one(tmp_path, monkeypatch) -> None:
    calls = []
    replace = os.replace
    fsync = os.fsync
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("replace"), replace(*names)))
    monkeypatch.setattr(os, "fsync", lambda descriptor: (calls.append("fsync"), fsync(descriptor)))
    files.write(tmp_path / "run.npz", {"kind": "test"}, {"a": np.arange(3)})
    assert calls == ["fsync", "replace"] and names(tmp_path) == ["run.npz"]
    assert files.read(tmp_path / "run.npz", "test")[1]["a"].tolist() == [0, 1, 2]


def test_leftovers_of_this_very_file_are_removed_after_a_day(tmp_path) -> None:
    others = [f".run.npz.{KEY}.npz", f".run2.npz.{KEY}", f".runxnpz.{KEY}", f"run.npz.{KEY}"]
    young = f".run.npz.{KEY[::-1]}"
    for name in [*others, young, f".run.npz.{KEY}"]:
        (tmp_path / name).write_bytes(b"")
        age = 3600 if name == young else 2 * files.LEFTOVER_SECONDS
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    files.write(tmp_path / "run.npz", {"kind": "test"}, {})
    assert names(tmp_path) == sorted([*others, young, "run.npz"])


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, exists: bool) -> None:
    (tmp_path / "disk").mkdir()
    target = tmp_path / "disk" / "real.npz"
    link = tmp_path / "run.npz"
    if exists:
        simulation(checkpoint=target, rounds=5).run()
    link.symlink_to(target)
    resumed = simulation(checkpoint=link)
    assert resumed.round == (5 if exists else 0)
    resumed.run().save(tmp_path / "run.npz")
    assert (
        link.is_symlink() and not target.is_symlink() and names(tmp_path / "disk") == ["real.npz"]
    )
    assert files.read(target, "history")


@pytest.mark.parametrize("name", ["h.npz", "a/b/c/h.npz"])
def test_a_path_that_can_be_written_passes_and_leaves_no_trace(tmp_path, name: str) -> None:
    files.check_writable(tmp_path / name)
    assert names(tmp_path) == []


def test_a_folder_or_a_device_is_refused(tmp_path) -> None:
    for refuse in (files.check_writable, lambda path: files.write(path, {"kind": "test"}, {})):
        with pytest.raises(OSError, match="cannot be written: it is a folder"):
            refuse(tmp_path)
    with pytest.raises(OSError, match="cannot be written: it is not a regular file"):
        files.check_writable("/dev/null")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
def test_a_folder_that_takes_no_files_is_refused_before_any_work() -> None:
    with pytest.raises(
        OSError, match=r"/proc/h.npz cannot be written: no file can be made in /proc "
    ):
        simulation(checkpoint="/proc/h.npz")
