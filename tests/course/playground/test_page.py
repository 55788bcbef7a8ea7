"""The playground as a person uses it: mouse, keyboard, phone, a slow machine, bad addresses."""

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import fedlab_core as fl
from fedlab_course import playground
from tests.course.publish.visit import violations

pytestmark = pytest.mark.needs_browser

WORDS = tomllib.loads((Path(playground.__file__).parent / "words.toml").read_text(encoding="utf-8"))
IS_DONE = "() => active().every((side) => side.frame && (side.frame.failed || side.records.at(-1).round >= {}))"
# The pixels of a canvas that are not transparent.
INK = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.filter((v) => v).length"


def reopen(page: Any, address: str, state: str = "") -> None:
    """Open the page at a state; the same document would only notice another hash."""
    page.goto("about:blank")
    page.goto(f"{address}#{state}")


def until_round(page: Any, number: int) -> None:
    page.wait_for_function(IS_DONE.format(number), timeout=120_000)


def test_a_round_and_a_step_train_and_are_drawn(page: Any, address: str) -> None:
    reopen(page, address)
    assert page.inner_text("#status") == WORDS["says"]["ready"]
    page.click("#step")
    page.wait_for_function("() => sides[0].frame?.paths && !sides[0].frame.paths.resting")
    assert page.evaluate("sides[0].records.length") == 1  # the start: the round is not finished
    page.click("#round")
    until_round(page, 1)
    assert "Round 1." in page.inner_text("#status")
    for canvas in page.locator("canvas").all():
        assert canvas.evaluate(INK) > 1000
    assert page.locator("#chart-1 path").count() > 4
    page.click("#again")
    assert page.inner_text("#status") == WORDS["says"]["ready"]
    assert page.faults == []


def test_play_pauses_and_goes_on(page: Any, address: str) -> None:
    reopen(page, address)
    page.select_option("#speed", "fast")
    page.click("#play")
    until_round(page, 5)
    page.click("#play")
    assert page.inner_text("#play") == WORDS["page"]["play"]
    page.wait_for_timeout(200)
    first = page.evaluate("sides[0].records.length")
    page.wait_for_timeout(300)
    assert page.evaluate("sides[0].records.length") == first
    assert page.evaluate("sides.map((side) => side.records.map((one) => one.round))") == [[*range(first)]] * 2
    page.click("#play")
    until_round(page, first + 3)


def test_every_control_starts_another_run(page: Any, address: str) -> None:
    reopen(page, address, "split=dirichlet&a.method=fedprox&b.method=fedavgm&data=digits&clients=20")
    seen = {page.evaluate("format(state)")}
    for control in page.locator(".control:visible input").all():
        control.focus()
        page.keyboard.press("ArrowRight")
        seen.add(page.evaluate("format(state)"))
    moved = page.locator(".control:visible input").count()
    assert moved >= 13 and len(seen) == 1 + moved
    for method in page.locator(".side").first.locator("option").all():
        page.locator(".side select").first.select_option(method.get_attribute("value"))
        page.click("#round")
        until_round(page, 1)
    assert page.faults == []


@pytest.mark.parametrize("number", range(len(WORDS["story"])))
def test_a_story_asks_first_and_answers_after_the_run(page: Any, address: str, number: int) -> None:
    story = WORDS["story"][number]
    reopen(page, address)
    page.click(f"#stories button >> nth={number}")
    assert page.inner_text("#question") == story["question"]
    assert not page.is_visible("#answer")
    page.select_option("#speed", "fast")
    page.click("#play")
    until_round(page, story["rounds"])
    page.wait_for_selector("#answer:visible")
    assert page.inner_text("#answer") == story["answer"]
    assert page.evaluate("sides[0].records.length") == story["rounds"] + 1
    assert page.evaluate("parse(format(state)).complaints") == []


def test_stories_show_what_they_say(page: Any, address: str) -> None:
    """On two seeds: who is ahead, whose accuracy jumps more, and who is ahead at equal updates."""
    ends = "(one) => one.slice(-10).reduce((sum, record) => sum + record.accuracy, 0) / 10"
    jumps = "(one) => one.slice(1).reduce((sum, now, i) => sum + Math.abs(now.accuracy - one[i].accuracy), 0)"
    late = "(one) => one.slice(one.length / 2)"
    train = f"""([text, seed, rounds]) => {{
        const given = {{ ...parse(text).state, seed }};
        const data = decoded(CATALOGUE.sets[given.data]);
        const parts = split(data.train.y, given);
        return optionsOf(given).map((options) => {{
            const run = new Run(data, parts, options);
            const records = [];
            for (const one of run.rounds()) if (one && records.push(one) === rounds) break;
            const at = records.findLast((one) => one.updates <= rounds)?.accuracy;
            return {{ end: ({ends})(records), jumps: ({jumps})(({late})(records)), at, bytes: run.ledger.up }};
        }});
    }}"""

    def runs(title: str) -> list[Any]:
        story = next(one for one in WORDS["story"] if one["title"] == title)
        return [page.evaluate(train, [story["state"], seed, story["rounds"]]) for seed in range(2)]

    assert all(b["end"] > a["end"] + 0.3 for a, b in runs("μ repairs a large rate"))
    assert all(b["jumps"] > a["jumps"] for a, b in runs("Stale controls"))
    assert all(b["jumps"] < a["jumps"] / 3 for a, b in runs("Strata"))
    assert all(b["end"] > a["end"] + 0.3 and b["at"] < a["end"] for a, b in runs("Tiers that forget"))
    assert all(abs(b["end"] - a["end"]) < 0.02 and b["bytes"] == 2 * a["bytes"] for a, b in runs("A close race"))


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
    assert re.fullmatch(r"Client 4: \d+ samples, \d+ with label \d.*\.", bars.get_attribute("aria-valuetext"))
    page.wait_for_function("() => sides[0].frame.local")
    assert page.locator(".picture-words").first.inner_text() == "client 4 before averaging"
    page.keyboard.press("Escape")
    assert page.inner_text("#client") == WORDS["says"]["pick"]


def test_an_address_holds_the_state(page: Any, address: str) -> None:
    reopen(page, address, "data=digits&split=dirichlet&alpha=0.1&b.method=fedmas&b.lambda=0.2&hidden=64-32&two=0")
    page.locator(".side input").first.focus()
    page.keyboard.press("ArrowRight")
    shared = page.evaluate("address()")
    assert shared == page.url
    state = page.evaluate("state")
    page.reload()
    assert page.evaluate("state") == state
    assert state["b.method"] == "fedmas" and state["a.lr"] == 0.2
    page.click("#share")
    assert page.input_value("dialog textarea") == shared


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("alpha", "NaN"),
        ("clients", "1000000000"),
        ("a.method", "<script>alert(1)</script>"),
        ("b.lr", "-1"),
        ("seed", "x"),
    ],
)
def test_a_bad_value_in_the_address_gets_the_default_and_a_word(page: Any, address: str, name: str, given: str) -> None:
    reopen(page, address, f"{name}={given}&unknown=1")
    first = page.evaluate("defaults()")[name]
    assert page.evaluate("state")[name] == first
    assert page.inner_text("#complaints") == f"{name} = {given[:20]} is not offered; it is {first} now."
    page.click("#round")
    until_round(page, 1)
    assert page.faults == []


def test_a_run_that_diverges_says_so(page: Any, address: str) -> None:
    reopen(page, address, "data=digits&hidden=64-32&a.method=fedmas&a.lambda=24&a.lr=1&two=0")
    page.select_option("#speed", "fast")
    page.click("#play")
    page.wait_for_function("() => sides[0].frame?.failed", timeout=60_000)
    words = page.inner_text("#status")
    assert re.match(r"A, FedMas: client \d+ diverged in round \d+\. Choose a smaller learning rate\.", words)
    assert page.inner_text("#play") == WORDS["page"]["play"]


def test_copied_python_runs(page: Any, address: str) -> None:
    for state in ("", "data=digits&split=quantity&alpha=1&hidden=&a.method=fednova&b.method=fedavgm&stragglers=0.5"):
        reopen(page, address, state)
        page.click("#python")
        code = page.input_value("dialog textarea").replace("rounds=50", "rounds=1, progress=False")
        names: dict[str, Any] = {}
        exec(code, names)
        assert [type(one) for one in names["histories"].values()] == [fl.History] * 2
        page.click("#close")


def test_numbers_and_charts_can_be_saved(page: Any, address: str, tmp_path: Path) -> None:
    reopen(page, address)
    page.click("#round")
    until_round(page, 1)
    with page.expect_download() as saved:
        page.click("#csv")
    saved.value.save_as(tmp_path / "numbers.csv")
    rows = list(csv.DictReader((tmp_path / "numbers.csv").open()))
    assert [(row["side"], row["round"]) for row in rows] == [("a", "0"), ("a", "1"), ("b", "0"), ("b", "1")]
    svg = page.evaluate("asFile(find('#chart-1'))")
    assert svg.startswith("<svg") and 'xmlns="http://www.w3.org/2000/svg"' in svg


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(390, 844), (1400, 900), (3840, 2160)])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    chromium: Any, address: str, scheme: str, size: tuple[int, int]
) -> None:
    page = chromium.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(address)
    page.click("#stories button >> nth=3")
    page.click("#round")
    until_round(page, 1)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


def test_the_keyboard_alone_plays_a_story(page: Any, address: str) -> None:
    reopen(page, address)
    names = []
    for _ in range(40):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
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
    page.goto(f"{address}#data=digits&clients=100&cohort=10&hidden=32")
    page.select_option("#speed", "fast")
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


def test_in_a_cell_it_is_a_frame_with_the_whole_page(chromium: Any) -> None:
    shown = playground.Playground(state="data=moons&two=0", small=True)._repr_mimebundle_()
    page = chromium.new_page()
    page.set_content(shown["text/html"])
    frame = page.frames[1]
    frame.click("#round")
    frame.wait_for_function(IS_DONE.format(1))
    assert frame.evaluate("state.data") == "moons"
    assert not frame.is_visible("#share") and not frame.is_visible(".whole")
    page.close()
