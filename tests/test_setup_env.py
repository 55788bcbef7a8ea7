"""The set-up script: what it takes for sound, what it builds again. Nothing is installed here."""

import importlib.util
import json
import shutil
import subprocess
import sys
import venv
from collections import namedtuple
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment, made once."""
    folder = tmp_path_factory.mktemp("fresh") / ".venv"
    venv.create(folder, with_pip=True)
    return folder


@pytest.fixture
def setup_env(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The script, working on a small project in ``tmp_path`` and noting what it would install."""
    spec = importlib.util.spec_from_file_location("setup_env", ROOT / "tools" / "setup_env.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "constraints.txt").write_text("torch==1\nsetuptools==2\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp.json")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(module, "make_venv", lambda: shutil.copytree(fresh, module.VENV, symlinks=True))
    module.installed = []
    monkeypatch.setattr(module, "pip", lambda *arguments: module.installed.append(arguments[-1]))
    return module


def make(module) -> list[str]:
    """Run the set-up for the course and return what was installed."""
    module.installed.clear()
    assert module.main(["course"]) == 0
    return list(module.installed)


def test_a_second_run_does_nothing(setup_env) -> None:
    first = make(setup_env)
    assert first[-1] == f"{setup_env.ROOT}[course]"
    assert make(setup_env) == []


def test_a_further_extra_is_added_and_the_first_one_kept(setup_env) -> None:
    make(setup_env)
    assert setup_env.main(["test"]) == 0
    assert setup_env.installed[-1].endswith("[course,test]")
    assert make(setup_env) == []


def test_changed_requirements_are_installed_without_starting_over(setup_env) -> None:
    make(setup_env)
    (setup_env.VENV / "kept").touch()
    (setup_env.ROOT / "constraints.txt").write_text("torch==3\nsetuptools==2\n")
    assert make(setup_env) != []
    assert (setup_env.VENV / "kept").exists()


def without_stamp(module) -> None:
    module.STAMP.unlink()


def with_half_a_stamp(module) -> None:
    module.STAMP.write_text(module.STAMP.read_text()[:20])


def without_interpreter(module) -> None:
    module.PYTHON.unlink()
    module.PYTHON.symlink_to("/no/such/python")


def without_a_package(module) -> None:
    site = next(module.VENV.glob("lib/python*/site-packages"))
    (site / "pip").rename(site / "gone")


@pytest.mark.parametrize("damage", [without_stamp, with_half_a_stamp, without_interpreter, without_a_package])
def test_a_damaged_environment_is_built_again(setup_env, damage, capsys: pytest.CaptureFixture[str]) -> None:
    make(setup_env)
    (setup_env.VENV / "old").touch()
    damage(setup_env)
    assert make(setup_env) != []
    assert not (setup_env.VENV / "old").exists()
    assert "incomplete" in capsys.readouterr().out
    assert make(setup_env) == []


def test_an_install_that_fails_leaves_no_stamp(setup_env, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def fail(*arguments: str) -> None:
        setup_env.call([sys.executable, "-c", "raise SystemExit(3)"])

    monkeypatch.setattr(setup_env, "pip", fail)
    assert setup_env.main(["course"]) == 1
    assert "exit status 3" in capsys.readouterr().err
    assert not setup_env.STAMP.exists()


def test_an_old_python_is_refused(setup_env, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    version = namedtuple("version", "major minor micro releaselevel serial")
    monkeypatch.setattr(setup_env.sys, "version_info", version(3, 9, 2, "final", 0))
    assert setup_env.main(["course"]) == 1
    message = capsys.readouterr().err
    assert "3.11 or newer" in message
    assert "is 3.9" in message


def test_a_python_without_venv_is_refused(setup_env, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert setup_env.main(["course"]) == 1
    assert "ensurepip" in capsys.readouterr().err


def test_the_list_of_packages_names_version_and_losses(setup_env) -> None:
    make(setup_env)
    listed = setup_env.packages()
    assert any(line.startswith("pip==") and "missing" not in line for line in listed)
    assert json.loads(setup_env.STAMP.read_text())["packages"] == listed


def test_this_environment_is_listed_without_losses() -> None:
    script = "import runpy; print(runpy.run_path('tools/setup_env.py')['LIST_PACKAGES'])"
    code = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pytest==" in listed
    assert "missing" not in listed
