"""What is built from the project holds all of it, and runs from an empty folder with no checkout in
sight.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
# package → the folder that it is in
PACKAGES = {"fedconform": "conformance", "fedlab_core": "", "fedlab_course": ""}
COURSE = ("fedlab_core", "fedlab_course")
OTHERS = (
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "LICENSE-notebooks",
    "notebooks",
    "results",
)
WHERE = "import fedlab_core, fedlab_course\nprint(fedlab_core.__file__, fedlab_course.__file__)"

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed, without any trace of the checkout in its
    environment.
    """
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    result = subprocess.run(
        [*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from a copy: a build leaves files behind."""
    copy = tmp_path_factory.mktemp("copy") / "project"
    out = tmp_path_factory.mktemp("sdist")
    copy.mkdir()
    for name in ("conformance", *COURSE, *OTHERS):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, copy / name)
    run(
        sys.executable,
        "-c",
        f"from setuptools import build_meta; build_meta.build_sdist({str(out)!r})",
        cwd=copy,
    )
    return next(out.glob("fedlab_core-*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what the source distribution holds."""
    source = tmp_path_factory.mktemp("source")
    out = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    run(*pip, "--wheel-dir", out, next(source.iterdir()), cwd=source)
    return next(out.glob("fedlab_core-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, which sees the dependencies of this one but not its
    editable packages.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=folder,
    )
    here = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    # Folders that a .pth file names are searched last, and .pth files in them are not read.
    (site_packages(python) / "dependencies.pth").write_text("\n".join(here) + "\n")
    return python


def test_the_wheel_holds_every_file_of_all_packages_the_notebooks_and_the_evidence(
    wheel: Path,
) -> None:
    expected = {
        str(path.relative_to(ROOT / folder))
        for package, folder in PACKAGES.items()
        for path in (ROOT / folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }
    notebooks = {
        f"fedlab_course/notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")
    }
    evidence = {
        f"fedlab_course/{path.relative_to(ROOT)}"
        for kind in (
            "configs/*.toml",
            "configs/*/*.toml",
            "evidence/*.csv",
            "plans.csv",
            "reasons.toml",
        )
        for path in (ROOT / "results").glob(kind)
    }
    assert {f"{package}/py.typed" for package in PACKAGES} <= expected
    assert len(notebooks) >= 15
    assert len(evidence) > 30
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == expected | notebooks | evidence


def test_the_plain_wheel_needs_nothing_of_the_course(installed: Path, tmp_path: Path) -> None:
    script = "import importlib.metadata as m; print(*m.requires('fedlab-core'), sep='\\n')"
    needed = run(installed, "-c", script, cwd=tmp_path).splitlines()
    plain = {line.partition(">=")[0] for line in needed if "extra ==" not in line}
    assert plain == {
        "filelock",
        "numpy",
        "pandas",
        "platformdirs",
        "plotly",
        "scikit-learn",
        "scipy",
        "threadpoolctl",
        "torch",
        "tqdm",
    }


def test_both_console_scripts_return_the_status(installed: Path, tmp_path: Path) -> None:
    listed = run(installed.with_name("fedlab-core"), "data", "list", cwd=tmp_path)
    assert listed.startswith("digits: ")
    for script in ("fedlab-core", "fedlab-course"):
        assert "usage:" in run(installed.with_name(script), "--help", cwd=tmp_path)
        wrong = subprocess.run(
            [installed.with_name(script), "dance"], cwd=tmp_path, capture_output=True, text=True
        )
        assert wrong.returncode == 2
        assert "invalid choice: 'dance'" in wrong.stderr


def test_the_wheel_runs_its_notebooks_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    run(installed.with_name("fedlab-course"), "run", "--only", "14", "--out", "out", cwd=tmp_path)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [(entry["name"], entry["status"]) for entry in summary["notebooks"]] == [
        ("14_what_holds", "ok")
    ]
    for name in ("index.html", "14_what_holds.html", "assets/site.css", "assets/page.js"):
        assert (tmp_path / "out" / "site" / name).is_file()
    script = (
        "from fedlab_course import claims, folders; print(folders.NOTEBOOKS); "
        "claims.stored('000-2')"
    )
    folder, verdict = run(installed, "-c", script, cwd=tmp_path).splitlines()[:2]
    assert Path(folder) == site_packages(installed) / "fedlab_course" / "notebooks"
    assert verdict.startswith("✓ confirmed (stored): SCAFFOLD sends exactly twice the bytes")


def test_kernels_import_the_wheel_and_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    """Dependencies come from the environment that runs the tests, where the checkout may be
    installed, too.
    """
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(WHERE)])
    (tmp_path / "own").mkdir()
    nbformat.write(notebook, tmp_path / "own" / "00_where.ipynb")
    run(
        installed.with_name("fedlab-course"),
        "run",
        "--notebooks",
        "own",
        "--out",
        "out",
        cwd=tmp_path,
    )
    executed = nbformat.read(tmp_path / "out" / "notebooks" / "00_where.ipynb", as_version=4)
    places = executed.cells[-1].outputs[0].text.split()
    assert [Path(place) for place in places] == [
        site_packages(installed) / name / "__init__.py" for name in COURSE
    ]


def site_packages(python: Path) -> Path:
    """Where the environment of ``python`` keeps its packages."""
    return Path(
        run(
            python,
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))",
            cwd=python.parent,
        ).strip()
    )
