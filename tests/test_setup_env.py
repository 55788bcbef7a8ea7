"""The set-up script: what it takes for sound, what it builds again. Nothing is installed here."""

import http.server
import importlib.util
import json
import os
import shutil
import socket
import socketserver
import sys
import threading
import venv
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


def load():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("setup_env", ROOT / "tools" / "setup_env.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment, made once."""
    folder = tmp_path_factory.mktemp("fresh") / ".venv"
    venv.create(folder, with_pip=True)
    return folder


@pytest.fixture
def setup_env(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The script, working on a small project in ``tmp_path`` and noting what it would install.

    The machine has an NVIDIA driver and no network, and nobody asks for a build of PyTorch.
    """
    module = load()
    monkeypatch.delenv("TORCH", raising=False)
    monkeypatch.setattr(module, "has_nvidia", lambda: True)
    monkeypatch.setattr(module, "reached", lambda index: False)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=1.5", "torch>=0.9"]\n'
    )
    (tmp_path / "constraints.txt").write_text("# exact\nNumPy==1.7\ntorch==1\nsetuptools==2\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    made = module.Environment
    monkeypatch.setattr(
        made, "make", lambda self: shutil.copytree(fresh, self.folder, symlinks=True)
    )
    module.installed = []
    monkeypatch.setattr(
        made, "pip", lambda self, *arguments: module.installed.append(arguments[-1])
    )
    module.regular = made(tmp_path / ".venv")
    return module


def make(module, *arguments: str) -> list[str]:
    """Run the set-up, for the course unless told otherwise, and return what was installed."""
    module.installed.clear()
    assert module.main(list(arguments or ["course"])) == 0
    return list(module.installed)


def test_a_second_run_does_nothing_and_a_further_extra_is_added(setup_env) -> None:
    first = make(setup_env)
    assert first[-1] == f"{setup_env.ROOT}[course]"
    assert make(setup_env) == []
    assert make(setup_env, "test")[-1].endswith("[course,test]")
    assert make(setup_env) == []
    listed = setup_env.regular.packages()
    assert any(line.startswith("pip==") and "missing" not in line for line in listed)
    assert json.loads(setup_env.regular.stamp.read_text())["packages"] == listed


def test_changed_requirements_are_installed_without_starting_over(setup_env) -> None:
    make(setup_env)
    (setup_env.regular.folder / "kept").touch()
    (setup_env.ROOT / "constraints.txt").write_text("torch==3\nsetuptools==2\n")
    assert make(setup_env) != []
    assert (setup_env.regular.folder / "kept").exists()


def with_half_a_stamp(module) -> None:
    module.regular.stamp.write_text(module.regular.stamp.read_text()[:20])


def without_interpreter(module) -> None:
    module.regular.python.unlink()
    module.regular.python.symlink_to("/no/such/python")


def without_a_package(module) -> None:
    site = next(module.regular.folder.rglob("site-packages"))
    (site / "pip").rename(site / "gone")


@pytest.mark.parametrize("damage", [with_half_a_stamp, without_interpreter, without_a_package])
def test_a_damaged_environment_is_built_again(
    setup_env, damage, capsys: pytest.CaptureFixture[str]
) -> None:
    make(setup_env)
    (setup_env.regular.folder / "old").touch()
    damage(setup_env)
    assert make(setup_env) != []
    assert not (setup_env.regular.folder / "old").exists()
    assert "incomplete" in capsys.readouterr().out
    assert make(setup_env) == []


def test_an_install_that_fails_leaves_no_stamp(
    setup_env, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def fail(self, *arguments: str) -> None:
        setup_env.call([sys.executable, "-c", "raise SystemExit(3)"])

    monkeypatch.setattr(setup_env.Environment, "pip", fail)
    assert setup_env.main(["course"]) == 1
    assert "exit status 3" in capsys.readouterr().err
    assert not setup_env.regular.stamp.exists()


def held_to(module, folder: str) -> dict[str, str]:
    """The constraints of an environment."""
    return dict(
        line.split("==") for line in (module.ROOT / folder / "constraints.txt").read_text().split()
    )


def test_the_oldest_environment_takes_the_lower_bounds_and_pytorch_as_pinned(setup_env) -> None:
    assert make(setup_env, "--oldest", "test")[-1].endswith("[test]")
    assert held_to(setup_env, ".venv-oldest") == {"numpy": "1.5", "torch": "1", "setuptools": "2"}
    assert not setup_env.regular.folder.exists()
    make(setup_env)
    assert held_to(setup_env, ".venv") == {"numpy": "1.7", "torch": "1", "setuptools": "2"}
    assert make(setup_env, "--oldest", "test") == []


def test_a_requirement_without_a_lower_bound_is_refused(
    setup_env, capsys: pytest.CaptureFixture[str]
) -> None:
    (setup_env.ROOT / "pyproject.toml").write_text('[project]\ndependencies = ["numpy<3"]\n')
    assert setup_env.main(["--oldest", "test"]) == 1
    assert "'numpy<3' is not of the form name>=version" in capsys.readouterr().err


def test_an_old_python_is_refused(setup_env, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    version = namedtuple("version", "major minor micro releaselevel serial")
    monkeypatch.setattr(setup_env.sys, "version_info", version(3, 9, 2, "final", 0))
    assert setup_env.main(["course"]) == 1
    message = capsys.readouterr().err
    assert "3.11 or newer" in message
    assert "is 3.9" in message


def test_a_python_without_venv_is_refused(
    setup_env, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert setup_env.main(["course"]) == 1
    assert "ensurepip" in capsys.readouterr().err


INDEX = "https://download.pytorch.org/whl/cpu"
FROM_INDEX = ("--no-deps", "--index-url", INDEX, "torch==1")
BY_PIP = ("torch==1", "setuptools==2")
FOUND = ("--no-deps", "torch==1+cpu")


@pytest.fixture
def asked(setup_env, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of all calls of pip."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        setup_env.Environment, "pip", lambda self, *arguments: calls.append(arguments)
    )
    monkeypatch.setattr(setup_env.sys, "platform", "linux")
    return calls


def test_another_build_makes_a_new_environment_and_stays(
    setup_env, asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch comes first, from the index of its builds, so that nothing else chooses its build."""
    monkeypatch.setattr(setup_env, "reached", lambda index: index == INDEX)
    make(setup_env)
    assert asked[0] == BY_PIP
    (setup_env.regular.folder / "old").touch()
    asked.clear()
    monkeypatch.setenv("TORCH", "cpu")
    make(setup_env)
    assert asked[0] == FROM_INDEX and len(asked) == 3
    assert not (setup_env.regular.folder / "old").exists()
    monkeypatch.delenv("TORCH")
    make(setup_env, "test")
    assert asked[3] == FROM_INDEX
    monkeypatch.setenv("TORCH", "default")
    asked.clear()
    make(setup_env, "test")
    assert asked[0] == BY_PIP


def test_linux_without_a_driver_gets_the_build_without_cuda_once(
    setup_env, asked, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(setup_env, "has_nvidia", lambda: False)
    monkeypatch.setattr(setup_env, "reached", lambda index: index == INDEX)
    make(setup_env)
    assert asked[0] == FROM_INDEX and len(asked) == 3
    assert (
        capsys.readouterr().out.count("no NVIDIA driver found, choosing PyTorch without CUDA") == 1
    )
    make(setup_env)
    monkeypatch.setenv("TORCH", "cpu")
    make(setup_env)
    assert len(asked) == 3
    assert "set-up" not in capsys.readouterr().out
    monkeypatch.setenv("TORCH", "default")
    make(setup_env)
    assert len(asked) == 5 and asked[3] == BY_PIP
    assert "has another build" in capsys.readouterr().out
    monkeypatch.delenv("TORCH")
    make(setup_env)
    assert len(asked) == 5


@pytest.mark.parametrize(
    ("platform", "driver"), [("linux", True), ("darwin", False), ("win32", False)]
)
def test_elsewhere_pip_chooses_the_build(
    setup_env, asked, monkeypatch, capsys, platform: str, driver: bool
) -> None:
    monkeypatch.setattr(setup_env.sys, "platform", platform)
    monkeypatch.setattr(setup_env, "has_nvidia", lambda: driver)
    monkeypatch.setattr(setup_env, "reached", lambda index: pytest.fail("no index is asked"))
    make(setup_env)
    assert asked[0] == BY_PIP and len(asked) == 2
    assert "NVIDIA" not in capsys.readouterr().out


def test_without_its_index_a_build_that_nobody_asked_for_is_left_to_pip(
    setup_env, asked, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(setup_env, "has_nvidia", lambda: False)
    make(setup_env)
    assert asked[0] == BY_PIP and len(asked) == 2
    assert f"{INDEX} cannot be reached, pip chooses the build" in capsys.readouterr().out
    make(setup_env)
    assert len(asked) == 2
    monkeypatch.setenv("TORCH", "cpu")
    make(setup_env)
    assert asked[2:4] == [FOUND, BY_PIP]
    assert "cannot be reached, looking for PyTorch's build cpu elsewhere" in capsys.readouterr().out


def test_without_its_index_a_build_that_is_nowhere_is_refused(
    setup_env, monkeypatch, capsys
) -> None:
    def fail(self, *arguments: str) -> None:
        assert arguments == FOUND
        setup_env.call([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(setup_env.Environment, "pip", fail)
    monkeypatch.setenv("TORCH", "cpu")
    assert setup_env.main(["course"]) == 1
    assert "TORCH=cpu: check the network, or use TORCH=default" in capsys.readouterr().err


def test_a_damaged_environment_keeps_its_build(
    setup_env, asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup_env, "reached", lambda index: True)
    monkeypatch.setenv("TORCH", "cpu")
    make(setup_env)
    monkeypatch.delenv("TORCH")
    without_a_package(setup_env)
    asked.clear()
    make(setup_env)
    assert asked[0] == FROM_INDEX


def test_a_driver_is_found_by_its_files_and_its_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = load()
    monkeypatch.setattr(script, "NVIDIA", (str(tmp_path / "version"),))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not script.has_nvidia()
    (tmp_path / "version").touch()
    assert script.has_nvidia()
    (tmp_path / "version").unlink()
    (tmp_path / "nvidia-smi").touch(mode=0o755)
    assert script.has_nvidia() or os.name == "nt"


def test_an_index_is_reached_if_its_server_answers_whatever_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = load()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socketserver.TCPServer(("127.0.0.1", 0), NotFound) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert script.reached(f"http://127.0.0.1:{server.server_address[1]}/cpu")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/cpu"
        assert not script.reached(address)  # refused
        silent.listen()
        monkeypatch.setattr(script, "PATIENCE", 0.1)
        assert not script.reached(address)  # no answer


class NotFound(http.server.BaseHTTPRequestHandler):
    """A server that has no page."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("build", ["gpu", "cpu --pre"])
def test_a_build_that_cannot_be_is_refused(
    setup_env, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], build: str
) -> None:
    monkeypatch.setenv("TORCH", build)
    assert setup_env.main(["course"]) == 1
    assert f"TORCH={build!r}: must be cpu, default" in capsys.readouterr().err
    assert not setup_env.regular.folder.exists()


def test_windows_has_backslashes_in_options_and_programs_in_another_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = load()
    monkeypatch.setenv("PIP_ARGS", r'--no-index --find-links "C:\my wheels\new"')
    monkeypatch.setattr(script, "os", SimpleNamespace(environ=os.environ, name="nt"))
    assert script.options() == ["--no-index", "--find-links", r"C:\my wheels\new"]
    assert script.Environment(tmp_path).python == tmp_path / "Scripts" / "python.exe"
