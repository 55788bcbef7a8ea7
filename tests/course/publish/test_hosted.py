"""The build for hosts in the cloud: badges, addresses, the cell that installs, and nothing else
changed.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders, outline
from fedlab_course.cli import main
from fedlab_course.publish import build

SOURCES = sorted(folders.NOTEBOOKS.glob("*.ipynb"))
BADGE = re.compile(r"\[!\[([^\]]+)\]\(([^)]+)\)\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command writes, from a checkout that is the working directory."""
    checkout = tmp_path_factory.mktemp("checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(checkout)
        assert main(["build", "hosted", "--repository", "jane/course", "--branch", "term/2"]) == 0
    return checkout / "hosted"


def cells(path: Path) -> list:
    return nbformat.read(path, as_version=4).cells


def test_only_a_line_of_badges_and_one_cell_are_new(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir()) == sorted(
        ["README.md", *(path.name for path in SOURCES)]
    )
    for source in SOURCES:
        notebook, original = (
            nbformat.read(path, as_version=4) for path in (built / source.name, source)
        )
        install = notebook.cells.pop(1)
        assert (install.cell_type, install.id, install.metadata) == ("code", build.CELL, {})
        title, blank, badges, *rest = notebook.cells[0].source.split("\n")
        assert (title[:2], blank, len(BADGE.findall(badges))) == ("# ", "", 3)
        notebook.cells[0].source = "\n".join([title, *rest])
        assert notebook == original


def test_badges_have_the_addresses_that_the_hosts_document_in_each_chapter_and_in_the_readme(
    built: Path,
) -> None:
    shown = BADGE.findall(cells(built / "02_fedprox.ipynb")[0].source)
    assert [words for words, _, _ in shown] == [
        f"Open FedProx in {host}" for host in ("Colab", "Kaggle", "Binder")
    ]
    assert [address for _, _, address in shown] == [
        "https://colab.research.google.com/github/jane/course/blob/term/2/hosted/02_fedprox.ipynb",
        "https://kaggle.com/kernels/welcome?src=https://github.com/jane/course/blob/term/2/hosted/02_fedprox.ipynb",
        "https://mybinder.org/v2/gh/jane/course/term%2F2?urlpath=lab/tree/notebooks/02_fedprox.ipynb",
    ]
    lines = (built / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [BADGE.findall(line) for line in lines if BADGE.search(line)]
    for row, chapter in zip(rows, outline.CHAPTERS, strict=True):
        of_notebook = BADGE.findall(cells(built / f"{chapter.stem}.ipynb")[0].source)
        assert row == of_notebook


@pytest.mark.parametrize(
    ("out", "folder"), [("docs/cloud", "docs/cloud"), ("../elsewhere", "elsewhere")]
)
def test_links_lead_to_the_folder_in_the_repository(
    out: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    build.hosted("jane/course", Path(out), only=["02"])
    links = [
        address for _, _, address in BADGE.findall(cells(Path(out, "02_fedprox.ipynb"))[0].source)
    ]
    assert links[0].endswith(f"/jane/course/blob/main/{folder}/02_fedprox.ipynb")


def test_pip_gets_the_archive_of_the_branch_or_what_is_given(tmp_path: Path) -> None:
    wheel = (
        "https://github.com/jane/course/releases/download/v0.1.0/fedlab_core-0.1.0-py3-none-any.whl"
    )
    archive = "https://github.com/jane/course/archive/{}.zip"
    for given, wanted in (
        ({}, archive.format("main")),
        ({"branch": "v0.1.0"}, archive.format("v0.1.0")),
        ({"wheel": wheel}, wheel),
    ):
        build.hosted("jane/course", tmp_path, only=["00"], **given)
        assert (
            f"COURSE = 'fedlab-core[hosted] @ {wanted}'"
            in cells(tmp_path / "00_start_here.ipynb")[1].source
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--repository: build hosted needs the OWNER/NAME"),
        (["--repository", "https://github.com/jane/course"], "must be OWNER/NAME"),
        (["--repository", "jane/co urse"], "--repository jane/co urse: must be OWNER/NAME"),
        (["--repository", "jane/.."], "must be OWNER/NAME"),
        (
            ["--repository", "jane/course", "--wheel", "course.whl"],
            "--wheel course.whl: must be an address",
        ),
        (
            ["--repository", "jane/course", "--out", str(folders.NOTEBOOKS)],
            "would overwrite the notebooks",
        ),
    ],
)
def test_bad_arguments_are_refused_and_nothing_is_written(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["build", "hosted", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_only_a_readme_of_the_build_is_overwritten(tmp_path: Path) -> None:
    build.hosted("jane/course", tmp_path, only=["00"])
    build.hosted("john/course", tmp_path, only=["00"])
    assert "john/course" in (tmp_path / "README.md").read_text()
    (tmp_path / "README.md").write_text("# My course\n")
    with pytest.raises(ValueError, match=r"has its own README\.md"):
        build.hosted("jane/course", tmp_path, only=["00"])
    assert (tmp_path / "README.md").read_text() == "# My course\n"


def test_a_notebook_without_a_title_is_refused(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    nbformat.write(notebook, tmp_path / "00_bare.ipynb")
    with pytest.raises(ValueError, match=r"00_bare\.ipynb: must begin with a cell of text"):
        build.hosted("jane/course", tmp_path / "out", notebooks=tmp_path)
    assert not (tmp_path / "out").exists()


def test_where_the_course_is_the_cell_does_and_says_nothing(built: Path) -> None:
    cell = cells(built / "02_fedprox.ipynb")[1].source
    done = subprocess.run(
        [sys.executable, "-c", cell], capture_output=True, text=True, cwd=folders.NOTEBOOKS.parent
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def distribution(folder: Path, name: str, version: str) -> None:
    """What pip takes for an installed distribution."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "INSTALLER").write_text("pip\n")
    (info / "RECORD").write_text("")


INFO = "fedlab_core-0.1.0.dist-info"


def wheel_of_the_course(folder: Path) -> Path:
    """Write a wheel with an empty course, which needs a new PyTorch."""
    wheel = folder / "fedlab_core-0.1.0-py3-none-any.whl"
    needs = "Provides-Extra: hosted\nRequires-Dist: torch>=2.11\n"
    about = f"Metadata-Version: 2.1\nName: fedlab-core\nVersion: 0.1.0\n{needs}"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fedlab_course.py", "")
        archive.writestr(f"{INFO}/METADATA", about)
        archive.writestr(f"{INFO}/WHEEL", tags)
        archive.writestr(f"{INFO}/RECORD", "")
    return wheel


@pytest.mark.parametrize(
    ("version", "good"),
    [pytest.param("2.13.0+cu130", True, marks=pytest.mark.slow), ("2.6.0+cu124", False)],
)
def test_the_cell_replaces_no_package_and_names_one_that_is_too_old(
    version: str, good: bool, tmp_path: Path
) -> None:
    wheel = wheel_of_the_course(tmp_path)
    venv.create(tmp_path / "host", with_pip=False)
    python = next((tmp_path / "host").glob("[bS]*/python*"))
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    asked = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    site = Path(asked.stdout.strip())
    # imported, pip would keep nbgrader from importing setuptools
    pip = metadata.distribution("pip").locate_file("pip")
    shutil.copytree(str(pip), site / "pip", ignore=shutil.ignore_patterns("__pycache__"))
    distribution(site, "torch", version)
    distribution(site, "numpy", "2.0.2")
    build.hosted("jane/course", tmp_path / "out", only=["00"], wheel=wheel.as_uri())
    cell = cells(tmp_path / "out" / "00_start_here.ipynb")[1].source
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PIP_FIND_LINKS")
    }
    command = [python, "-c", f"{cell}\nimport fedlab_course"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=clean | {"PIP_NO_INDEX": "1"}
    )
    there = {path.name for path in site.glob("*.dist-info")}
    before = {f"torch-{version}.dist-info", "numpy-2.0.2.dist-info"}
    assert (done.returncode == 0) == good, done.stderr
    assert there == (before | {INFO} if good else before)
    if not good:
        assert "The course was not installed, and nothing was changed:" in done.stderr
        assert "torch>=2.11" in done.stderr and "Traceback" not in done.stderr
        assert f"=={version}" in done.stderr  # the one that is here
