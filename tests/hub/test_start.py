"""The script that starts a server in a container: threads from its cores, chapters in its home
folder.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a script for containers, which run Linux")
SCRIPT = Path(__file__).parents[2] / "docker" / "start.py"

spec = importlib.util.spec_from_file_location("start", SCRIPT)
start = importlib.util.module_from_spec(spec)
spec.loader.exec_module(start)


@pytest.mark.parametrize(("limit", "expected"), [("2.0", 2), ("0.5", 1), ("8", 4), ("", 4)])
def test_the_limit_of_the_hub_counts_where_it_is_lower(
    monkeypatch, limit: str, expected: int
) -> None:
    monkeypatch.setattr(start, "usable", lambda: 4)
    assert start.cores({"CPU_LIMIT": limit}) == expected


def started(home: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in (*start.VARIABLES, "CPU_LIMIT")
    }
    environment = kept | {"HOME": str(home), "USERPROFILE": str(home)} | variables
    return subprocess.run(
        [sys.executable, SCRIPT, *command], env=environment, capture_output=True, text=True
    )


def show(name: str) -> tuple[str, str, str]:
    return sys.executable, "-c", f"import os; print(os.environ[{name!r}])"


def test_the_command_has_the_threads(tmp_path: Path) -> None:
    assert started(tmp_path, *show("MKL_NUM_THREADS"), CPU_LIMIT="1").stdout == "1\n"
    assert started(tmp_path, *show("OMP_NUM_THREADS"), OMP_NUM_THREADS="7").stdout == "7\n"


def test_the_command_is_what_ends_and_what_a_signal_reaches(tmp_path: Path) -> None:
    code = "import os, sys; sys.exit(3)"
    assert started(tmp_path, sys.executable, "-c", code).returncode == 3
    refused = started(tmp_path, "no-such-command")
    assert refused.returncode == 1
    assert "no-such-command cannot be started: No such file" in refused.stderr
    assert "usage" in started(tmp_path).stderr


def test_chapters_are_copied_and_the_work_of_a_student_stays(tmp_path: Path) -> None:
    source = tmp_path / "chapters"
    home = tmp_path / "home"
    (source / ".hidden").mkdir(parents=True)
    for name in ("00_a.ipynb", "01_b.ipynb", "ruff.toml"):
        (source / name).write_text("as shipped")
    (home / "fedlab").mkdir(parents=True)
    (home / "fedlab" / "01_b.ipynb").write_text("my work")
    result = started(home, sys.executable, "-c", "print('here')", FEDLAB_CHAPTERS=str(source))
    assert (result.stdout, result.stderr) == ("here\n", "")
    found = {path.name: path.read_text() for path in (home / "fedlab").iterdir()}
    assert found == {"00_a.ipynb": "as shipped", "01_b.ipynb": "my work"}


def test_a_home_that_takes_no_chapters_is_told_and_the_server_starts(tmp_path: Path) -> None:
    (tmp_path / "fedlab").write_text("a file in the way")
    (tmp_path / "chapters").mkdir()
    result = started(
        tmp_path, sys.executable, "-c", "print('here')", FEDLAB_CHAPTERS=str(tmp_path / "chapters")
    )
    assert result.stdout == "here\n"
    assert "the chapters could not be copied" in result.stderr
