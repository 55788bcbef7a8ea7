"""The playground as a person uses it: mouse, keyboard, phone, a slow machine, bad addresses."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from fedlab_course import playground
from tests.course.playground.opening import INK, WORDS, is_at_rest, reopen, until_round
from tests.course.publish.visit import violations

pytestmark = pytest.mark.needs_browser


def test_a_round_and_a_step_train_and_are_drawn(page: Any, address: str) -> None:
    reopen(page, address, "round=0")
    page.wait_for_function("() => find('#status').textContent")
    assert page.inner_text("#status").startswith(WORDS["says"]["ready"])
    page.click("#step")
    page.wait_for_function("() => sides[0].frame?.paths && !sides[0].frame.paths.resting")
    assert page.evaluate("sides[0].records.length") == 1  # the start: the round is not finished
    page.click("#round")
    until_round(page, 1)
    assert page.inner_text("#now strong") == "Round 1."
    assert "test accuracy" in page.inner_text("#status")
    for canvas in page.locator("canvas").all():
        assert canvas.evaluate(INK) > 1000
    assert page.locator("#chart-1 path").count() > 4
    page.click("#again")
    page.wait_for_function("() => find('#now strong').textContent === 'Round 0.'")
    assert page.faults == []


def at_rest(page: Any) -> int:
    """How many records side A has once none has come for half a second: rounds that were under way
    may still end.
    """
    count = -1
    for _ in range(20):
        before, count = count, page.evaluate("sides[0].records.length")
        if before == count:
            return count
        page.wait_for_timeout(500)
    raise AssertionError("rounds go on after a pause")


def test_play_pauses_and_goes_on(page: Any, address: str) -> None:
    reopen(page, address, "speed=fast")
    page.click("#play")
    until_round(page, 5)
    page.click("#play")
    assert page.inner_text("#play") == WORDS["page"]["play"]
    first = at_rest(page)
    assert (
        page.evaluate("sides.map((side) => side.records.map((one) => one.round))")
        == [[*range(first)]] * 2
    )
    page.click("#play")
    until_round(page, first + 3)


def test_every_control_starts_another_run(page: Any, address: str) -> None:
    reopen(
        page, address, "split=dirichlet&a.method=fedprox&b.method=fedavgm&data=digits&clients=20"
    )
    page.click("summary")
    seen = {page.evaluate("format(state)")}
    for control in page.locator(".control:visible input").all():
        control.focus()
        page.keyboard.press("ArrowRight")
        seen.add(page.evaluate("format(state)"))
    moved = page.locator(".control:visible input").count()
    assert moved >= 13 and len(seen) == 1 + moved
    methods = page.locator("#own-a select").first
    for method in methods.locator("option").all():
        methods.select_option(method.get_attribute("value"))
        until_round(page, 1)
        is_at_rest(page)
    assert page.faults == []


def test_a_client_is_chosen_by_keys_and_said_in_words(page: Any, address: str) -> None:
    reopen(page, address, "clients=4&cohort=4")
    page.click("#round")
    until_round(page, 1)
    page.focus("#bars")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#client").startswith("Client 1: ")
    page.keyboard.press("End")
    bars = page.locator("#bars")
    assert bars.get_attribute("aria-valuenow") == "4"
    assert re.fullmatch(
        r"Client 4: \d+ samples, \d+ with label \d.*\.", bars.get_attribute("aria-valuetext")
    )
    page.wait_for_function("() => sides[0].frame.local")
    assert (
        page.locator(".picture-words").first.inner_text() == "Model of client 4 before averaging."
    )
    page.keyboard.press("Escape")
    assert page.inner_text("#client") == WORDS["says"]["pick"]


def test_a_run_that_diverges_says_so(page: Any, address: str) -> None:
    reopen(
        page,
        address,
        "data=digits&hidden=64-32&a.method=fedmas&a.lambda=24&a.lr=1&two=0&speed=fast",
    )
    page.click("#play")
    page.wait_for_function("() => sides[0].frame?.failed", timeout=60_000)
    page.wait_for_function("() => find('#status').textContent.includes('diverged')")
    words = page.inner_text("#status")
    assert page.locator(".picture-words").first.inner_text() == words
    assert re.match(
        r"A, FedMas: client \d+ diverged in round \d+\. Try a smaller learning rate\.", words
    )
    assert page.inner_text("#play") == WORDS["page"]["play"]
    for chart in ("#chart-1", "#chart-2"):
        assert page.locator(f"{chart} .cross").count() == 1
    reopen(page, address, "two=0")
    until_round(page, 1)
    assert page.locator(".cross").count() == 0


def test_numbers_and_charts_can_be_saved(page: Any, address: str, tmp_path: Path) -> None:
    reopen(page, address)
    until_round(page, 1)
    with page.expect_download() as saved:
        page.click("#csv")
    saved.value.save_as(tmp_path / "numbers.csv")
    rows = list(csv.DictReader((tmp_path / "numbers.csv").open()))
    assert [(row["side"], row["round"]) for row in rows] == [
        ("a", "0"),
        ("a", "1"),
        ("b", "0"),
        ("b", "1"),
    ]
    svg = page.evaluate("asFile(find('#chart-1'))")
    assert svg.startswith("<svg") and 'xmlns="http://www.w3.org/2000/svg"' in svg


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "size", [(360, 740), (390, 844), (768, 1024), (1020, 700), (1400, 900), (3840, 2160)]
)
def test_axe_finds_nothing_and_nothing_is_cut_off(
    chromium: Any, address: str, scheme: str, size: tuple[int, int]
) -> None:
    page = chromium.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(address)
    page.click("#stories button >> nth=3")
    page.click("summary")
    until_round(page, 1)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


def test_the_keyboard_alone_plays_a_story(page: Any, address: str) -> None:
    reopen(page, address)
    names = []
    for _ in range(40):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
        )
        if names[-1] == WORDS["story"][0]["title"]:
            page.keyboard.press("Enter")
            break
    assert page.is_visible("#question")
    page.focus("#play")
    page.keyboard.press("Space")
    until_round(page, 2)
    assert page.faults == []


def test_the_page_is_never_blocked_for_long_on_a_slow_machine(chromium: Any, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(f"{address}#data=digits&clients=100&cohort=10&hidden=32&speed=fast")
    page.click("#play")
    until_round(page, 20)
    page.click("#play")
    assert page.inner_text("#play") == WORDS["page"]["play"]
    page.close()


def test_the_page_is_small_and_asks_no_server(address: str) -> None:
    import gzip

    html = playground.html()
    assert len(gzip.compress(html.encode())) < 400_000
    assert re.findall(r'(?:src|href)="(?!playground\.html|index\.html|data:)[^"]+"', html) == []
    assert "fetch(" not in html and "https://" not in html
