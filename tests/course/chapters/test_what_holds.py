"""Chapter 14: the verdicts on eight statements as δ is dragged, and the correction."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import special

from fedlab_core.plots.colours import VERDICTS
from fedlab_course.chapters.ch14_what_holds import dragged, exercises, ideas, p_values, worked
from fedlab_course.check import own, questions, registry
from fedlab_course.evidence import configs, judging, plans, shown, tables
from fedlab_course.experiments import measures
from fedlab_course.folders import NOTEBOOKS
from tests.course.check import answer_variants as variants
from tests.course.check.from_notebook import text_of


def _rows(factor: float) -> list[dragged.Row]:
    return dragged.rows(factor, exercises.verdict, exercises.holm)


def test_eight_statements_on_different_claims_have_a_few_words() -> None:
    stored = judging.stored()
    claims = {stored[id].claim.id for id in dragged.in_words()}
    assert len(claims) == len(dragged.in_words()) == 8
    assert {configs.source_of(claim) for claim in claims} == {"000", "001", "002", "004"}
    assert max(map(len, dragged.in_words().values())) <= 50


def test_at_the_planned_margins_the_verdicts_are_the_stored_ones() -> None:
    for row in _rows(1.0):
        stored = judging.stored()[row.judged.finding.id].finding
        assert (row.verdict, row.kept) == (stored.verdict, stored.corrected)


def test_a_statement_that_is_equivalent_stays_so_when_the_margin_grows() -> None:
    within = set()
    for factor in dragged.FACTORS:
        now = {
            row.words
            for row in _rows(factor)
            if row.verdict in ("equivalent", "confirmed")
            and row.judged.statement.expect != "nonzero"
        }
        assert within <= now
        within = now
    assert len(within) == 6


def test_the_readers_function_gives_the_verdicts_and_an_equality_has_its_own() -> None:
    found = dragged.rows(1.0, lambda low, high, delta: "equivalent", exercises.holm)
    for row in found:
        expected = {"positive": "equivalent", "zero": "confirmed"}[row.judged.statement.expect]
        assert row.verdict in (expected, *dragged._FIXED)


RIGHT = [one for one in variants.every() if one.hint is None and one.exercise[:2] == "14"]


@pytest.mark.parametrize("variant", RIGHT, ids=str)
def test_every_right_answer_gives_the_marks_of_the_solution(variant: variants.Variant) -> None:
    mine = registry.get(variant.exercise).build(variant.source)
    solution = {"14-verdict": exercises.verdict, "14-holm": exercises.holm}
    wanted = dragged.rows(2.0, exercises.verdict, exercises.holm)
    answers = solution | {variant.exercise: mine}
    found = dragged.rows(2.0, answers["14-verdict"], answers["14-holm"])
    assert [row[2:] for row in found] == [row[2:] for row in wanted]


def test_the_solution_gives_the_verdict_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.normal(rng.normal(), 1.0, size=6)
        finding = judging.judge("x", values, 0.7, expect="positive", planned=6)
        assert exercises.verdict(finding.low, finding.high, 0.7) == finding.verdict


def _text() -> str:
    return text_of("14_what_holds.ipynb")


def test_more_than_a_third_of_the_plans_came_late() -> None:
    every = judging.stored().values()
    late = [row for row in every if plans.deviation(row.statement)]
    assert 1 / 3 < len(late) / len(every) < 0.4
    assert "More than a third of our statements have a †" in _text()


def test_nearly_half_of_the_statements_cannot_show_that_their_plans_came_first() -> None:
    marks = {id: plans.mark(row.statement) for id, row in judging.stored().items()}
    counts = Counter(marks.values())
    assert {marks[id] for id in ("000-1a", "000-1b", "002-3a", "002-3e")} == {"‡"}
    assert {marks[id] for id in ("fair-2b", "fair-2c", "fair-2q", "fair-2t")} == {"†"}
    assert f"{counts['‡']} more have a ‡" in _text()
    assert round(100 * (counts["†"] + counts["‡"]) / len(marks)) == 44
    assert "For nearly half of our own statements we did not, or cannot show it" in _text()


def test_a_statement_is_undecided_exactly_if_no_verdict_has_a_small_p_value() -> None:
    for row in judging.stored().values():
        assert (row.finding.verdict in judging.OPEN) == (row.finding.p > dragged.LEVEL)
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.normal(rng.normal(), 1.0, size=6)
        finding = judging.judge("x", values, 0.7, expect="positive", planned=6)
        error = values.std(ddof=1) / np.sqrt(6)
        edges = [0.7 - values.mean(), values.mean() + 0.7, values.mean(), -values.mean()]
        tails = special.stdtr(5, np.array(edges) / error)  # of holds, opposite, lower, higher
        equivalent = 1 - tails[:2].min()  # the larger of its two tails
        least = min(equivalent, *tails)
        assert (finding.verdict == "undecided") == (least > dragged.LEVEL)
    assert (
        "an interval is *undecided* exactly when no other verdict has a p-value of at most 0.025"
        in _text()
    )


def test_two_thirds_of_the_verdicts_with_a_small_p_value_are_kept() -> None:
    asked = questions.prediction("14-kept")
    p = [row.finding.p for row in judging.stored().values()]
    kept = sum(row.finding.corrected for row in judging.stored().values())
    plain = sum(value <= dragged.LEVEL for value in p)
    strict = sum(value <= dragged.LEVEL / len(p) for value in p)
    assert 2 * plain > len(p)
    assert 0.6 < kept / plain < 0.73
    assert 0 < kept - strict < 0.1 * kept
    assert f"at most {dragged.LEVEL:.3f}." in asked.asks
    assert asked.options[asked.happened] == "about two thirds"


def test_the_p_value_is_the_share_of_simulated_means() -> None:
    cells = json.loads((NOTEBOOKS / "14_what_holds.ipynb").read_text(encoding="utf-8"))["cells"]
    [source] = ["".join(cell["source"]) for cell in cells if cell["id"] == "p-value"]
    names: dict[str, Any] = {"np": np, "worked": worked, "p_values": p_values}
    exec(source, names)
    finding = judging.stored()["fair-2u"].finding
    above = names["above"]
    share = (names["far"] >= above.mean() / (above.std(ddof=1) / np.sqrt(20))).mean()
    assert (finding.verdict, finding.n, finding.margin) == ("equivalent", 20, 0.01)
    assert finding.mean < 0  # −δ is the nearer edge
    assert finding.p == pytest.approx(share, abs=0.001)
    assert f"the verdict, {finding.p:.3f}." in _text()
    mean, low, high = (100 * end for end in (finding.mean, finding.low, finding.high))
    row = f"*digits, by bytes*, {mean:.1f} [{low:.1f}, {high:.1f}]".replace("-", "−")
    assert row in _text()
    assert worked.STATEMENTS["fair-2u"].startswith("digits, by bytes")
    figure = p_values.picture(names["far"], above)
    assert figure.layout.title.text.startswith("p ≈ 0.015: ")
    red = [colour == VERDICTS["mixed"] for colour in figure.data[0].marker.color]
    counted = sum(count for count, is_red in zip(figure.data[0].y, red, strict=True) if is_red)
    assert counted == pytest.approx(share * 100_000, rel=0.05)  # some are beyond the axis


def test_the_three_p_values_of_the_example_pass_as_the_table_says() -> None:
    assert exercises.holm(np.array([0.020, 0.004, 0.015]), dragged.LEVEL) == [False, True, False]
    assert f"0.025 / 3 = {0.025 / 3:.4f}" in _text()
    assert f"0.025 / 2 = {0.025 / 2:.4f}" in _text()


def test_two_seeds_are_undecided_at_every_margin() -> None:
    idea = ideas.first_claim()
    for delta in ideas._POINTS:
        figure = idea.figure(delta=delta, seeds=2)
        assert figure.layout.title.text.startswith("? undecided")
    [row] = figure.layout.meta["table"]["rows"]
    low, high = (float(end) for end in row[3:5])
    assert f"from {low:.1f} to {high:.1f} points: it".replace("-", "−") in _text()


def test_the_end_of_a_run_is_the_last_tenth_of_its_rounds() -> None:
    assert judging.stored()["000-1a"].statement.measure == "end_accuracy"
    assert "of the\n    last tenth" in str(measures.tables.__doc__)
    assert "the mean over the last tenth of the rounds" in _text()


def test_two_dots_are_open_at_the_planned_margins() -> None:
    is_open = [row.judged.statement.id for row in _rows(1.0) if dragged._is_open(row)]
    assert is_open == ["002-5c", "004-4u"]


def test_the_picture_of_the_verdicts_is_true() -> None:
    for verdict, (low, high), _ in worked._EXAMPLES:
        assert exercises.verdict(low, high, 1.0) == verdict


def test_the_solution_keeps_what_the_report_keeps() -> None:
    mine, stored = p_values.kept(exercises.holm)
    assert mine == stored


def test_the_readers_correction_leaves_dots_open() -> None:
    idea = dragged.eight(own.mark(exercises.verdict), lambda p, level: [False] * len(p))
    figure = idea.figure()
    after = [row[2] for row in figure.layout.meta["table"]["rows"]]
    expected = sum(row.verdict not in judging.OPEN for row in _rows(1.0))
    assert after.count("not kept") == expected
    assert sum(note.text.endswith("not kept") for note in figure.layout.annotations) == expected
    assert sum(trace.marker.symbol.endswith("-open") for trace in figure.data) == expected
    assert "with the course's solution" in figure.layout.title.text
    none = p_values.ordered(lambda p, level: np.zeros(len(p), dtype=bool))
    assert none.layout.title.text.startswith("0 of ")
    assert "with your code" in none.layout.title.text


def test_each_drawn_p_value_is_where_it_is() -> None:
    """No dot is moved up: smaller p-values than 10⁻⁶ are left out."""
    figure = p_values.ordered(exercises.holm)
    p = np.sort([row.finding.p for row in judging.stored().values()])
    [dots] = [trace for trace in figure.data if trace.mode == "markers"]
    assert list(dots.y) == list(p[p >= 1e-6])
    assert list(p[np.array(dots.x) - 1]) == list(dots.y)
    assert figure.layout.xaxis.range[0] == dots.x[0] - 2
    [note] = [one.text for one in figure.layout.annotations if "place" in one.text]
    kept = sum(row.finding.corrected for row in judging.stored().values())
    assert note.startswith(f"place {kept + 1}:")
    assert "p-values below 10⁻⁶ are left out" in _text()


def test_the_band_grows_with_the_margin_and_the_dots_stay() -> None:
    idea = dragged.eight(exercises.verdict, exercises.holm)
    narrow, wide = (idea.figure(factor=factor) for factor in (1.0, 8.0))
    assert narrow.layout.shapes[0].x1 < wide.layout.shapes[0].x1
    assert [trace.x for trace in narrow.data] == [trace.x for trace in wide.data]
    assert len(narrow.data) == len(narrow.layout.yaxis.ticktext) == 8
    assert narrow.layout.height < 420  # pixels: on a small screen beside the text


def test_the_goal_is_the_least_factor_at_which_the_first_statement_is_equivalent() -> None:
    idea = dragged.eight(exercises.verdict, exercises.holm)
    assert idea.reached is False
    reached: list[float] = []
    for factor in dragged.FACTORS:
        idea.sliders["factor"].value = factor
        if idea.reached:
            reached.append(factor)
    assert reached[0] == 4.0


def test_numbers_are_in_points_only_where_they_are_accuracies() -> None:
    found = {row.judged.finding.id: row.judged for row in _rows(1.0)}
    assert shown.interval(found["000-1a"]) == "+3.1 [+2.9, +3.4] points"
    assert shown.margin(found["000-1a"]) == "1 point"
    assert shown.margin(found["002-1m"]) == "0.5 points"
    assert shown.interval(found["002-5c"]) == "-0.0057 [-0.0077, -0.0038]"
    assert shown.margin(found["002-5c"]) == "0.002"


def test_the_opening_gives_the_same_numbers_three_verdicts() -> None:
    idea = ideas.first_claim()
    titles = {delta: idea.figure(delta=delta).layout.title.text for delta in (2.5, 3.0, 3.5)}
    assert [text.split(":")[0] for text in titles.values()] == [
        "✓ holds",
        "▲ higher, perhaps by less than δ",
        "≈ equivalent within δ",
    ]


def _changed(factor: float) -> tuple[dict[str, tuple[str, bool]], dict[str, bool]]:
    """The statements with another verdict than at the planned δ, each with its verdict and whether
    it is kept, and those with another dot only, each with whether it is kept.
    """
    verdicts = {}
    dots = {}
    for before, now in zip(_rows(1.0), _rows(factor), strict=True):
        id = now.judged.finding.id
        if now.verdict != before.verdict:
            verdicts[id] = now.verdict, now.kept
        elif dragged._is_open(now) != dragged._is_open(before):
            dots[id] = now.kept
    return verdicts, dots


def test_the_verdicts_that_change_are_the_ones_of_the_text() -> None:
    assert _changed(2.0) == (
        {
            "001-1a": ("equivalent", False),
            "002-3a": ("higher", True),
            "002-5c": ("lower", True),
        },
        {},
    )
    assert _changed(0.25) == ({"001-2a": ("opposite", False)}, {"002-5c": True})
    assert _changed(0.5) == ({}, {"002-5c": True, "001-2a": False})
    asked = questions.prediction("14-double")
    assert asked.options[asked.happened] == "three"
    for start in (
        "*FedMas is steadier* is *lower*",
        "*FedMas ends above SCAFFOLD* is only *higher*",
        "*FedProx gains more* is the *opposite* (not kept)",
    ):
        words = start.split("*")[1]
        assert any(name.startswith(words) for name in dragged.in_words().values())
        assert start in _text()


def test_three_statements_hold_and_are_kept_from_an_eighth_to_two_times() -> None:
    factors = [factor for factor in dragged.FACTORS if factor <= 2]
    assert factors[0] == 1 / 8
    sure = [
        {row.judged.finding.id for row in _rows(factor) if row.verdict == "holds" and row.kept}
        for factor in factors
    ]
    assert set.intersection(*sure) == {"000-1a", "002-1m", "004-6a"}
    assert {plans.mark(judging.stored()[id].statement) for id in ("002-1m", "004-6a")} == {""}
    assert (
        "hold* and are kept at each δ from an eighth to 2 times: SCAFFOLD above FedProx (‡), "
        "tiers above FedAvg (three seeds), and E = 20 faster than E = 1." in _text()
    )
    assert judging.stored()["002-1m"].finding.n == 3


def test_one_more_statement_holds_throughout_and_four_change_their_verdicts() -> None:
    verdicts: dict[str, set[str]] = {}
    kept = []
    for factor in (factor for factor in dragged.FACTORS if factor <= 2):
        for row in _rows(factor):
            id = row.judged.finding.id
            verdicts.setdefault(id, set()).add(row.verdict)
            if id == "004-4u" and row.kept:
                kept.append(factor)
    same = [id for id, found in verdicts.items() if found == {"holds"}]
    assert same == ["000-1a", "002-1m", "004-4u", "004-6a"]
    assert [id for id, found in verdicts.items() if len(found) == 1] == same
    assert kept == []
    assert "holds, too, but is kept at none of them. The other four verdicts change" in _text()


def test_twenty_p_values_are_zero_without_chance() -> None:
    same = [
        row.statement
        for row in judging.stored().values()
        if row.finding.corrected and row.finding.p == 0
    ]
    assert len(same) == 20
    assert all(len(set(tables.numbers(statement).values())) == 1 for statement in same)
    assert sum(statement.exact for statement in same) == 16
    text = "Of these, 20 are 0: exact computations, or the same number for all seeds."
    assert text in _text()


def test_the_figure_says_how_many_p_values_are_left_out() -> None:
    figure = p_values.ordered(exercises.holm)
    out = sum(row.finding.p < 1e-6 for row in judging.stored().values())
    notes = [note.text for note in figure.layout.annotations]
    assert f"← {out} more, all kept" in notes
    none = p_values.ordered(lambda p, level: np.zeros(len(p), dtype=bool))
    assert f"← {out} more, 0 kept" in [note.text for note in none.layout.annotations]


def test_the_verdicts_without_a_p_value_are_named() -> None:
    ones = {row.finding.verdict for row in judging.stored().values() if row.finding.p == 1}
    assert ones == {"undecided", "diverged", "not tested"}
    assert (
        "*Undecided*, *diverged* (training broke down) and *not tested* statements have 1."
        in _text()
    )


def test_among_verdicts_that_the_data_choose_holm_keeps_more_wrong_ones_than_bonferroni() -> None:
    """Ten statements whose true numbers are 0, twenty seeds, δ in standard errors."""
    near = _wrongly_kept(3.92)
    assert near["holm"] == pytest.approx(0.13, abs=0.015)
    assert near["bonferroni"] == pytest.approx(0.04, abs=0.005)
    assert "Near four Bonferroni did in 4 %, Holm in 13 %" in _text()
    far = _wrongly_kept(3.0)
    assert all(share == pytest.approx(0.05, abs=0.01) for share in far.values())
    assert "both kept a wrong verdict in about 5 % with δ at three standard errors" in _text()


def _wrongly_kept(errors: float) -> dict[str, float]:
    """How often each limit keeps a wrong verdict at a δ of ``errors`` standard errors."""
    rng = np.random.default_rng(0)
    wrong = {"holm": 0, "bonferroni": 0}
    trials = 2000
    for _ in range(trials):
        values = rng.normal(size=(10, 20))
        delta = errors / np.sqrt(20)
        found = [judging.judge("x", one, delta, expect="positive", planned=20) for one in values]
        p = np.array([finding.p for finding in found])
        is_wrong = np.array([one.verdict not in ("equivalent", "undecided") for one in found])
        wrong["holm"] += (np.array(exercises.holm(p, dragged.LEVEL)) & is_wrong).any()
        wrong["bonferroni"] += ((p <= dragged.LEVEL / 10) & is_wrong).any()
    return {name: count / trials for name, count in wrong.items()}
