"""What a visitor sees in the first seconds, on a laptop, a tablet and a phone, and what the
pictures answer.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.course.playground.opening import INK, WORDS, reopen, until_round

pytestmark = pytest.mark.needs_browser


@contextmanager
def opened(chromium: Any, address: str, size: tuple[int, int], **more: Any) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]}, **more)
    page.goto(address)
    until_round(page, 1)
    yield page
    page.close()


def box(page: Any, selector: str) -> dict[str, float]:
    """Edges of an element: top, bottom, left, right."""
    return page.locator(selector).first.evaluate(
        "(one) => { const { top, bottom, left, right } = one.getBoundingClientRect();"
        " return { top, bottom, left, right }; }"
    )


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
@pytest.mark.parametrize("two", [0, 1])
def test_pictures_and_the_accuracy_are_on_the_first_screen(
    chromium: Any, address: str, size: tuple[int, int], two: int
) -> None:
    with opened(chromium, f"{address}#two={two}", size) as page:
        for place in ("#play", ".picture", ".walks", "#bars", "#chart-1", "#chart-2"):
            edges = box(page, place)
            assert edges["top"] >= 0 and edges["bottom"] <= size[1] and edges["right"] <= size[0]
        for canvas in page.locator("canvas:visible").all():
            assert canvas.evaluate(INK) > 1000  # no box is blank: one round has run
        assert page.locator("#chart-1 path").count() > 4
        assert page.locator("canvas:visible").count() == 2 * (1 + two)


@pytest.mark.parametrize("size", [(390, 844), (360, 740)])
def test_on_a_phone_the_picture_is_directly_below_play(
    chromium: Any, address: str, size: tuple[int, int]
) -> None:
    with opened(chromium, address, size) as page:
        bar = box(page, ".bar")
        picture = box(page, ".side")
        assert bar["bottom"] - bar["top"] < 60  # one row of buttons
        assert 0 <= picture["top"] - bar["bottom"] < 20
        for place in (".picture", ".walks", "#measure-1"):
            assert box(page, place)["bottom"] <= size[1]
        assert box(page, ".settings")["top"] > box(page, "#chart-1")["bottom"]


@pytest.mark.parametrize("width", [320, 360, 390])
def test_no_word_is_cut_on_a_phone(chromium: Any, address: str, width: int) -> None:
    with opened(chromium, address, (width, 740)) as page:
        methods = page.evaluate(
            "CATALOGUE.controls.method.values.map((one) => CATALOGUE.titles[one])"
        )
        assert "SCAFFOLD" in methods
        for name in methods:
            cut = page.evaluate(
                """(name) => [...document.querySelectorAll(".method")].map((place) => {
                    place.textContent = name;
                    place.parentElement.querySelector(".percent").textContent = "100.0 %";
                    const { scrollWidth, clientWidth, parentElement: line } = place;
                    return Math.max(scrollWidth - clientWidth, line.scrollWidth - line.clientWidth);
                })""",
                name,
            )
            assert max(cut) <= 0, name
        title = box(page, "h1")
        link = box(page, ".home")
        assert title["bottom"] - title["top"] < 30, "one line"
        assert title["right"] <= link["left"] and link["right"] <= width


def test_on_a_tablet_the_controls_come_before_the_charts(chromium: Any, address: str) -> None:
    with opened(chromium, address, (768, 1024)) as page:
        assert box(page, "#more")["bottom"] < box(page, "#chart-1")["top"] < 1024
        assert box(page, ".walks")["bottom"] < 768


def test_few_controls_are_shown_first(page: Any, address: str) -> None:
    reopen(page, address)
    shown = page.locator(".control:visible > span").all_inner_texts()
    own = ["method", "learning rate η", "local epochs E"]
    assert shown == ["split", "labels per client", *own, *own]
    page.click("summary")
    assert page.locator(".control:visible").count() >= 15


def test_the_signs_of_the_paths_have_a_legend(page: Any, address: str) -> None:
    reopen(page, address)
    until_round(page, 1)
    written = page.evaluate("""() => {
        const written = [];
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (words, ...place) {
            const right = place[0] + this.measureText(words).width;
            written.push([words, right < this.canvas.clientWidth]);
            draw.call(this, words, ...place);
        };
        redraw();
        return written; // at once: the page itself may draw again a moment later
    }""")
    assert written == [[words, True] for words in WORDS["legend"].values()] * 2


def test_the_landscape_is_the_training_loss(page: Any, address: str) -> None:
    """In the middle of the picture is w, so the loss there is the loss of w, on the samples of the
    landscape.
    """
    reopen(page, address)
    until_round(page, 1)
    hills, loss = page.evaluate("""() => {
        const [side] = sides;
        const step = data.train.y.length / 200;
        const every = Array.from({ length: 200 }, (_, i) => Math.floor(i * step));
        const before = new Network([2, 16, 5]).initial(state.seed);
        const loss = side.network.evaluate(before, data.train, every).loss / 200;
        return [Array.from(side.frame.paths.hills), Math.log(loss)];
    }""")
    width = round(len(hills) ** 0.5)
    half = (width // 2 - 1, width // 2)
    middle = [hills[row * width + column] for row in half for column in half]
    assert min(middle) - 0.02 < loss < max(middle) + 0.02
    assert loss < max(hills)


def test_a_place_of_the_picture_tells_its_class_and_probability(page: Any, address: str) -> None:
    reopen(page, address)
    until_round(page, 1)
    picture = page.locator(".picture").first
    size = picture.bounding_box()
    picture.hover(position={"x": size["width"] * 0.25, "y": size["height"] * 0.75})
    label, percent = page.evaluate("""() => {
        const out = sides[0].network.logits(sides[0].frame.w, Float64Array.of(-0.7, -0.7), 0);
        const powers = Array.from(out, Math.exp);
        const best = powers.indexOf(Math.max(...powers));
        return [best, (100 * powers[best]) / powers.reduce((a, b) => a + b)];
    }""")
    words = page.locator(".picture-words").first.inner_text()
    told = re.fullmatch(r"Here: label (\d), probability (\d+) %\.", words)
    assert told and int(told[1]) == label and abs(int(told[2]) - percent) < 2
    # the same place in B
    assert page.locator(".picture-words").nth(1).inner_text().startswith("Here: ")
    page.hover("h1")
    assert page.locator(".picture-words").first.inner_text().startswith("Shared model")


def test_the_keyboard_moves_the_probe(page: Any, address: str) -> None:
    reopen(page, address)
    until_round(page, 1)
    page.locator(".picture").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("probe") == [0.5, 0.5]
    page.keyboard.press("ArrowRight")
    assert page.evaluate("probe") == pytest.approx([0.54, 0.5])
    assert page.locator(".picture-words").first.inner_text().startswith("Here: ")
    page.keyboard.press("Escape")
    assert page.evaluate("probe") is None


def test_a_wrong_image_tells_its_label_and_what_the_model_says(page: Any, address: str) -> None:
    reopen(page, address, "data=digits&clients=20")
    until_round(page, 1)
    page.locator(".picture").first.hover(position={"x": 10, "y": 10})
    truth = page.evaluate("data.test.y[sides[0].frame.wrong[0]]")
    words = page.locator(".picture-words").first.inner_text()
    assert re.fullmatch(rf"This is {truth}\. The model says \d, with \d+ %\.", words)


@pytest.mark.parametrize("width", [150, 212, 227, 260, 400])
def test_wrong_images_fill_their_picture(page: Any, width: int) -> None:
    columns, rows, cell = page.evaluate("(w) => Object.values(cellsOf(w, w))", width)
    assert columns * cell == pytest.approx(width) == rows * cell


def test_little_motion_is_a_slow_pace(chromium: Any, address: str) -> None:
    with opened(chromium, address, (1366, 768), reduced_motion="reduce") as page:
        assert page.evaluate("beside.speed") == "one"
    with opened(chromium, address, (1366, 768), reduced_motion="no-preference") as page:
        assert page.evaluate("beside.speed") == "five"
