"""Each answer of a story holds for the run that a visitor sees: its numbers are computed here."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from fedlab_course import folders
from tests.course.playground.opening import WORDS, reopen, until_round

pytestmark = pytest.mark.needs_browser

STORIES = {story["title"]: story for story in WORDS["story"]}
# The records of each side of a story. ``changes`` are the settings that its answer proposes;
# ``rounding`` changes the first parameters by such a share.
RUNS = """([text, changes, rounds, rounding]) => {
    const given = parse(`${text}&${changes}`).state;
    const data = decoded(CATALOGUE.sets[given.data]);
    const parts = split(data.train.y, given);
    return optionsOf(given).map((options) => {
        const run = new Run(data, parts, options);
        run.w = run.w.map((value) => value * (1 + rounding));
        const records = [];
        for (const one of run.rounds()) {
            if (!one) continue;
            records.push({ ...one, labels: labelsOf(run) });
            if (records.length === rounds) break;
        }
        return records;
    });
    function labelsOf(run) {
        const labelsOf = (client) => Array.from(parts[client], (i) => data.train.y[i]);
        return new Set(run.updates.clients.flatMap(labelsOf)).size;
    }
}"""
# For each client that trains in the first rounds of a story: the share
# of the plane to which it gives its own label.
OWN_SHARES = """([text, rounds]) => {
    const given = parse(text).state;
    const data = decoded(CATALOGUE.sets[given.data]);
    const parts = split(data.train.y, given);
    const run = new Run(data, parts, optionsOf(given)[0]);
    const shares = [];
    for (const one of run.rounds()) {
        if (!one) continue;
        const { clients, params } = run.updates;
        clients.forEach((client, j) => {
            const own = data.train.y[parts[client][0]];
            const classify = (_, i) => run.network.classify(params[j], data.test.x, 2 * i);
            const answers = Array.from(data.test.y, classify);
            shares.push(answers.filter((label) => label === own).length / answers.length);
        });
        if (one.round === rounds) return shares;
    }
}"""
# The labels of each tier, and how many of its clients train, in the right run of a state.
TIERS = """(text) => {
    const given = parse(text).state;
    const data = decoded(CATALOGUE.sets[given.data]);
    const parts = split(data.train.y, given);
    const run = new Run(data, parts, optionsOf({ ...given, two: 1 })[1]);
    for (const one of run.rounds()) if (one) break;
    const cohorts = run.algorithm.cohorts(run);
    const labels = cohorts.map(([, tier]) => parts
        .filter((_, client) => run.clusters[client] === tier)
        .flatMap((part) => Array.from(part, (i) => data.train.y[i])));
    return [labels.map((own) => [...new Set(own)].sort()), cohorts.map(([own]) => own.length)];
}"""
FEDMAS = folders.NOTEBOOKS / "05_fedmas.ipynb"
# FedMas: how well the model knows the samples of a tier after the
# tier's update, and after the next tier's.
KNOWN = """([text, rounds]) => {
    const given = parse(text).state;
    const data = decoded(CATALOGUE.sets[given.data]);
    const parts = split(data.train.y, given);
    const run = new Run(data, parts, optionsOf(given)[1]);
    const known = [];
    let before = null;
    const after = run.algorithm.after;
    run.algorithm = { ...run.algorithm, after(run, tier) {
        const of = (number) => {
            const members = membersOf(run.clusters, number);
            const samples = members.flatMap((client) => Array.from(parts[client]));
            return run.network.evaluate(run.w, data.train, samples).hits / samples.length;
        };
        if (before) known.push([before.accuracy, of(before.tier)]);
        before = { tier, accuracy: of(tier) };
        after(run, tier);
    } };
    for (const one of run.rounds()) if (one?.round === rounds) return known;
}"""


def runs(
    page: Any, title: str, changes: str = "", rounding: float = 0.0
) -> list[list[dict[str, Any]]]:
    story = STORIES[title]
    return page.evaluate(RUNS, [story["state"], changes, story["rounds"], rounding])


def accuracy(records: list[dict[str, Any]], number: int = -1) -> str:
    """The test accuracy of a record as the page writes it."""
    return f"{100 * records[number]['accuracy']:.1f} %"


def change(records: list[dict[str, Any]]) -> float:
    """Mean change of the accuracy from a round to the next, in points, over the second half."""
    values = [100 * one["accuracy"] for one in records[len(records) // 2 :]]
    return sum(abs(now - before) for before, now in pairwise(values)) / (len(values) - 1)


def test_two_labels_share_the_last_of_nine_tiers_in_chapter_5(page: Any) -> None:
    (cell,) = [one for one in json.loads(FEDMAS.read_text())["cells"] if one["id"] == "playground"]
    state = "".join(re.findall(r'state \+?= "(.*)"', "".join(cell["source"])))
    tiers, cohorts = page.evaluate(TIERS, state)
    assert tiers[-1] == [2, 5] and len(tiers) == 9
    assert cohorts == [1] * 8 + [2]


def test_every_story_has_a_test_of_its_answer() -> None:
    tested = {
        "Drift",
        "μ repairs a large rate",
        "Stale controls",
        "Strata",
        "Tiers that forget",
        "A close race",
    }
    assert set(STORIES) == tested


def test_drift(page: Any) -> None:
    answer = STORIES["Drift"]["answer"]
    shares = page.evaluate(OWN_SHARES, [STORIES["Drift"]["state"], 5])
    assert min(shares) > 0.95  # "gives its own label to the whole plane"
    (records,) = runs(page, "Drift")
    ends = [accuracy(records, number - 1) for number in (10, 16, 40)]
    assert f"{ends[0]} after round 10, {ends[1]} after round 16, {ends[2]} after round 40" in answer
    falls = [now["accuracy"] - before["accuracy"] for before, now in pairwise(records)]
    assert sum(fall < -0.05 for fall in falls) >= 5  # "forgets and learns again"
    assert sum(fall > 0.05 for fall in falls) >= 5


def test_mu_repairs_a_large_rate(page: Any) -> None:
    """At η = 1 rounding decides whole points, and browsers round differently: the answer gives
    round numbers.
    """
    title = "μ repairs a large rate"
    answer = STORIES[title]["answer"]
    for rounding in (0, 1e-13, -1e-13):
        a, b = runs(page, title, rounding=rounding)
        assert abs(b[-1]["accuracy"] - 0.8) < 0.08 and "B ends near 80 %" in answer
        assert a[-1]["accuracy"] < 0.3 and "A stays below 30 %" in answer
    repaired, b = runs(page, title, "a.lr=0.2")
    assert repaired[-1]["accuracy"] > 0.9 and "set η = 0.2 for A, and A ends above 90 %" in answer
    assert repaired[-1]["accuracy"] > b[-1]["accuracy"]  # "a better repair"


def test_stale_controls(page: Any) -> None:
    answer = STORIES["Stale controls"]["answer"]
    a, b = runs(page, "Stale controls")
    assert len(a) == 100  # "the last 50 rounds"
    assert f"by {change(b):.0f} points a round for B and by {change(a):.0f} points for A" in answer
    assert change(b) > 1.5 * change(a)
    a, b = runs(page, "Stale controls", "cohort=20")
    assert b[-1]["accuracy"] > 0.9 and a[-1]["accuracy"] < 0.7
    assert "B ends above 90 %, and A below 70 %" in answer


def test_strata(page: Any) -> None:
    answer = STORIES["Strata"]["answer"]
    a, b = runs(page, "Strata")
    assert change(b) < change(a) / 3  # "whose accuracy jumps less"
    assert {one["labels"] for one in b} == {10} and "all 10 labels" in answer
    labels = sum(one["labels"] for one in a) / len(a)
    assert f"FedAvg holds {labels:.1f} on average" in answer
    probe = b[-1]["up"] - a[-1]["up"]
    assert (
        probe == b[-1]["down"] - a[-1]["down"] == 5 * a[0]["up"]
        and "as many bytes as 5 rounds" in answer
    )


def test_tiers_that_forget(page: Any) -> None:
    story = STORIES["Tiers that forget"]
    a, b = runs(page, story["title"])
    assert b[-1]["accuracy"] > a[-1]["accuracy"] + 0.3  # "B is far ahead"
    assert b[0]["updates"] == 9 and f"{b[0]['updates']} updates in a round" in story["answer"]
    at = next(one for one in b if one["updates"] == 36)
    assert (
        f"After 36 updates B has {accuracy([at])}, and A has {accuracy(a, 35)}" in story["answer"]
    )
    assert at["accuracy"] < a[35]["accuracy"]
    known = page.evaluate(KNOWN, [story["state"], 10])
    worse = sum(later < own - 0.1 for own, later in known)
    assert worse > len(known) / 2  # "overwrites a part of what the tier before taught"


def test_a_close_race(page: Any) -> None:
    answer = STORIES["A close race"]["answer"]
    a, b = runs(page, "A close race")
    assert accuracy(a) == accuracy(b) and f"both end at {accuracy(a)}" in answer
    assert b[-1]["up"] == 2 * a[-1]["up"] and b[-1]["down"] == 2 * a[-1]["down"]
    at = next(one for one in b if one["up"] == a[-1]["up"])
    assert f"with the bytes of FedAvg's 100 rounds, SCAFFOLD has {accuracy([at])}" in answer


@pytest.mark.parametrize("number", range(len(WORDS["story"])))
def test_a_story_asks_first_and_answers_after_the_run(page: Any, address: str, number: int) -> None:
    story = WORDS["story"][number]
    reopen(page, address, "speed=fast&seed=3")
    page.click(f"#stories button >> nth={number}")
    assert page.inner_text("#question") == story["question"]
    assert not page.is_visible("#answer")
    assert page.evaluate("state.seed") == 0  # every visitor sees the run that is tested above
    page.click("#play")
    until_round(page, story["rounds"])
    page.wait_for_selector("#answer:visible")
    assert page.inner_text("#answer") == story["answer"]
    assert story["answer"] not in page.inner_text("#status")
    assert page.evaluate("sides[0].records.length") == story["rounds"] + 1
    assert page.evaluate("parse(format(state)).complaints") == []


def test_an_answer_names_the_settings_that_it_holds_for(page: Any, address: str) -> None:
    reopen(page, address, f"{STORIES['Drift']['state']}&story=1&round=40")
    page.wait_for_selector("#answer:visible")
    assert page.inner_text("#answer") == STORIES["Drift"]["answer"]
    page.locator("#own-a input").first.focus()
    page.keyboard.press("ArrowLeft")
    assert (
        page.inner_text("#answer")
        == f"With the settings of the story: {STORIES['Drift']['answer']}"
    )
