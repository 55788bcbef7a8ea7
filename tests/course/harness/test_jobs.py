"""Notebooks run at the same time: they overlap, compute the same, keep their order, and stop
together.
"""

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from fedlab_core.engines import cores
from fedlab_course.harness import course_plan, course_run, kernel
from tests.course.harness import planted
from tests.course.harness.planted import command

MEET = """\
import pathlib, time
pathlib.Path("{here}").touch()
limit = time.monotonic() + 280
while not pathlib.Path("{there}").exists():
    assert time.monotonic() < limit, "nobody came"
    time.sleep(0.05)"""
NUMBERS = """\
import numpy as np, torch
from fedlab_course.check import claims
draw = np.random.default_rng({seed}).standard_normal((400, 300))
svd = np.linalg.svd(draw)[0].sum().hex()
inverse = torch.linalg.inv(torch.tensor(draw[:300])).sum().item()
threads = torch.get_num_threads()
claims.check("A sum", draw.sum() > 0, f"{{threads}} thread: {{svd}}, {{inverse!r}}")"""
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
def test_what_is_computed_does_not_depend_on_how_many_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    names = ["00_a", "01_b"]
    for seed, name in enumerate(names):
        planted.notebook(tmp_path, name, NUMBERS.format(seed=seed))
    alone, together = (
        command("--notebooks", tmp_path, "--jobs", jobs, out=tmp_path / f"out-{jobs}")
        for jobs in ("1", "2")
    )
    for name in names:
        first, second = (
            (one.out / "notebooks" / f"{name}.ipynb").read_bytes() for one in (alone, together)
        )
        assert b"1 thread: " in first
        assert first == second
    for one in (alone, together):
        assert [entry["name"] for entry in one.summary["notebooks"]] == names
        assert [
            line.split()[1] for line in one.stdout.splitlines() if line.startswith("[")
        ] == names
    unlike = {"seconds": None}
    assert [entry | unlike for entry in alone.summary["notebooks"]] == [
        entry | unlike for entry in together.summary["notebooks"]
    ]


def test_kernels_and_their_threads_fill_the_cores_unless_a_person_sets_their_threads(
    monkeypatch,
) -> None:
    monkeypatch.setattr(cores, "usable", lambda: 6)
    for jobs, shared in ((1, "6"), (2, "3"), (4, "1"), (20, "1")):
        for name, expected in (("OMP_NUM_THREADS", "1"), ("FEDLAB_THREADS", shared)):
            monkeypatch.delenv(name, raising=False)
            with kernel.environment(jobs):
                assert os.environ[name] == expected
            assert name not in os.environ
            monkeypatch.setenv(name, "5")
            with kernel.environment(jobs):
                assert os.environ[name] == "5"
    for threads, jobs in (("1", 6), ("2", 3), ("4", 1), ("99", 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert course_run.default_jobs() == jobs
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert course_run.default_jobs() == 6


def test_kernels_that_start_at_the_same_time_have_sockets_of_their_own() -> None:
    with kernel.environment() as workspace:
        configs = [kernel.manager_config(workspace)["KernelManager"] for _ in range(2)]
    if os.name == "posix":
        assert configs[0]["ip"] != configs[1]["ip"]
        assert all(len(config["ip"]) < 90 for config in configs)


def test_the_longest_begins_first_and_what_was_not_measured_is_judged_by_its_cells(
    tmp_path: Path,
) -> None:
    cells = {"00_short": 1, "01_known": 4, "02_long": 9, "03_middle": 5}
    notebooks = [
        course_plan.Notebook(Path(f"{name}.ipynb"), count, {}, course_plan.Result(name))
        for name, count in cells.items()
    ]
    one = course_plan.CoursePlan(course_plan.Options(out=tmp_path), notebooks)

    def order() -> list[str]:
        return [notebook.result.name for notebook in one.longest_first()]

    assert order() == ["02_long", "03_middle", "01_known", "00_short"]
    measured = [{"name": "01_known", "seconds": 30.0}, {"name": "03_middle", "seconds": 2.0}]
    course_plan.write_summary(one.options, finished=True, notebooks=measured)
    assert order() == ["01_known", "02_long", "03_middle", "00_short"]
    course_plan.write_summary(
        course_plan.Options(profile="full", out=tmp_path), finished=True, notebooks=measured
    )
    assert order() == ["02_long", "03_middle", "01_known", "00_short"]


def running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX systems send them")
@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_all_kernels_stop_with_the_run(tmp_path: Path, sent: int) -> None:
    """Ctrl-C goes to the whole group, as a terminal sends it; SIGTERM to the command alone, as
    supervisors do.
    """
    planted.notebook(tmp_path, "00_done", "1")
    for name in ("01_long", "02_long", "03_never"):
        planted.notebook(tmp_path, name, LONG.format(name=name))
    process = planted.start("--notebooks", tmp_path, "--out", tmp_path / "out", "--jobs", 2)
    while len(list(tmp_path.glob("*.begun"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    send = os.killpg if sent == signal.SIGINT else os.kill
    send(process.pid, sent)
    stdout, stderr = process.communicate(timeout=600)
    assert (process.returncode, stderr) == (130, "\ninterrupted\n")
    assert "03_never" not in stdout
    begun = [(tmp_path / f"{name}.begun").read_text().split() for name in ("01_long", "02_long")]
    assert not any(running(int(pid)) for kernel, child, _ in begun for pid in (kernel, child))
    assert not any(Path(folder).exists() for _, _, folder in begun)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["finished"] is False
    assert [entry["status"] for entry in summary["notebooks"]] == [
        "ok",
        "not run",
        "not run",
        "not run",
    ]
    assert [path.name for path in (tmp_path / "out" / "notebooks").iterdir()] == ["00_done.ipynb"]
    words = " ".join((tmp_path / "out" / "site" / "index.html").read_text().split())
    assert "have no page: 01_long, 02_long, 03_never." in words
