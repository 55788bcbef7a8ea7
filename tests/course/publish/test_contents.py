"""The table of contents beside a chapter."""

from pathlib import Path

import pytest

from fedlab_course.publish import markdown
from fedlab_course.publish.markdown import to_html
from tests.course.publish.visit import Visit, site_of

LONG = "A sentence. " * 200
PARTS = ["First", "Second's $x^2$ < 1 & more?", "Third"]
TEXT = "# Title\n\n" + "".join(
    f"## {part}\n\n{LONG}\n\n### Below {part[:5]}\n\n{LONG}\n\n" for part in PARTS
)


def test_headings_of_two_levels_with_their_formulas_and_without_their_links() -> None:
    first, second = markdown.contents(
        [to_html("# Title\n\n## A [b](c.html) $x$\n\ntext"), to_html("### C\n\n#### D")]
    )
    assert (
        (first[0], first[2].striptags()) == (2, "A b x")
        and "<math" in first[2]
        and "<a" not in first[2]
    )
    assert second == (3, "C", "C")


@pytest.mark.needs_browser
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_contents_follow_the_reader(tmp_path: Path, chromium, width: int, height: int) -> None:
    visit = Visit(chromium, site_of(tmp_path, text=TEXT), width, height)
    with visit as page:
        links = page.locator(".toc a")
        assert links.count() == 6
        for number in (2, 5, 1):
            links.nth(number).click()
            anchor = links.nth(number).get_attribute("href")
            page.wait_for_function(
                (
                    "(href) => document.querySelector('.toc "
                    "a[aria-current]')?.getAttribute('href') === href"
                ),
                arg=anchor,
            )
            top = page.evaluate(
                "(id) => document.getElementById(id).getBoundingClientRect().top", anchor[1:]
            )
            covered = page.locator("header").bounding_box()["height"]
            assert covered <= top < height
        assert visit.is_clean()
