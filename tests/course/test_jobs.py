"""Notebooks run at the same time: they overlap, compute the same, keep their order, and stop together."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fedlab_core.engines import cores
from fedlab_course.harness import kernel, output_folder, plan, progress, run
from tests.course import planted
from tests.course.planted import command

MEET = """\
import pathlib, time
pathlib.Path("{here}").touch()
limit = time.monotonic() + 100
while not pathlib.Path("{there}").exists():
    assert time.monotonic() < limit, "nobody came"
    time.sleep(0.05)"""
NUMBERS = """\
import numpy as np, torch
from fedlab_course.check import claims
draw = np.random.default_rng({seed}).standard_normal((400, 300))
svd, inverse = np.linalg.svd(draw)[0].sum().hex(), torch.linalg.inv(torch.tensor(draw[:300])).sum().item()
claims.check("A sum", draw.sum() > 0, f"{{torch.get_num_threads()}} thread: {{svd}}, {{inverse!r}}")"""
LONG = """\
import os, pathlib, subprocess, tempfile, time
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("{name}.part").write_text(f"{{os.getpid()}} {{child.pid}} {{tempfile.mkdtemp()}}")
os.replace("{name}.part", "{name}.begun")
time.sleep(600)"""


def test_two_notebooks_run_at_the_same_time(tmp_path: Path) -> None:
    planted.notebook(tmp_path, "00_a", MEET.format(here="a", there="b"))
    planted.notebook(tmp_path, "01_b", MEET.format(here="b", there="a"))
    done = command("--notebooks", tmp_path, "--jobs", "2", out=tmp_path / "out")
    assert done.status == 0, done.stderr
    assert [entry["status"] for entry in done.summary["notebooks"]] == ["ok", "ok"]


@pytest.mark.slow
def test_what_is_computed_does_not_depend_on_how_many_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    names = ["00_a", "01_b"]
    for seed, name in enumerate(names):
        planted.notebook(tmp_path, name, NUMBERS.format(seed=seed))
    alone, together = (
        command("--notebooks", tmp_path, "--jobs", jobs, out=tmp_path / f"out-{jobs}") for jobs in ("1", "2")
    )
    for name in names:
        first, second = ((one.out / "notebooks" / f"{name}.ipynb").read_bytes() for one in (alone, together))
        assert b"1 thread: " in first
        assert first == second
    for one in (alone, together):
        assert [entry["name"] for entry in one.summary["notebooks"]] == names
        assert [line.split()[1] for line in one.stdout.splitlines() if line.startswith("[")] == names
    unlike = {"seconds": None}
    assert [entry | unlike for entry in alone.summary["notebooks"]] == [
        entry | unlike for entry in together.summary["notebooks"]
    ]


@pytest.mark.parametrize(("jobs", "shared"), [(1, "6"), (2, "3"), (4, "1"), (20, "1")])
def test_kernels_share_the_cores_unless_a_person_sets_their_threads(monkeypatch, jobs: int, shared: str) -> None:
    monkeypatch.setattr(cores, "usable", lambda: 6)
    for name, expected in (("OMP_NUM_THREADS", "1"), ("FEDLAB_THREADS", shared)):
        monkeypatch.delenv(name, raising=False)
        with kernel.environment(jobs):
            assert os.environ[name] == expected
        assert name not in os.environ
        monkeypatch.setenv(name, "5")
        with kernel.environment(jobs):
            assert os.environ[name] == "5"


@pytest.mark.parametrize(("threads", "jobs"), [(None, 6), ("1", 6), ("2", 3), ("4", 1), ("99", 1)])
def test_by_default_kernels_and_their_threads_fill_the_cores(
    monkeypatch: pytest.MonkeyPatch, threads: str | None, jobs: int
) -> None:
    monkeypatch.setattr(cores, "usable", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert run.default_jobs() == jobs


def test_kernels_that_start_at_the_same_time_have_sockets_of_their_own() -> None:
    with kernel.environment() as workspace:
        configs = [kernel.manager_config(workspace)["KernelManager"] for _ in range(2)]
    if os.name == "posix":
        assert configs[0]["ip"] != configs[1]["ip"]
        assert all(len(config["ip"]) < 90 for config in configs)


def test_the_longest_begins_first_and_the_report_keeps_the_order(tmp_path: Path) -> None:
    for name in ("00_a", "01_b"):
        planted.notebook(tmp_path, name, "1")
    entries = [{"name": "00_a", "status": "ok", "seconds": 1.5}, {"name": "01_b", "status": "ok", "seconds": 2.5}]
    (tmp_path / "out").mkdir()
    output_folder.write_summary(tmp_path / "out", {"profile": "quick", "notebooks": entries})
    done = command("--notebooks", tmp_path, "--jobs", "1", out=tmp_path / "out")
    lines = done.stdout.splitlines()
    assert [line for line in lines if "started" in line] == ["01_b: started", "00_a: started"]
    assert [line.split()[:3] for line in lines[-3:-1]] == [["[1/2]", "00_a", "ok"], ["[2/2]", "01_b", "ok"]]
    assert [entry["name"] for entry in done.summary["notebooks"]] == ["00_a", "01_b"]


def test_what_was_not_measured_is_judged_by_its_cells(tmp_path: Path) -> None:
    cells = {"00_short": 1, "01_known": 4, "02_long": 9, "03_middle": 5}
    notebooks = [plan.Notebook(Path(f"{name}.ipynb"), {}, number) for name, number in cells.items()]
    one = plan.Plan(notebooks, {name: {} for name in cells}, "quick", tmp_path, tmp_path / "runs")

    def order() -> list[str]:
        return [notebooks[number].name for _, number in run._longest_first([one])]

    assert order() == ["02_long", "03_middle", "01_known", "00_short"]
    measured = {
        "profile": "quick",
        "notebooks": [{"name": "01_known", "seconds": 2.0}, {"name": "03_middle", "seconds": 9.0}],
    }
    output_folder.write_summary(tmp_path, measured)  # 11 s for 9 cells: 11 s for the long one, 1.2 s for the short one
    assert order() == ["02_long", "03_middle", "01_known", "00_short"]
    measured["notebooks"][0]["seconds"] = 30.0
    output_folder.write_summary(tmp_path, measured)
    assert order() == ["02_long", "01_known", "03_middle", "00_short"]
    output_folder.write_summary(tmp_path, measured | {"profile": "full"})
    assert order() == ["02_long", "03_middle", "01_known", "00_short"]


def test_a_row_comes_to_its_end_before_the_next(tmp_path: Path) -> None:
    notebooks = [plan.Notebook(Path(f"{name}.ipynb"), {}, number) for name, number in (("00_short", 1), ("01_long", 9))]
    values: dict[str, dict] = {one.name: {} for one in notebooks}
    rows = [plan.Plan(notebooks, values, "quick", tmp_path / title, tmp_path, title) for title in ("a", "b")]
    order = [(one.title, notebooks[number].name) for one, number in run._longest_first(rows)]
    assert order == [("a", "01_long"), ("a", "00_short"), ("b", "01_long"), ("b", "00_short")]


def test_cells_are_counted_as_in_the_source(tmp_path: Path) -> None:
    path, reached = planted.notebook(tmp_path, "00_a", "1", "2", parameters=planted.PARAMETERS), []
    with kernel.environment() as workspace:
        notebook = kernel.execute(path, {"mu": 0.5}, workspace, 60, reached=reached.append)
    assert len(notebook.cells) == 5  # text, parameters, those given, two cells
    assert reached == [1, 2, 2, 3, 4]


def test_a_long_notebook_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT", 0.05)
    with progress.Progress() as shown:
        shown.started("00_a", 7)
        shown.reached("00_a", 3)
        time.sleep(0.5)
        shown.finished("00_a", "ok 1.0 s")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "00_a: started"
    assert "00_a: cell 3 of 7, 0 s" in lines[1:-1]
    assert lines[-1] == "00_a: ok 1.0 s"


def test_on_a_terminal_each_notebook_has_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(progress, "watched", lambda: True)
    monkeypatch.setattr(progress, "_TICK", 0.02)
    with progress.Progress() as shown:
        for name, number in (("00_a", 3), ("01_b", 5)):
            shown.started(name, 7)
            shown.reached(name, number)
        time.sleep(0.5)
        shown.finished("01_b", "ok 1.0 s")
    printed = capsys.readouterr()
    assert printed.out == "01_b: ok 1.0 s\n"
    assert "00_a:  29%" in printed.err
    assert "01_b:  57%" in printed.err


@pytest.fixture
def two_on_their_way(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """The command after its first notebook, in the midst of two others, with a fourth to come."""
    planted.notebook(tmp_path, "00_done", "1")
    for name in ("01_long", "02_long", "03_never"):
        planted.notebook(tmp_path, name, LONG.format(name=name))
    process = planted.course(tmp_path, jobs=2)
    while len(list(tmp_path.glob("*.begun"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX systems send them")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_all_kernels_stop_with_the_run(
    tmp_path: Path, two_on_their_way: subprocess.Popen, sent: signal.Signals, status: int
) -> None:
    send = os.killpg if sent == signal.SIGINT else os.kill
    send(two_on_their_way.pid, sent)
    stdout, stderr = two_on_their_way.communicate(timeout=120)
    assert (two_on_their_way.returncode, stderr) == (status, "\ninterrupted\n")
    assert "03_never" not in stdout
    begun = [(tmp_path / f"{name}.begun").read_text().split() for name in ("01_long", "02_long")]
    assert not any(running(int(pid)) for kernel, child, _ in begun for pid in (kernel, child))
    assert not any(Path(folder).exists() for _, _, folder in begun)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["finished"] is False
    assert [entry["status"] for entry in summary["notebooks"]] == ["ok", "not run", "not run", "not run"]
    assert [path.name for path in (tmp_path / "out" / "notebooks").iterdir()] == ["00_done.ipynb"]
    words = " ".join((tmp_path / "out" / "site" / "index.html").read_text().split())
    assert "have no page: 01_long, 02_long, 03_never." in words
