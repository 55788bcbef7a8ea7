"""The table of contents beside a chapter, the header and the links to the chapters around it."""

from pathlib import Path

import pytest

from fedlab_course.publish import markdown
from fedlab_course.publish.markdown import to_html
from tests.course.planted import Run
from tests.course.publish.visit import Visit, site_of

PARTS = ["First", "Second's $x^2$ < 1 & more?", "Third"]
LONG = "A sentence. " * 200
TEXT = "# Title\n\n" + "".join(f"## {part}\n\n{LONG}\n\n### Below {part[:5]}\n\n{LONG}\n\n" for part in PARTS)


def test_headings_of_two_levels_with_their_formulas_and_without_their_links() -> None:
    entries = markdown.contents([to_html("# Title\n\n## A [b](c.html) $x$\n\ntext"), to_html("### C\n\n#### D")])
    assert [(entry.level, entry.text.striptags()) for entry in entries] == [(2, "A b x"), (3, "C")]
    assert "<math" in entries[0].text
    assert "<a" not in entries[0].text
    assert entries[1].anchor == "C"


@pytest.mark.parametrize("name", ["00_good", "01_next"])
def test_links_to_the_neighbours_stand_at_both_ends(good: Run, name: str) -> None:
    html = (good.out / "site" / f"{name}.html").read_text(encoding="utf-8")
    top, end = html.split("<main", 1)
    link = 'rel="next" href="01_next.html"' if name == "00_good" else 'rel="prev" href="00_good.html"'
    assert top.count(link) == end.count(link) == 1


@pytest.mark.needs_browser
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1000, 700), (390, 844)])
def test_the_contents_follow_the_reader(tmp_path: Path, chromium, width: int, height: int) -> None:
    visit = Visit(chromium, site_of(tmp_path, text=TEXT), width, height)
    with visit as page:
        links = page.locator(".toc a")
        assert links.count() == 6
        beside = width == 1280
        assert links.first.is_visible() == beside
        here = page.locator(".toc a[aria-current]")
        for number in (2, 4, 1, 5):
            if not beside:
                page.locator(".toc summary").press("Enter")
            links.nth(number).click()
            anchor = links.nth(number).get_attribute("href")
            page.wait_for_function(
                "(href) => document.querySelector('.toc a[aria-current]')?.getAttribute('href') === href", arg=anchor
            )
            assert here.count() == 1
            top = page.evaluate("(id) => document.getElementById(id).getBoundingClientRect().top", anchor[1:])
            covered = page.locator("header").bounding_box()["height"]
            covered += 0 if beside else page.locator(".toc").bounding_box()["height"]
            assert covered <= top < height
            assert links.nth(number).is_visible() == beside  # the fold has closed
        assert page.locator("header").bounding_box()["y"] == 0
        assert page.locator("header").bounding_box()["height"] < 60
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert visit.faults == []
