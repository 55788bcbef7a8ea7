"""A file is whole or as it was, whatever ends the process that writes it, and nothing stays beside it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedlab_core import files
from tests.core.test_checkpoints import same, simulation

HALFWAY = """
import sys, time
import numpy as np
from fedlab_core import files

def half(file, **arrays):
    file.write(b"half of it")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
    whole(file, **arrays)

whole, np.savez = np.savez, half
files.write(sys.argv[1], {"kind": "test"}, {"a": np.arange(3)})
"""


@pytest.fixture
def writer():
    """Starts processes that stand still in the middle of writing a file, until they get a line."""
    started: list[subprocess.Popen] = []

    def start(path: Path) -> subprocess.Popen:
        pipe = subprocess.PIPE
        process = subprocess.Popen([sys.executable, "-c", HALFWAY, path], stdin=pipe, stdout=pipe, text=True)
        started.append(process)
        assert process.stdout.readline() == "writing\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_writing_removes_what_a_killed_one_left(tmp_path, writer) -> None:
    path = tmp_path / "run.npz"
    for _ in range(2):
        process = writer(path)
        process.kill()
        process.wait()
        assert len(names(tmp_path)) == 1 and not path.exists()
    files.write(path, {"kind": "test"}, {})
    assert names(tmp_path) == ["run.npz"]


def test_the_next_run_removes_what_a_killed_one_left_even_if_it_has_nothing_to_write(tmp_path, writer) -> None:
    path = tmp_path / "run.npz"
    whole = simulation(checkpoint=path).run()
    process = writer(path)
    process.kill()
    process.wait()
    assert len(names(tmp_path)) == 2
    same(simulation(checkpoint=path).history, whole)
    assert names(tmp_path) == ["run.npz"]


def test_what_a_living_process_writes_stays(tmp_path, writer) -> None:
    path = tmp_path / "run.npz"
    process = writer(path)
    files.write(path, {"kind": "test"}, {"a": np.zeros(5)})
    assert len(names(tmp_path)) == 2
    process.communicate("go on\n")
    assert process.returncode == 0 and names(tmp_path) == ["run.npz"]
    assert files.read(path, "test")[1]["a"].tolist() == [0, 1, 2]


def test_only_leftovers_of_this_very_file_are_removed(tmp_path) -> None:
    digits = "0123456789abcdef" * 2
    others = [f".run.npz.{digits}.npz", f".run2.npz.{digits}", f".runxnpz.{digits}", f"run.npz.{digits}"]
    for name in [*others, f".run.npz.{digits}"]:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / f".run.npz.{digits[::-1]}").mkdir()
    files.write(tmp_path / "run.npz", {"kind": "test"}, {})
    assert names(tmp_path) == sorted([*others, f".run.npz.{digits[::-1]}", "run.npz"])


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, exists: bool) -> None:
    (tmp_path / "disk").mkdir()
    target, link = tmp_path / "disk" / "real.npz", tmp_path / "run.npz"
    if exists:
        simulation(checkpoint=target, rounds=5).run()
    link.symlink_to(target)
    resumed = simulation(checkpoint=link)
    assert resumed.round == (5 if exists else 0)
    history = resumed.run()
    history.save(tmp_path / "run.npz")
    assert link.is_symlink() and not target.is_symlink() and names(tmp_path / "disk") == ["real.npz"]
    assert files.read(target, "history")


def test_a_file_system_without_locks_still_writes(tmp_path, monkeypatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError("no locks here")

    digits = "0123456789abcdef" * 2
    (tmp_path / f".run.npz.{digits}").write_bytes(b"perhaps somebody writes it")
    monkeypatch.setattr(fcntl, "flock", refuse)
    files.write(tmp_path / "run.npz", {"kind": "test"}, {})
    assert names(tmp_path) == [f".run.npz.{digits}", "run.npz"]


def test_the_folder_is_synchronised_after_the_rename(tmp_path, monkeypatch) -> None:
    calls = []
    replace, fsync = os.replace, os.fsync
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("replace"), replace(*names)))
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("folder" if is_folder(fd) else "file"), fsync(fd)))
    files.write(tmp_path / "run.npz", {"kind": "test"}, {})
    assert calls == ["file", "replace", "folder"]


def is_folder(descriptor: int) -> bool:
    return stat.S_ISDIR(os.fstat(descriptor).st_mode)


class TestCheckWritable:
    @pytest.mark.parametrize("name", ["h.npz", "a/b/c/h.npz"])
    def test_a_path_that_can_be_written_passes_and_leaves_no_trace(self, tmp_path, name: str) -> None:
        files.check_writable(tmp_path / name)
        assert names(tmp_path) == []
        files.write(tmp_path / name, {"kind": "test"}, {})
        before = (tmp_path / name).read_bytes()
        files.check_writable(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before

    def test_a_folder_or_a_device_is_refused(self, tmp_path) -> None:
        with pytest.raises(OSError, match="cannot be written: it is a folder"):
            files.check_writable(tmp_path)
        with pytest.raises(OSError, match="cannot be written: it is not a regular file"):
            files.check_writable("/dev/null")
        with pytest.raises(OSError, match="cannot be written: it is a folder"):
            files.write(tmp_path, {"kind": "test"}, {})

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
    def test_a_folder_that_takes_no_files_is_refused(self) -> None:
        with pytest.raises(OSError, match=r"/proc/h.npz cannot be written: no file can be made in /proc "):
            files.check_writable("/proc/h.npz")
