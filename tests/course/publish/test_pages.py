"""The static site of the planted notebooks: the files themselves, then what a browser makes of
them.
"""

import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import plotly.graph_objects as go
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from fedlab_core.plots import style
from fedlab_course import folders, outline
from fedlab_course.evidence.shown import WORDS
from fedlab_course.formulas import to_mathml
from fedlab_course.publish import pages, slides, verdicts
from fedlab_course.publish.glossary import GLOSSARY
from fedlab_course.publish.markdown import to_html
from fedlab_course.publish.symbols import SYMBOLS
from tests.course.harness.planted import Run
from tests.course.publish.visit import Visit, site_of

LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "object": "data",
}


class Page(HTMLParser):
    """A page's headings, links, and the addresses of everything it loads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(attributes.get("href", ""))
        if tag in LOADED and attributes.get(LOADED[tag]):
            self.loaded.append(attributes[LOADED[tag]])
        if "id" in attributes:
            self.ids.append(attributes["id"])


def text_of(run: Run, name: str) -> str:
    return (run.out / "site" / f"{name}.html").read_text(encoding="utf-8")


def page_of(run: Run, name: str) -> Page:
    return Page(text_of(run, name))


def test_pages_load_nothing_from_elsewhere_and_have_headings_in_order(good: Run) -> None:
    for name in ("index", "00_good", "01_next", "symbols", "evidence", "slides"):
        page = page_of(good, name)
        assert page.headings[0] == 1 and page.headings.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(page.headings))
        assert len(set(page.ids)) == len(page.ids)
        for address in page.loaded:
            assert (
                address.startswith("data:")
                or (good.out / "site" / address.partition("#")[0]).is_file()
            ), address
        assert "symbols.html" in page.links and "import(" not in text_of(good, name)
        assert ("assets/plotly.min.js" in page.loaded) == (name == "00_good")
    css = (good.out / "site" / "assets" / "site.css").read_text()
    assert "url(" not in css and "@import" not in css
    assert len(text_of(good, "00_good")) < 60_000


def test_links_between_notebooks_lead_to_pages(good: Run) -> None:
    page = page_of(good, "00_good")
    local = [link for link in page.links if not link.startswith(("#", "https:"))]
    assert "01_next.html#Title-of-01_next" in local
    for link in local:
        assert (good.out / "site" / link.partition("#")[0]).is_file(), link
    assert "Title-of-01_next" in page_of(good, "01_next").ids
    assert "or elsewhere." in re.sub(r"\s+", " ", text_of(good, "00_good"))
    for name, link in (
        ("00_good", 'rel="next" href="01_next.html"'),
        ("01_next", 'rel="prev" href="00_good.html"'),
    ):
        top, end = text_of(good, name).split("<main", 1)
        assert top.count(link) == end.count(link) == 1
    assert 'rel="prev"' not in text_of(good, "00_good")  # the first
    assert 'rel="next"' not in text_of(good, "01_next")  # the last


def test_the_start_page_leads_to_each_notebook_and_to_their_claims(good: Run) -> None:
    start = text_of(good, "index")
    html = text_of(good, "evidence")
    assert {"00_good.html", "01_next.html", "evidence.html", "playground.html"} <= set(
        Page(start).links
    )
    assert "Squares grow" not in start and "was stopped early" not in start
    assert "Title of 00_good" in html and "Squares grow" in html
    assert re.search(r"✓ confirmed \(stored\)</td>\s*<td>000-2: \+0\.0000", html)
    assert html.count('<details class="chapter">') == 1  # the second notebook claims nothing
    assert "Squares &lt;shrink&gt;" in html


def test_a_closed_row_of_the_evidence_page_counts_its_verdicts(good: Run) -> None:
    summary = re.search(
        r"<summary>Title of 00_good(.*?)</summary>", text_of(good, "evidence"), re.DOTALL
    )
    words = re.sub(r"<[^>]+>", "", summary[1]).strip()
    rows = text_of(good, "evidence").count("<tr><td>")
    assert words.startswith("1 holds, 1 does not hold here, ") and words.endswith(" confirmed")
    assert sum(int(number) for number in re.findall(r"\d+", words)) == rows


def test_verdicts_are_counted_in_words() -> None:
    stored = ["undecided", "holds", "opposite", "opposite", *["holds"] * 5]
    entries = [{"verdict": word} for word in stored]
    assert verdicts.counted([*entries, {"holds": True}]) == "7 hold, 2 opposite, 1 undecided"
    assert verdicts.counted([{"holds": True}, {"holds": False}]) == "1 holds, 1 does not hold here"
    assert verdicts.counted([{"holds": False}] * 2) == "2 do not hold here"
    assert verdicts.counted([]) == ""
    every = verdicts.counted([{"verdict": word} for word in WORDS])
    assert every.count("1 ") == len(WORDS)  # no verdict is left out


def test_each_chapter_is_on_one_card_and_each_old_name_leads_to_one(tmp_path: Path) -> None:
    result = {
        "status": "ok",
        "seconds": 1.0,
        "parameters": {},
        "verdicts": [],
        "stored": [],
        "error": None,
    }
    stems = [one.stem for one in outline.CHAPTERS]
    made = []
    for stem in stems:
        nbformat.write(
            new_notebook(cells=[new_markdown_cell(f"# {stem}")]), tmp_path / f"{stem}.ipynb"
        )
        made.append(pages.page({"name": stem} | result, tmp_path, stems, tmp_path / "runs"))
    written = pages.build(made, tmp_path / "site", "quick")
    assert sorted(written) == sorted(
        path for path in (tmp_path / "site").rglob("*") if path.is_file()
    )
    html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    links = Page(html).links
    assert [links.count(f"{stem}.html") for stem in stems] == [2] + [1] * (
        len(stems) - 1
    )  # the first from a button too
    assert html.count("<svg") == 6 + sum(one.track == "further" for one in outline.CHAPTERS)
    for chapter, old in ((one, old) for one in outline.CHAPTERS for old in one.was):
        moved = (tmp_path / "site" / f"{old}.html").read_text(encoding="utf-8")
        assert old not in stems and f"url={chapter.stem}.html" in moved
        assert 'name="robots" content="noindex"' in moved
        assert not any(
            old in (tmp_path / "site" / f"{page}.html").read_text()
            for page in ("index", "evidence")
        )


def test_the_lessons_have_the_core_track() -> None:
    assert {one.lesson for one in outline.CHAPTERS if one.track == "core"} == set(range(1, 7))
    assert {one.lesson for one in outline.CHAPTERS if one.track == "further"} == {0}


def test_a_chapter_has_its_formulas_parameters_and_figures(good: Run) -> None:
    html = text_of(good, "00_good")
    assert html.count("<math ") == 2 and "<mfrac>" in html
    assert "leftarrow" not in html and r"\frac" not in html
    assert "Parameters of this run:" in html and "<code>mu = 0.3</code>" in html
    assert 'role="img" aria-label="A curve that rises from 1 to 9"' in html
    data = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    assert json.loads(data[1])["layout"]["title"]["text"] == "Squares </script>"


def test_a_page_says_nothing_of_keys_for_a_cell_that_it_does_not_have(tmp_path: Path) -> None:
    """Only JupyterLab has a cell to run: the sentence on Shift+Enter is left out, and the others
    stay.
    """
    start = nbformat.read(folders.NOTEBOOKS / "00_start_here.ipynb", as_version=4).cells[0].source
    assert "**Shift+Enter**" in start
    page = site_of(tmp_path, text=f"{start}\n\nOne. Press **Shift+Enter** now! Two.").read_text(
        encoding="utf-8"
    )
    assert "Shift+Enter" not in page
    assert "<p>Press <strong>Play</strong> and watch the shared model learn." in page
    assert "<p>One. Two.</p>" in page


def test_a_cell_waits_for_the_last_question_before_it_and_a_heading_ends_the_wait() -> None:
    cells = [
        new_code_cell('questions.predict("05-bill")\nquestions.predict("05-turns")'),
        new_code_cell("draw()"),
        new_markdown_cell("**What we see.** Much.\n\n## Next\n\nA definition."),
        new_code_cell("draw()"),
    ]
    parts = list(slides.at_headings(cells))
    assert [part.source for part in parts[2:4]] == [
        "**What we see.** Much.\n",
        "## Next\n\nA definition.",
    ]
    assert list(pages._waits(parts)) == ["", "05-turns", "05-turns", "", ""]


def test_symbols_and_glossary_are_on_one_page(good: Run) -> None:
    sheet = text_of(good, "symbols")
    assert all(to_html(symbol.meaning)[3:-5] in sheet for symbol in SYMBOLS)  # without <p> and </p>
    assert all(word in sheet for word in GLOSSARY)


def test_an_error_is_shown_on_its_page_and_on_the_start_page(tmp_path: Path) -> None:
    trace = new_output(
        "error",
        ename="ZeroDivisionError",
        evalue="",
        traceback=["\x1b[31mZeroDivisionError\x1b[0m: <x>"],
    )
    page = site_of(
        tmp_path, trace, text="# Title", status="failed", error="cell 2: ZeroDivisionError"
    )
    html = page.read_text(encoding="utf-8")
    assert "ZeroDivisionError</span>: &lt;x&gt;" in html
    assert "This run stopped with an error: cell 2: ZeroDivisionError" in html
    assert (
        page.with_name("index.html").read_text(encoding="utf-8").count("stopped with an error") == 1
    )


def test_tex_becomes_mathml_and_unknown_tex_is_refused() -> None:
    assert "<mfrac>" in to_mathml(r"\frac{a}{b}")
    assert "<mtable" in to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}")
    for tex in (r"\nosuch", "x^", r"\begin{nosuch} a & b \end{nosuch}"):
        with pytest.raises(ValueError, match="formula"):
            to_mathml(tex)


def long_names() -> go.Figure:
    """A figure in the style of the course with seven long names and a long title of its x axis."""
    figure = style.new_figure(
        title="Title", x_title="accuracy minus that of FedAvg, seed by seed", y_title="y"
    )
    for number in range(7):
        figure.add_scatter(
            x=[0, 1, 2], y=[0, number, 2 * number], name=f"a method with a long name {number}"
        )
    return figure


def test_a_figure_s_table_needs_no_script(tmp_path: Path) -> None:
    figure = long_names()
    style.set_description(
        figure, "Lines", ["name", "slope <°>", "n"], [["a", 1 / 3, 2], ["b", None, "n/a"]]
    )
    html = re.sub(
        r"<script.*?</script>",
        "",
        site_of(tmp_path, figure).read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    assert (
        '<th scope="col">name</th><th scope="col">slope &lt;°&gt;</th><th scope="col">n</th>'
        in html
    )
    assert '<tr><th scope="row">a</th><td>0.33333</td><td>2</td></tr>' in html
    assert '<tr><th scope="row">b</th><td>–</td><td>n/a</td></tr>' in html


@pytest.mark.needs_browser
@pytest.mark.parametrize(
    ("name", "width"), [("index", 360), ("symbols", 360), ("00_good", 360), ("00_good", 1280)]
)
def test_a_browser_shows_a_page_without_faults(good: Run, chromium, name: str, width: int) -> None:
    visit = Visit(chromium, good.out / "site" / f"{name}.html", width)
    with visit:
        assert visit.is_clean()


SPILT = """() => [...document.querySelectorAll('figure.plot')].flatMap((figure) => {
    const frame = figure.querySelector('.main-svg').getBoundingClientRect();
    const words = '.legend, .infolayer [class*="title"]';
    return [...figure.querySelectorAll(words)].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
    }).map((element) => element.getAttribute('class'));
})"""


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_legend_and_titles_are_inside_the_figure(tmp_path: Path, chromium, width: int) -> None:
    with Visit(chromium, site_of(tmp_path, long_names()), width) as page:
        page.wait_for_selector("figure.plot .legend")
        page.wait_for_function("document.querySelector('.canvas')._fullLayout.yaxis._length > 200")
        page.wait_for_function(f"({SPILT})().length === 0")
        legend, title = (page.locator(part).bounding_box() for part in (".legend", ".g-xtitle"))
        assert title["y"] + title["height"] <= legend["y"] + 1
        assert page.locator(".legend .traces").count() == 7
