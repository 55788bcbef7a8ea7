"""The static site of the planted notebooks: the files themselves, then what a browser makes of them."""

import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_core.plots import style
from fedlab_course.publish import pages
from fedlab_course.publish.glossary import GLOSSARY
from fedlab_course.publish.markdown import to_html, to_mathml
from fedlab_course.publish.pages import heading
from fedlab_course.publish.symbols import SYMBOLS
from tests.course.planted import Run
from tests.course.publish.visit import Visit, site_of

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """A page's headings, links, and the addresses of everything it loads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.alternatives: list[str] = []
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
        if attributes.get("role") == "img":
            self.alternatives.append(attributes.get("aria-label", ""))
        if "id" in attributes:
            self.ids.append(attributes["id"])


def text_of(run: Run, name: str) -> str:
    return (run.out / "site" / f"{name}.html").read_text(encoding="utf-8")


def page_of(run: Run, name: str) -> Page:
    return Page(text_of(run, name))


@pytest.mark.parametrize("name", ["index", "00_good", "01_next"])
def test_a_page_loads_nothing_from_elsewhere_and_has_headings_in_order(good: Run, name: str) -> None:
    page = page_of(good, name)
    assert page.headings[0] == 1 and page.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(page.headings))
    assert len(set(page.ids)) == len(page.ids)
    for address in page.loaded:
        assert address.startswith(("data:", "assets/")), address
        assert address.startswith("data:") or (good.out / "site" / address).is_file()
    css = (good.out / "site" / "assets" / "site.css").read_text()
    assert "url(" not in css
    assert "@import" not in css
    assert "import(" not in text_of(good, name)


def test_plotly_is_there_once_and_only_where_it_is_used(good: Run) -> None:
    assert [path.name for path in (good.out / "site").rglob("*plotly*")] == ["plotly.min.js"]
    assert "assets/plotly.min.js" in page_of(good, "00_good").loaded
    assert "assets/plotly.min.js" not in page_of(good, "01_next").loaded
    assert len(text_of(good, "00_good")) < 60_000


def test_links_between_notebooks_lead_to_pages(good: Run) -> None:
    page = page_of(good, "00_good")
    local = [link for link in page.links if not link.startswith(("#", "https:"))]
    assert "01_next.html#Title-of-01_next" in local
    for link in local:
        assert (good.out / "site" / link.partition("#")[0]).is_file(), link
    assert "Title-of-01_next" in page_of(good, "01_next").ids
    assert "or elsewhere." in re.sub(r"\s+", " ", text_of(good, "00_good"))


def test_the_start_page_tells_of_each_notebook(good: Run) -> None:
    html = text_of(good, "index")
    for words in ("Title of 00_good", "Title of 01_next", "A second one.", "2 claims checked, 1 holds", "Squares grow"):
        assert words in html
    assert "1 stored verdict: 1 holds" in html
    assert re.search(r"✓ holds \(stored\)</td><td>000-2: \+0\.0000", html)
    assert "was stopped early" not in html
    assert html.count('<details class="chapter">') == 1  # the second notebook claims nothing
    assert "Squares &lt;shrink&gt;" in html


def test_a_figure_carries_its_text_alternative_and_its_data(good: Run) -> None:
    assert page_of(good, "00_good").alternatives == ["A curve that rises from 1 to 9"]
    data = re.search(r'<script type="application/json">(.*?)</script>', text_of(good, "00_good"), re.DOTALL)
    assert json.loads(data[1])["layout"]["title"]["text"] == "Squares </script>"


def test_every_page_links_to_the_symbols_and_all_of_them_are_there(good: Run) -> None:
    sheet = text_of(good, "symbols")
    assert all(to_html(symbol.meaning)[3:-5] in sheet for symbol in SYMBOLS)  # without <p> and </p>
    assert all(word in sheet for word in GLOSSARY)
    names = [page.stem for page in (good.out / "site").glob("*.html") if not page.stem.endswith("_slides")]
    assert names and all("symbols.html" in page_of(good, name).links for name in names)


def test_formulas_are_mathml_and_given_parameters_are_shown(good: Run) -> None:
    html = text_of(good, "00_good")
    assert html.count("<math ") == 2 and "<mfrac>" in html
    assert "leftarrow" not in html and r"\frac" not in html
    assert "Parameters of this run:" in html and "<code>mu = 0.3</code>" in html


def test_an_error_is_shown_on_its_page_and_on_the_start_page(failing: Run) -> None:
    assert "ZeroDivisionError" in text_of(failing, "10_error")
    assert text_of(failing, "index").count("stopped with an error") == 7
    assert "swallowed" in text_of(failing, "11_interact")


def test_tex_becomes_mathml_and_unknown_tex_is_refused() -> None:
    assert "<mfrac>" in to_mathml(r"\frac{a}{b}")
    assert "<mtable" in to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}")
    assert "Dir" in to_mathml(r"\operatorname{Dir}_C(\alpha)")
    for tex in (r"\nosuch", "x^", r"\begin{nosuch} a & b \end{nosuch}"):
        with pytest.raises(ValueError, match="formula"):
            to_mathml(tex)


def test_title_and_lead() -> None:
    def read(text: str) -> tuple[str, str]:
        return heading(new_notebook(cells=[new_markdown_cell(text)]))

    assert read("# A title\n\nThe lead\non two lines.\n\nMore.") == ("A title", "The lead\non two lines.")
    assert read("# A title\nThe lead.\n") == ("A title", "The lead.")
    assert read("# A title\n\n- a list\n\nThen text.") == ("A title", "Then text.")
    assert read("no title") == ("", "no title")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('questions.predict("01-skew")', "spoken"),
        ('questions.outcome("01-skew")\nclaims.stored("000-1a", "000-1b")', "spoken"),
        ('claims.check("It is", True)', "code"),
        ('questions.predict("01-skew")\nx = 1', "code"),
        ("fed.heterogeneity()", "code"),
        ("questions = 1", "code"),
        ("1 +", "code"),
    ],
)
def test_a_page_shows_no_code_of_cells_that_only_ask_or_show_verdicts(source: str, kind: str) -> None:
    assert pages._cell(new_code_cell(source), [])["kind"] == kind


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", ["index", "symbols", "00_good", "10_error"])
def test_a_browser_shows_a_page_without_faults(good: Run, failing: Run, chromium, name: str, width: int) -> None:
    run = failing if name == "10_error" else good
    visit = Visit(chromium, run.out / "site" / f"{name}.html", width)
    assert visit.faults == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    assert visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    visit.page.close()


@pytest.mark.needs_browser
def test_a_browser_draws_the_figure_and_lists_its_points(good: Run, chromium) -> None:
    page = Visit(chromium, good.out / "site" / "00_good.html", 1280).page
    page.wait_for_selector("figure.plot .main-svg")
    assert page.evaluate("Array.from(document.querySelector('.canvas')._fullData[0].y)") == [1, 4, 9]
    assert page.locator("figure.plot table").count() == 0
    page.click("figure.plot summary")
    page.click("text=All points")
    page.wait_for_selector("figure.plot td")
    rows = [row.split("\t") for row in page.locator("figure.plot tbody tr").all_inner_texts()]
    assert rows == [["squares", "1", "1"], ["squares", "2", "4"], ["squares", "3", "9"]]
    assert page.get_by_role("img", name="A curve that rises from 1 to 9").count() == 1
    page.close()


def long_names(number_of_points: int = 3):
    """A figure in the style of the course with seven long names and a long title of its x axis."""
    figure = style.new_figure(title="Title", x_title="accuracy minus that of FedAvg, seed by seed", y_title="y")
    for number in range(7):
        steps = list(range(number_of_points))
        figure.add_scatter(x=steps, y=[number * step for step in steps], name=f"a method with a long name {number}")
    return figure


def test_a_figure_s_table_needs_no_script(tmp_path: Path) -> None:
    figure = long_names()
    style.set_description(figure, "Lines", ["name", "slope <°>", "n"], [["a", 1 / 3, 2], ["b", None, "n/a"]])
    html = re.sub(r"<script.*?</script>", "", site_of(tmp_path, figure).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert '<th scope="col">name</th><th scope="col">slope &lt;°&gt;</th><th scope="col">n</th>' in html
    assert '<tr><th scope="row">a</th><td>0.33333</td><td>2</td></tr>' in html
    assert '<tr><th scope="row">b</th><td>–</td><td>n/a</td></tr>' in html


@pytest.mark.needs_browser
def test_points_are_listed_only_if_they_are_few_and_without_made_up_names(tmp_path: Path, chromium) -> None:
    few, many = long_names(), long_names(number_of_points=50)
    few.data[0].name = None
    page = Visit(chromium, site_of(tmp_path, few, many), 1280).page
    page.wait_for_selector("figure:nth-of-type(1) .main-svg")
    for summary in page.locator("figure.plot > details > summary").all():
        summary.click()
    points = page.locator("details details")
    points.first.wait_for()
    assert points.count() == 1
    assert points.locator("tbody tr").count() == 21
    assert "trace 0" not in points.text_content()
    page.close()


SPILT = """() => [...document.querySelectorAll('figure.plot')].flatMap((figure) => {
    const frame = figure.querySelector('.main-svg').getBoundingClientRect();
    return [...figure.querySelectorAll('.legend, .infolayer [class*="title"]')].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
    }).map((element) => element.getAttribute('class'));
})"""


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_legend_and_titles_lie_inside_the_figure(tmp_path: Path, chromium, width: int) -> None:
    page = Visit(chromium, site_of(tmp_path, long_names()), width).page
    page.wait_for_selector("figure.plot .legend")
    page.wait_for_function("document.querySelector('.canvas')._fullLayout.yaxis._length > 200")
    page.wait_for_function(f"({SPILT})().length === 0")
    legend, title = (page.locator(part).bounding_box() for part in (".legend", ".g-xtitle"))
    assert title["y"] + title["height"] <= legend["y"] + 1
    assert page.locator(".legend .traces").count() == 7
    page.close()
