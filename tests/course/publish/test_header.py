"""The header: its links to slides and evidence, and a menu on phones that needs no script."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from fedlab_course import outline
from fedlab_course.publish import pages
from tests.course.harness.planted import Run
from tests.course.publish.visit import Visit, violations

SITE_PAGES = ("index", "evidence", "symbols", "slides", "00_good", "01_next")
BOTTOM = "(element) => element.getBoundingClientRect().bottom"


def header_links(path: Path) -> list[str]:
    """The addresses of all links in the header of a page, without repetitions."""
    header = path.read_text(encoding="utf-8").partition("</header>")[0].partition("<header>")[2]
    return list(dict.fromkeys(re.findall(r'<a [^>]*href="([^"]+)"', header)))


@pytest.fixture(scope="module")
def longest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a chapter between the two chapters with the longest titles of the course."""
    from nbformat import write
    from nbformat.v4 import new_markdown_cell, new_notebook

    folder = tmp_path_factory.mktemp("longest")
    titles = sorted((chapter.title for chapter in outline.CHAPTERS), key=len, reverse=True)
    names = ["10_before", "11_here", "12_after"]
    result = {"status": "ok", "seconds": 1.0, "parameters": {}, "verdicts": [], "stored": []}
    made = []
    for name, title in zip(names, (titles[0], "Here", titles[1]), strict=True):
        write(
            new_notebook(cells=[new_markdown_cell(f"# {title}\n\n## Part")]),
            folder / f"{name}.ipynb",
        )
        entry = result | {"name": name, "error": None}
        made.append(pages.page(entry, folder, names, folder / "runs"))
    pages.build(made, folder / "site", "quick")
    return folder / "site" / "11_here.html"


def test_each_header_leads_to_the_evidence_and_to_slides(good: Run) -> None:
    site = good.out / "site"
    for name in SITE_PAGES:
        links = header_links(site / f"{name}.html")
        deck = f"{name}_slides.html" if name[0].isdigit() else "slides.html"
        assert {"playground.html", "symbols.html", "evidence.html", deck} <= set(links), name
        assert all((site / link).is_file() for link in links), name
    decks = re.findall(
        r'href="(\w+_slides\.html)"', (site / "slides.html").read_text(encoding="utf-8")
    )
    assert decks == ["00_good_slides.html", "01_next_slides.html"]


def test_a_site_without_chapters_links_only_to_its_own_pages(tmp_path: Path) -> None:
    row = SimpleNamespace(name="a", parameters={}, status="ok", seconds=1.0, verdicts=[])
    pages.write_rows([row], [None], tmp_path, "quick")
    for name in ("index", "symbols"):
        links = header_links(tmp_path / f"{name}.html")
        assert links == ["index.html", "playground.html", "symbols.html"]


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [320, 360, 601, 900, 901, 1280])
def test_the_header_is_one_line(longest: Path, chromium, width: int) -> None:
    visit = Visit(chromium, longest, width)
    with visit as page:
        links = page.locator("header :is(a, summary):visible")
        boxes = sorted(
            (links.nth(number).bounding_box() for number in range(links.count())),
            key=lambda box: box["x"],
        )
        centres = [box["y"] + box["height"] / 2 for box in boxes]
        assert len(boxes) == (4 if width <= 600 else 7)
        assert max(centres) - min(centres) < 4
        for left, right in itertools.pairwise(boxes):
            assert left["x"] + left["width"] <= right["x"] + 0.5
        assert boxes[-1]["x"] + boxes[-1]["width"] <= width
        assert page.locator("header").evaluate(BOTTOM) <= 60
        assert visit.is_clean()


@pytest.mark.needs_browser
@pytest.mark.parametrize("scripts", [True, False])
def test_the_menu_of_a_phone_opens_with_the_keyboard(good: Run, chromium, scripts: bool) -> None:
    with Visit(
        chromium, good.out / "site" / "00_good.html", 360, java_script_enabled=scripts
    ) as page:
        evidence = page.locator("header a[href='evidence.html']:visible")
        assert evidence.count() == 0
        page.locator("header summary").focus()
        page.keyboard.press("Enter")
        evidence.wait_for()
        box = evidence.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 24  # WCAG 2.2, target size
        for _ in range(3):  # Playground, Symbols, Evidence
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/evidence.html")


@pytest.mark.needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_the_menu_open(good: Run, chromium, scheme: str) -> None:
    pytest.importorskip("axe_playwright_python")
    for name in ("evidence", "slides"):
        visit = Visit(chromium, good.out / "site" / f"{name}.html", 360, color_scheme=scheme)
        with visit as page:
            page.locator("header summary").click()
            assert visit.is_clean()
            assert violations(page) == []
