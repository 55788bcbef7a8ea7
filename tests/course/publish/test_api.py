"""The API reference: every page is there and offline, says what the docstrings say, and is made
once.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import fedlab_core as fl
from fedlab_core import algorithms
from fedlab_course import cli
from fedlab_course.harness import course_plan, course_run
from fedlab_course.publish import api
from tests.course.publish.test_pages import Page
from tests.course.publish.visit import site_of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with the reference in it."""
    site = tmp_path_factory.mktemp("reference") / "site"
    api.write(site / "api")
    return site


def pages(site: Path) -> dict[Path, Page]:
    return {
        page: Page(page.read_text(encoding="utf-8"))
        for page in sorted((site / "api").rglob("*.html"))
    }


@pytest.mark.slow
def test_it_loads_nothing_from_elsewhere_and_its_links_lead_to_places(made: Path) -> None:
    found = pages(made)
    home = made / "index.html"
    assert len(found) > 40
    outside = re.compile(
        r"@import|url\(\s*['\"]?https?:|import\(\s*['\"]https?:|<script[^>]+src=.https?:"
    )
    for path, page in found.items():
        assert not outside.search(path.read_text(encoding="utf-8")), path
        for address in page.loaded:
            assert address.startswith("data:") or (path.parent / address).is_file(), (
                f"{path}: {address}"
            )
        for link in page.links:
            file, _, place = link.partition("#")
            if file.startswith(("https:", "http:")) or not link:
                continue
            target = (path.parent / file).resolve() if file else path
            assert target == home or (
                target in found and (not place or place in found[target].ids)
            ), f"{path}: {link}"


@pytest.mark.slow
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


@pytest.mark.slow
def test_docstrings_are_read_as_they_are_meant(made: Path) -> None:
    html = (made / "api" / "fedlab_core" / "algorithms" / "fedprox.html").read_text(
        encoding="utf-8"
    )
    assert "<code>ValueError</code>" in (made / "api/fedlab_core/algorithms/ifca.html").read_text(
        encoding="utf-8"
    )
    assert re.search(r"<pre><code>[^<]*minimise F_k\(y\)", html)
    text = re.sub(r"<div class=\"pdoc-code.*?</div>", "", html, flags=re.DOTALL)
    assert ":class:`" not in text and "``" not in text
    assert "fedlab_core.FederatedDataset" in (
        read := (made / "api/fedlab_core/read.html").read_text(encoding="utf-8")
    )
    assert "<code>~" not in read
    algorithm = (made / "api" / "fedlab_core.html").read_text(encoding="utf-8")
    assert "FedProx is:</p>" in algorithm


@pytest.mark.slow
def test_solutions_of_exercises_are_not_in_it(made: Path) -> None:
    assert (made / "api" / "fedlab_course" / "check" / "exercises.html").is_file()
    assert not list((made / "api").rglob("ch02*"))
    assert "check_class" not in (made / "api" / "search.js").read_text(encoding="utf-8")


def test_it_is_made_again_only_when_something_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[str]] = []
    result = SimpleNamespace(returncode=0, stderr="no such module")
    monkeypatch.setattr(
        api.subprocess, "run", lambda command, **options: made.append(command) or result
    )
    api.write(tmp_path)
    api.write(tmp_path)
    assert len(made) == 1
    monkeypatch.setattr(api, "version", lambda name: "0")
    result.returncode = 1
    with pytest.raises(RuntimeError, match="no such module"):
        api.write(tmp_path)


def test_pages_of_earlier_modules_go_and_other_files_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pdoc(command: list[str], **options: object) -> SimpleNamespace:
        folder = Path(command[command.index("--output-directory") + 1])
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("made", encoding="utf-8")
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(api.subprocess, "run", pdoc)
    names = ["index.html", "fedlab_core/old.html"]
    api.write(tmp_path)
    (tmp_path / "fedlab_core" / "mine.html").touch()
    monkeypatch.setattr(api, "version", lambda name: "0")
    names = ["index.html", "fedlab_core/new.html"]
    api.write(tmp_path)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert found == {"index.html", "fedlab_core/new.html", "fedlab_core/mine.html"}


def test_the_start_page_links_to_it_if_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = site_of(tmp_path).with_name("index.html")
    assert "api/index.html" not in Page(start.read_text(encoding="utf-8")).links
    (tmp_path / "site" / "api").mkdir()
    (tmp_path / "site" / "api" / "index.html").touch()
    site_of(tmp_path)
    assert "api/index.html" in Page(start.read_text(encoding="utf-8")).links


def test_only_a_run_of_the_whole_course_makes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(course_run, "prepare", lambda options: course_plan.CoursePlan(options, []))
    monkeypatch.setattr(course_run, "carry_out", lambda one: None)
    monkeypatch.setattr(course_run.api, "write", made.append)
    for more in (["--only", "00"], ["--notebooks", "own"], []):
        assert made == []
        assert cli.main(["run", "--out", str(tmp_path), *more]) == 0
    assert made == [tmp_path / "site" / "api"]
