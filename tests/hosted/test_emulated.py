"""The course on a host's versions: its first cell installs it, it runs to the end, and it moves in a browser.

``FEDLAB_HOSTED_PYTHON`` names the interpreter of a throwaway environment, into which the course is installed;
docs/hosted.md says how to make one.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders
from fedlab_course.publish import build
from tests.browser.lab import Notebook, served, wait_until
from tests.hosted import host
from tests.test_wheel import sdist, wheel  # noqa: F401

pytestmark = pytest.mark.skipif(not host.PYTHON, reason="FEDLAB_HOSTED_PYTHON names no Python of a host (docs/hosted.md)")
CHAPTERS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))
ARTEFACTS = Path(__file__).resolve().parents[2] / "build" / "browser"
NEW = {"fedlab-core", "latex2mathml"}
# Pictures and fonts that JupyterLab 3 and the badges look for elsewhere.
NOT_OURS = re.compile(r"ERR_NAME_NOT_RESOLVED|ERR_FAILED|Access to font")


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """A folder with the chapters for hosts in it, and a host without the course."""
    host.run("-m", "pip", "uninstall", "--quiet", "--yes", *NEW)
    folder = tmp_path_factory.mktemp("cloud")
    build.hosted("jane/course", folder / "hosted", wheel=wheel.as_uri())
    return folder


def test_the_first_cell_installs_the_course_and_replaces_nothing(place: Path) -> None:
    before = host.installed()
    assert not NEW & set(before)
    cell = nbformat.read(place / "hosted" / CHAPTERS[0].name, as_version=4).cells[1].source
    assert "The course is installed." in host.run("-c", f"{cell}\nimport fedlab_course.check.questions")
    after = host.installed()
    assert set(after) - set(before) == NEW
    assert {name: after[name] for name in before} == before
    assert host.run("-c", cell) == ""


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_runs_to_its_end_headless(chapter: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    for name, value in host.environment(place).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("FEDLAB_HEADLESS", "1")
    notebook = nbformat.read(place / "hosted" / chapter.name, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    texts = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert not [one for outputs in texts for one in outputs if one.output_type == "error"]


@pytest.fixture(scope="module")
def chapter(place: Path, chromium) -> Iterator[Notebook]:
    """Chapter 2, live, in the host's JupyterLab."""
    with served(place, host.PYTHON, host.environment(place)) as address:
        opened = Notebook(chromium, address.format("hosted/02_fedprox.ipynb"))
        opened.run()
        yield opened
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        opened.page.screenshot(path=ARTEFACTS / "hosted.png")
        opened.page.close()


@pytest.mark.needs_browser
def test_its_explorer_trains_and_a_slider_changes_one_curve(chapter: Notebook) -> None:
    before = chapter.wait_for(lambda curves: curves if [len(y) for y in curves.values()] == [50, 50] else None)
    assert set(before) == {"FedAvg", "FedProx μ=1"}
    chapter.press("μ of FedProx", "ArrowLeft")
    after = chapter.wait_for(lambda curves: curves if len(curves.get("FedProx μ=0.5", [])) == 50 else None)
    assert after["FedAvg"] == before["FedAvg"]
    handle = chapter.slider("μ of FedProx")
    assert handle.get_attribute("aria-valuetext") == "0.5"
    assert not [fault for fault in chapter.faults if not NOT_OURS.search(fault)]
