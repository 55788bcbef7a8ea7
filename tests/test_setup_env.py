"""The set-up script: what it takes for sound, what it builds again. Nothing is installed here."""

import importlib.util
import json
import os
import shutil
import sys
import venv
import zipfile
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
    """The script, working on a small project in ``tmp_path`` and noting what it would install."""
    module = load()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["numpy>=1.5", "torch>=0.9"]\n')
    (tmp_path / "constraints.txt").write_text("# exact\nNumPy==1.7\ntorch==1\nsetuptools==2\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    made = module.Environment
    monkeypatch.setattr(made, "make", lambda self: shutil.copytree(fresh, self.folder, symlinks=True))
    module.installed = []
    monkeypatch.setattr(made, "pip", lambda self, *arguments: module.installed.append(arguments[-1]))
    module.regular = made(tmp_path / ".venv", oldest=False)
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
def test_a_damaged_environment_is_built_again(setup_env, damage, capsys: pytest.CaptureFixture[str]) -> None:
    make(setup_env)
    (setup_env.regular.folder / "old").touch()
    damage(setup_env)
    assert make(setup_env) != []
    assert not (setup_env.regular.folder / "old").exists()
    assert "incomplete" in capsys.readouterr().out
    assert make(setup_env) == []


def test_an_install_that_fails_leaves_no_stamp(setup_env, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def fail(self, *arguments: str) -> None:
        setup_env.call([sys.executable, "-c", "raise SystemExit(3)"])

    monkeypatch.setattr(setup_env.Environment, "pip", fail)
    assert setup_env.main(["course"]) == 1
    assert "exit status 3" in capsys.readouterr().err
    assert not setup_env.regular.stamp.exists()


def held_to(module, folder: str) -> dict[str, str]:
    """The constraints of an environment."""
    return dict(line.split("==") for line in (module.ROOT / folder / "constraints.txt").read_text().split())


def test_the_oldest_environment_takes_the_lower_bounds_and_pytorch_as_pinned(setup_env) -> None:
    assert make(setup_env, "--oldest", "test")[-1].endswith("[test]")
    assert held_to(setup_env, ".venv-oldest") == {"numpy": "1.5", "torch": "1", "setuptools": "2"}
    assert not setup_env.regular.folder.exists()
    make(setup_env)
    assert held_to(setup_env, ".venv") == {"numpy": "1.7", "torch": "1", "setuptools": "2"}
    assert make(setup_env, "--oldest", "test") == []


def test_a_requirement_without_a_lower_bound_is_refused(setup_env, capsys: pytest.CaptureFixture[str]) -> None:
    (setup_env.ROOT / "pyproject.toml").write_text('[project]\ndependencies = ["numpy<3"]\n')
    assert setup_env.main(["--oldest", "test"]) == 1
    assert "'numpy<3' is not of the form name>=version" in capsys.readouterr().err


def test_every_lower_bound_takes_the_place_of_a_pin() -> None:
    script = load()
    bounds = script.lower_bounds()
    assert {"numpy", "pandas", "plotly", "scikit-learn", "scipy"} <= set(bounds) <= set(script.pins())
    assert "torch" not in bounds


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


def wheel(folder: Path, name: str, version: str, needs: str = "") -> None:
    """A wheel that holds nothing, listed in the package index ``folder``."""
    about = f"{name}-{version}.dist-info"
    page = folder / name / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    file = page.with_name(f"{name}-{version}-py3-none-any.whl")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", f"{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    page.write_text(
        "".join(f'<a href="{one.name.replace("+", "%2B")}">{one.name}</a>' for one in page.parent.glob("*.whl"))
    )


@pytest.fixture
def indexes(setup_env, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two indexes of packages, the usual one and PyTorch's, which lacks what PyTorch needs, and pip as it is."""
    usual, special = tmp_path / "usual", tmp_path / "whl"
    wheel(usual, "torch", "1", "Requires-Dist: sympy\n")
    wheel(special / "cpu", "torch", "1+cpu", "Requires-Dist: sympy\n")
    wheel(special / "cpu", "torchvision", "3+cpu", "Requires-Dist: torch\n")
    wheel(usual, "torchvision", "3", "Requires-Dist: torch\n")
    with (tmp_path / "constraints.txt").open("a") as file:
        file.write("torchvision==3\n")
    for name, needs in (
        ("sympy", ""),
        ("setuptools", ""),
        ("dependent", "Requires-Dist: torch>=0.9\nRequires-Dist: torchvision\n"),
    ):
        wheel(usual, name, "2", needs)
    monkeypatch.setattr(setup_env, "PYTORCH_INDEX", special.as_uri() + "/")
    for name in ("PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_ARGS", f"--index-url {usual.as_uri()}")
    script = load()
    monkeypatch.setattr(script, "ROOT", tmp_path)

    def pip(self, *arguments: str) -> None:
        """The project itself stands in for one that needs PyTorch."""
        script.Environment.pip(self, *(["dependent"] if arguments[-1].startswith(str(tmp_path)) else arguments))

    monkeypatch.setattr(setup_env.Environment, "pip", pip)


def torch_in(module) -> list[str]:
    return [line for line in module.regular.packages() if line.startswith(("torch", "sympy=="))]


@pytest.mark.slow
def test_another_build_makes_a_new_environment_and_stays(
    setup_env, indexes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip's own rules: 1+cpu fits torch==1, so that nothing replaces it by the 1 of the usual index."""
    assert setup_env.main(["course"]) == 0
    assert torch_in(setup_env) == ["sympy==2", "torch==1", "torchvision==3"]
    (setup_env.regular.folder / "old").touch()
    monkeypatch.setenv("TORCH", "cpu")
    assert setup_env.main(["test"]) == 0
    assert torch_in(setup_env) == ["sympy==2", "torch==1+cpu", "torchvision==3+cpu"]
    assert not (setup_env.regular.folder / "old").exists()
    monkeypatch.delenv("TORCH")
    assert setup_env.main(["nbgrader"]) == 0
    assert torch_in(setup_env) == ["sympy==2", "torch==1+cpu", "torchvision==3+cpu"]


@pytest.mark.parametrize("build", ["gpu", "cpu --pre"])
def test_a_build_that_cannot_be_is_refused(
    setup_env, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], build: str
) -> None:
    monkeypatch.setenv("TORCH", build)
    assert setup_env.main(["course"]) == 1
    assert f"TORCH={build!r}: must be cpu" in capsys.readouterr().err
    assert not setup_env.regular.folder.exists()


def test_pip_args_of_windows_keep_their_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load()
    monkeypatch.setenv("PIP_ARGS", r'--no-index --find-links "C:\my wheels\new"')
    monkeypatch.setattr(script, "os", SimpleNamespace(environ=os.environ, name="nt"))
    assert script.options() == ["--no-index", "--find-links", r"C:\my wheels\new"]


def test_windows_keeps_programs_in_another_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = load()
    monkeypatch.setattr(script, "os", SimpleNamespace(environ=os.environ, name="nt"))
    assert script.Environment(tmp_path, oldest=False).python == tmp_path / "Scripts" / "python.exe"
