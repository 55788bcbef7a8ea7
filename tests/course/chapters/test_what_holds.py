"""Chapter 14: the marks of claims as the margin is dragged, and the correction."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import special

from fedlab_core import compare
from fedlab_core.plots.colours import VERDICTS
from fedlab_course.chapters.ch14_what_holds import dragged, exercises, ideas, p_values, worked
from fedlab_course.check import own, questions, registry
from fedlab_course.evidence import configs, judging, plans, tables
from fedlab_course.experiments import measures
from fedlab_course.folders import NOTEBOOKS
from tests.course.check import answer_variants as variants


def test_every_claim_of_the_sources_has_a_few_words() -> None:
    mine = {one.id for one in configs.read() if configs.source_of(one.id) != "others"}
    assert set(dragged.in_words()) == set(dragged.leads()) == mine
    assert max(map(len, dragged.in_words().values())) <= 45


def test_at_the_planned_margins_the_verdicts_are_the_stored_ones() -> None:
    for row in dragged.rows(1.0, None, None):
        stored = judging.stored()[row.judged.finding.id].finding
        assert (row.verdict, row.kept) == (stored.verdict, None)


def test_a_claim_that_is_equivalent_stays_so_when_the_margin_grows() -> None:
    within = set()
    for factor in dragged.FACTORS:
        now = {
            row.words
            for row in dragged.rows(factor, None, None)
            if row.verdict in ("equivalent", "confirmed")
            and row.judged.statement.expect != "nonzero"
        }
        assert within <= now
        within = now
    assert len(within) > 10


def test_the_readers_function_gives_the_verdicts_and_an_equality_has_its_own() -> None:
    found = dragged.rows(1.0, lambda low, high, delta: "equivalent", None)
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
    cells = json.loads((NOTEBOOKS / "14_what_holds.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_about_two_of_five_plans_came_late_and_nearly_half_of_these_compare_best_rates() -> None:
    every = judging.stored().values()
    late = [row for row in every if plans.deviation(row.statement)]
    fair = sum(row.claim.id.startswith("fair-") for row in late)
    assert 0.35 < len(late) / len(every) < 0.45
    assert 0.4 < fair / len(late) < 0.5
    assert not plans.deviation(judging.stored()["000-1a"].statement)
    assert "About two of five statements" in _text()
    assert "Nearly half of those with a †" in _text()


def test_at_least_two_of_five_statements_cannot_show_that_their_plans_came_first() -> None:
    of_one_hour = {"drift_digits", "table1_digits", "tiers_digits"}  # plans and tables
    every = judging.stored()
    doubtful = {
        id
        for id, row in every.items()
        if plans.deviation(row.statement)
        or of_one_hour & {table for _, table, _ in row.statement.rows()}
    }
    assert "000-1a" in doubtful
    assert len(doubtful) / len(every) > 0.42
    assert "for at least two of five of our own statements we cannot show that we did" in _text()


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
    assert "*undecided* exactly when no verdict has a p-value of at most 0.025" in _text()


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
    finding = judging.stored()["002-3g"].finding
    differences = names["differences"]
    standard_error = differences.std(ddof=1) / np.sqrt(len(differences))
    share = (names["far"] >= differences.mean() / standard_error).mean()
    assert (finding.verdict, finding.n) == ("higher", 10)
    assert finding.p == pytest.approx(share, abs=0.001)
    assert f"the verdict, {finding.p:.3f}." in _text()
    mean, low, high = (100 * end for end in (finding.mean, finding.low, finding.high))
    assert f"FedMas ends {mean:.1f} points above FedProx [{low:.1f}, {high:.1f}]" in _text()
    figure = p_values.picture(names["far"], differences)
    assert figure.layout.title.text.startswith("p ≈ 0.017: ")
    red = [colour == VERDICTS["mixed"] for colour in figure.data[0].marker.color]
    counted = sum(count for count, is_red in zip(figure.data[0].y, red, strict=True) if is_red)
    assert counted == pytest.approx(share * 100_000, rel=0.05)  # some are beyond the axis


def test_the_three_p_values_of_the_example_pass_as_the_table_says() -> None:
    assert exercises.holm(np.array([0.020, 0.004, 0.017]), dragged.LEVEL) == [False, True, False]
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
    assert high < 7
    assert "At 7 points the verdict would be *equivalent*" in _text()


def test_the_end_of_a_run_is_the_last_tenth_of_its_rounds() -> None:
    assert judging.stored()["000-1a"].statement.measure == "end_accuracy"
    assert "of the\n    last tenth" in str(measures.tables.__doc__)
    assert "the mean over the last tenth of the rounds" in _text()


def test_three_seeds_need_a_mean_far_beyond_the_edge() -> None:
    """The limit of the first verdict that Holm's correction does not keep, in standard errors."""
    findings = [row.finding for row in judging.stored().values()]
    left = sum(not finding.corrected for finding in findings)
    needed = {n: -special.stdtrit(n - 1, dragged.LEVEL / left) for n in (3, 20)}
    finding = judging.stored()["002-2e"].finding
    numbers = np.array(list(tables.numbers(judging.stored()["002-2e"].statement).values()))
    beyond = (finding.mean - finding.margin) / (numbers.std(ddof=1) / np.sqrt(len(numbers)))
    assert f"its mean is {beyond:.0f} standard errors beyond the edge" in _text()
    assert beyond < needed[3]
    assert "With twenty, about four are enough" in _text()
    assert round(needed[20]) == 4
    assert finding.n == 3


def test_the_worked_claims_get_the_stored_verdicts() -> None:
    groups = (["000-1a", "fair-2b", "000-1b", "fair-2c"], ["002-3a", "fair-2q", "fair-2t"])
    for rows in groups:
        figure = worked.claim("A", rows, exercises.verdict, exercises.holm)
        table = figure.layout.meta["table"]["rows"]
        stored = [judging.stored()[row].finding for row in rows]
        assert [row[3] for row in table] == [finding.verdict for finding in stored]
        assert {judging.stored()[row].statement.margin for row in rows} == {0.01}
        late = [bool(plans.deviation(judging.stored()[row].statement)) for row in rows]
        assert ["†" in row[0] for row in table] == late == [row[:4] == "fair" for row in rows]
    interval = compare.t_interval(worked.differences("000-1a"))
    assert f"from {interval.low:.1f} to {interval.high:.1f} points" in _text()


def test_the_accuracies_of_scaffold_are_the_stored_ones() -> None:
    one = tables.matching("table1_digits", {"algorithm": "scaffold", "alpha": 0.3})
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "rounds", "method": "SCAFFOLD"}
    best = tables.matching("rated_digits", where)
    assert f"ends at {100 * one['end_accuracy'].mean():.1f} %" in _text()
    assert f"best rate, 0.2, at {100 * best['end_accuracy'].mean():.1f} %" in _text()
    assert set(best["lr"]) == {0.2}
    for step in ("explicit", "implicit"):
        end = tables.matching("rated_digits", where | {"method": f"FedMas {step}"})["end_accuracy"]
        assert f"both steps end at {100 * end.mean():.1f} %" in _text()
    tiers_at_one = tables.matching(
        "table1_digits", {"algorithm": "fedmas", "alpha": 0.3, "strength": 0.01}
    )
    low = 100 * tiers_at_one["end_accuracy"].mean()
    assert f"FedMas goes from {low:.1f} to {100 * end.mean():.1f} %" in _text()
    gained = 100 * (best["end_accuracy"].mean() - one["end_accuracy"].mean())
    assert gained > 100 * end.mean() - low > 0
    assert "SCAFFOLD gains more from its best rate than FedMas" in _text()


def test_the_picture_of_the_verdicts_is_true() -> None:
    for verdict, (low, high), _ in worked._EXAMPLES:
        assert exercises.verdict(low, high, 1.0) == verdict


def test_a_few_claims_have_another_statement_than_their_first() -> None:
    mine = [claim for claim in configs.read() if claim.id in dragged.leads()]
    assert 0 < sum(bool(claim.lead) for claim in mine) < 6
    assert "For a few claims it is another one" in _text()


def test_the_solution_keeps_what_the_report_keeps() -> None:
    mine, stored = p_values.kept(exercises.holm)
    assert mine == stored


def test_the_readers_correction_leaves_dots_open() -> None:
    idea = dragged.all_claims(own.mark(exercises.verdict), lambda p, level: [False] * len(p))
    figure = idea.figure()
    after = [row[2] for row in figure.layout.meta["table"]["rows"]]
    expected = sum(row.verdict not in judging.OPEN for row in dragged.rows(1.0, None, None))
    assert after.count("not kept") == expected
    assert sum(note.text.endswith("not kept") for note in figure.layout.annotations) == expected
    assert sum(trace.marker.symbol.endswith("-open") for trace in figure.data) == expected
    assert "with the course's solution" in figure.layout.title.text
    none = p_values.ordered(lambda p, level: np.zeros(len(p), dtype=bool))
    assert none.layout.title.text.startswith("0 of ")
    assert "with your code" in none.layout.title.text


def test_the_band_grows_with_the_margin_and_the_dots_stay() -> None:
    idea = dragged.all_claims(only=dragged.FEW)
    narrow, wide = (idea.figure(factor=factor) for factor in (1.0, 8.0))
    assert narrow.layout.shapes[0].x1 < wide.layout.shapes[0].x1
    assert [trace.x for trace in narrow.data] == [trace.x for trace in wide.data]
    assert idea.reached is False
    idea.sliders["factor"].value = 4.0
    assert idea.reached is True


def test_a_claim_says_how_many_of_its_statements_have_its_sign() -> None:
    found = {row.judged.claim.id: row for row in dragged.rows(1.0, None, None)}
    stored = judging.stored()
    mine = [stored[one.id].finding.verdict for one in found["002-3"].judged.claim.statements]
    assert found["002-3"].verdict == "holds"
    assert found["002-3"][4:6] == (sum(one in ("holds", "confirmed") for one in mine), 20)
    assert (found["004-2"].alike, found["004-2"].many) == (3, 5)  # "holds" and "confirmed"
    assert max(row.many for row in found.values()) == 20


def test_a_claim_with_a_statement_against_it_holds_in_part() -> None:
    found = {row.judged.claim.id: row for row in dragged.rows(1.0, None, None)}
    in_part = {id for id, row in found.items() if row.in_part}
    assert in_part == {"000-1", "002-1", "002-3", "004-1", "004-2", "004-4", "004-6", "004-7"}
    assert dragged._mark(found["000-1"]) == "◐ in part"
    assert dragged._agreement(found["000-1"]) == "statements with ✓: 3 of 8"
    assert dragged._mark(found["001-3"]) == "✓ holds"
    assert dragged._agreement(found["001-3"]) == "statements with ✓: 4 of 4"
    assert not dragged.holds_in_part("holds", ["holds", "undecided"])
    assert not dragged.holds_in_part("opposite", ["opposite", "holds"])


def test_the_goal_with_all_claims_is_another_one_than_that_of_a_few() -> None:
    few, every = dragged._goal_of_few(), dragged._goal_of_all()
    assert few.text != every.text
    assert [factor for factor in dragged.FACTORS if few.check(factor)] == [4.0]
    assert [factor for factor in dragged.FACTORS if every.check(factor)] == [8.0]


def test_the_opening_gives_the_same_numbers_three_verdicts() -> None:
    idea = ideas.first_claim()
    titles = {delta: idea.figure(delta=delta).layout.title.text for delta in (2.5, 3.0, 3.5)}
    assert [text.split(":")[0] for text in titles.values()] == [
        "✓ holds",
        "▲ higher, perhaps by less than δ",
        "≈ equivalent within δ",
    ]


def test_the_first_figure_has_eight_claims_and_the_others_are_left_out() -> None:
    found = dragged.rows(1.0, None, None, dragged.FEW)
    assert [row.words for row in found] == [dragged.in_words()[id] for id in dragged.FEW]
    figure = dragged.all_claims(only=dragged.FEW).figure()
    assert len(figure.data) == len(figure.layout.yaxis.ticktext) == 8
    assert figure.layout.height < 420  # pixels: on a small screen beside the text


def test_the_first_marks_that_change_are_the_ones_of_the_text() -> None:
    now = {row.words: dragged._mark(row) for row in dragged.rows(1.0, None, None, dragged.FEW)}
    slower, fewer = (dragged.in_words()[id] for id in ("001-1", "001-2"))

    def changed(factor: float) -> dict[str, str]:
        rows = dragged.rows(factor, None, None, dragged.FEW)
        return {row.words: row.verdict for row in rows if dragged._mark(row) != now[row.words]}

    assert changed(1.45) == {}
    assert changed(1.5) == {slower: "equivalent"}
    assert changed(0.45) == {}
    assert changed(0.43) == {fewer: "lower"}
    assert changed(min(dragged.FACTORS)) == {fewer: "opposite"}
    assert f"*{slower.removesuffix(' than FedAvg')}* changes first: from 1.5 times" in _text()
    assert f"only *{fewer}* changes: below 0.44 times it is *lower*, then *opposite*" in _text()


def test_a_column_for_the_correction_is_there_only_after_a_correction() -> None:
    few = dragged.all_claims(exercises.verdict, only=dragged.FEW).figure()
    every = dragged.all_claims(exercises.verdict, exercises.holm).figure()
    is_there = ["after correction" in one.layout.meta["table"]["columns"] for one in (few, every)]
    assert is_there == [False, True]


def test_two_of_the_drawn_statements_have_no_decision() -> None:
    drawn = [row.statement.id for row in dragged.leads().values()]
    open_ones = [id for id in drawn if judging.stored()[id].finding.verdict in judging.OPEN]
    assert open_ones == ["001-1a", "004-9e"]
    of_claim = judging.stored()["001-1a"].claim.statements
    verdicts = [judging.stored()[one.id].finding.verdict for one in of_claim]
    assert sorted(verdicts) == ["equivalent"] * 9 + ["undecided"]
    assert "one of ten statements of this claim; the other nine are *equivalent*" in _text()


def test_update_for_update_fedmas_is_far_below_at_one_rate_too() -> None:
    row = judging.stored()["002-3e"]
    assert not plans.deviation(row.statement)
    assert f"({100 * row.finding.mean:.1f} points, no †)".replace("-", "−") in _text()


def test_on_the_data_of_the_paper_fedmas_has_the_seeds_of_the_text() -> None:
    findings = [judging.stored()[id].finding for id in ("002-3f", "002-3k")]
    assert [finding.n for finding in findings] == [10, 6]
    assert [finding.corrected for finding in findings] == [False, False]
    assert "*undecided* on MNIST (ten seeds)" in _text()
    assert "*opposite*, not kept, on CIFAR-10 (six seeds)" in _text()


def test_half_the_margins_change_no_verdict_and_four_times_the_margins_several() -> None:
    now = [row.verdict for row in dragged.rows(1.0, None, None)]
    changes = {
        factor: sum(
            a != row.verdict for a, row in zip(now, dragged.rows(factor, None, None), strict=True)
        )
        for factor in (0.5, 4.0)
    }
    assert changes[0.5] == 0
    assert changes[4.0] > 2
    assert tables.numbers(dragged.leads()["000-1"].statement)
