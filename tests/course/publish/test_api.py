"""The API reference: every page is there and offline, says what the docstrings say, and is made once."""

import re
from pathlib import Path

import pytest

import fedlab_core as fl
from fedlab_core import algorithms
from fedlab_course import folders
from fedlab_course.harness import run
from fedlab_course.publish import api
from tests.course import planted
from tests.course.publish.test_pages import Page


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with the reference in it."""
    site = tmp_path_factory.mktemp("reference") / "site"
    api.write(site / "api")
    return site


def pages(site: Path) -> list[Path]:
    return sorted((site / "api").rglob("*.html"))


def test_nothing_is_loaded_from_elsewhere(made: Path) -> None:
    assert len(pages(made)) > 40
    for page in pages(made):
        html = page.read_text(encoding="utf-8")
        for address in Page(html).loaded:
            assert address.startswith("data:") or (page.parent / address).is_file(), f"{page}: {address}"
        for pattern in (r"@import", r"url\(\s*['\"]?https?:", r"import\(\s*['\"]https?:", r"<script[^>]+src=.https?:"):
            assert not re.search(pattern, html), f"{page}: {pattern}"


def test_links_within_the_reference_lead_to_pages_and_places(made: Path) -> None:
    ids = {page: set(Page(page.read_text(encoding="utf-8")).ids) for page in pages(made)}
    home = made / "index.html"
    for page in ids:
        for link in Page(page.read_text(encoding="utf-8")).links:
            file, _, place = link.partition("#")
            if file.startswith(("https:", "http:")) or not link:
                continue
            target = (page.parent / file).resolve() if file else page
            assert target == home or target in ids, f"{page}: {link}"
            assert target == home or not place or place in ids[target], f"{page}: {link}"


def test_every_public_name_has_its_place(made: Path) -> None:
    """What ``dir(fl)`` shows is a section of the library's page, or a page."""
    whole = Page((made / "api" / "fedlab_core.html").read_text(encoding="utf-8"))
    files = {page.stem for page in pages(made)}
    for name in fl.__all__:
        assert name in whole.ids or name in files, name
    for name, kind in algorithms.ALGORITHMS.items():
        module = kind.__module__.rpartition(".")[2]
        page = made / "api" / "fedlab_core" / "algorithms" / f"{module}.html"
        assert kind.__name__ in Page(page.read_text(encoding="utf-8")).ids, name


def test_docstrings_are_read_as_they_are_meant(made: Path) -> None:
    html = (made / "api" / "fedlab_core" / "algorithms" / "fedprox.html").read_text(encoding="utf-8")
    assert "<code>ValueError</code>" in (made / "api/fedlab_core/algorithms/ifca.html").read_text(encoding="utf-8")
    assert re.search(r"<pre><code>[^<]*minimise F_k\(y\)", html)
    text = re.sub(r"<div class=\"pdoc-code.*?</div>", "", html, flags=re.DOTALL)
    assert ":class:`" not in text and "``" not in text
    assert "fedlab_core.FederatedDataset" in (read := (made / "api/fedlab_core/read.html").read_text(encoding="utf-8"))
    assert "<code>~" not in read
    algorithm = (made / "api" / "fedlab_core.html").read_text(encoding="utf-8")
    assert "FedProx is:</p>" in algorithm


def test_solutions_of_exercises_are_not_in_it(made: Path) -> None:
    assert (made / "api" / "fedlab_course" / "check" / "exercises.html").is_file()
    assert not list((made / "api").rglob("ch02*"))
    assert "check_prox_step" not in (made / "api" / "search.js").read_text(encoding="utf-8")


def test_it_is_made_again_only_when_something_has_changed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made / "api" / "index.html"
    before = index.stat().st_mtime_ns
    api.write(made / "api")
    assert index.stat().st_mtime_ns == before
    monkeypatch.setattr(api, "version", lambda name: "0")
    monkeypatch.setattr(api, "MODULES", ())
    asked: list[list[str]] = []

    class Failed:
        returncode, stderr = 1, "no such module"

    monkeypatch.setattr(api.subprocess, "run", lambda command, **options: asked.append(command) or Failed)
    with pytest.raises(RuntimeError, match="no such module"):
        api.write(made / "api")
    assert asked


@pytest.mark.parametrize("reference", [False, True])
def test_the_start_page_links_to_it_if_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: bool
) -> None:
    def write(target: Path) -> None:
        target.mkdir(parents=True)
        (target / "index.html").write_text("here", encoding="utf-8")

    monkeypatch.setattr(run.api, "write", write)
    planted.notebook(tmp_path, "00_done", "1")
    run.run_course(notebooks=tmp_path, out=tmp_path / "out", reference=reference)
    start = Page((tmp_path / "out" / "site" / "index.html").read_text(encoding="utf-8"))
    assert ("api/index.html" in start.links) is reference


@pytest.mark.parametrize(("more", "wanted"), [([], True), (["--only", "00"], False), (["--notebooks", "own"], False)])
def test_only_a_run_of_the_whole_course_makes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: list[str], wanted: bool
) -> None:
    from fedlab_course import cli

    asked: list[bool] = []
    monkeypatch.setattr(cli.harness, "run_course", lambda **given: asked.append(given["reference"]) or [])
    assert cli.main(["run", "--out", str(tmp_path), *more]) == 0
    assert asked == [wanted]
    assert folders.NOTEBOOKS.is_dir()
