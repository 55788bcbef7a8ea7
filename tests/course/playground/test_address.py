"""The address: a link opens what the page showed, and a bad one does no harm."""

from typing import Any

import pytest

import fedlab_core as fl
from tests.course.playground.opening import reopen, until_round

pytestmark = pytest.mark.needs_browser


def test_a_link_opens_the_settings_the_round_the_charts_and_the_story(
    page: Any, address: str
) -> None:
    reopen(
        page,
        address,
        "data=digits&split=dirichlet&alpha=0.1&b.method=fedmas&b.lambda=0.2&hidden=64-32&two=0",
    )
    until_round(page, 1)
    page.click("#stories button >> nth=1")
    page.locator("#own-a input").first.focus()
    page.keyboard.press("ArrowLeft")
    page.select_option("#axis", "bytes")
    page.select_option("#measure-2", "own")
    for number in (2, 3):
        page.click("#round")
        until_round(page, number)
    page.wait_for_function("() => location.hash.includes('round=3')")
    page.click("#share")
    link = page.input_value("dialog textarea")
    assert link == page.url
    was = "() => [state, shown(), sides.map((side) => side.records)]"
    before = page.evaluate(was)
    assert before[0]["a.lr"] == 0.5 and before[1]["round"] == 3 and before[1]["story"] == 2
    page.goto("about:blank")
    page.goto(link)
    until_round(page, 3)
    assert page.evaluate(was) == before
    assert page.input_value("#axis") == "bytes" and page.input_value("#measure-2") == "own"
    assert page.is_visible("#question")


def test_a_run_goes_on_from_a_link_as_if_it_had_never_stopped(page: Any, address: str) -> None:
    reopen(page, address, "round=6")
    until_round(page, 6)
    whole = page.evaluate("sides.map((side) => side.records)")
    reopen(page, address, "round=4")
    until_round(page, 4)
    page.wait_for_function("() => find('#play').textContent === 'Play'")
    assert page.evaluate("sides[0].records.length") == 5
    for number in (5, 6):
        page.click("#round")
        until_round(page, number)
    assert page.evaluate("sides.map((side) => side.records)") == whole


def test_a_link_to_the_start_shows_the_start(page: Any, address: str) -> None:
    reopen(page, address)
    until_round(page, 1)
    page.click("#again")
    page.wait_for_function("() => location.hash === '#round=0'")
    page.reload()
    page.wait_for_function("() => sides[0].records.length === 1")
    page.wait_for_timeout(200)
    assert page.evaluate("sides[0].records.length") == 1


@pytest.mark.parametrize(
    ("name", "given", "first"),
    [
        ("alpha", "NaN", 0.3),
        ("clients", "1000000000", 10),
        ("a.method", "<script>alert(1)</script>", "fedavg"),
        ("b.lr", "-1", 0.1),
        ("seed", "x", 0),
        ("round", "501", 1),
        ("axis", "toString", "round"),
    ],
)
def test_a_bad_value_gets_the_default_and_a_sentence(
    page: Any, address: str, name: str, given: str, first: Any
) -> None:
    reopen(page, address, f"{name}={given}&unknown=1")
    until_round(page, 1)
    assert page.evaluate("({ ...state, ...shown() })")[name] == first
    assert (
        page.inner_text("#complaints")
        == f"{name} = {given[:20]} is not offered; it is {first} now."
    )
    page.click("#round")
    until_round(page, 2)
    assert page.faults == []


@pytest.mark.parametrize(
    "name", ["toString", "__proto__", "constructor", "a.toString", "hasOwnProperty"]
)
def test_a_name_that_every_object_has_is_unknown(page: Any, address: str, name: str) -> None:
    reopen(page, address, f"{name}=1&clients=20")
    until_round(page, 1)
    assert page.evaluate("[state.clients, parts.length]") == [20, 20]
    assert page.inner_text("#complaints") == ""
    assert page.faults == []


def test_copied_python_runs_to_the_round_that_is_shown(page: Any, address: str) -> None:
    for state in (
        "",
        "data=digits&split=quantity&alpha=1&hidden=&a.method=fednova&b.method=fedavgm&stragglers=0.5",
    ):
        reopen(page, address, f"{state}&round=3")
        until_round(page, 3)
        page.click("#python")
        code = page.input_value("dialog textarea").replace("rounds=3,", "rounds=3, progress=False,")
        names: dict[str, Any] = {}
        exec(code, names)
        histories = names["histories"].values()
        assert [type(one) for one in histories] == [fl.History] * 2
        assert [one.frame["round"].max() for one in histories] == [3, 3]
        page.click("#close")
