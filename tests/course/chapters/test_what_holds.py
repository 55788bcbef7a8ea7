"""Chapter 14: the words of claims as the margin is dragged, and the correction."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from scipy import special

from fedlab_core import compare
from fedlab_course.chapters.ch14_what_holds import dragged, exercises, ideas, p_values, worked
from fedlab_course.check import own, questions, registry
from fedlab_course.evidence import configs, judging, plans, tables
from fedlab_course.folders import NOTEBOOKS
from tests.course.check import answer_variants as variants


def test_every_claim_of_the_sources_has_a_few_words() -> None:
    mine = {one.id for one in configs.read() if configs.source_of(one.id) != "others"}
    assert set(dragged.in_words()) == set(dragged.leads()) == mine
    assert max(map(len, dragged.in_words().values())) <= 45


def test_at_the_planned_margins_the_words_are_the_stored_verdicts() -> None:
    for row in dragged.rows(1.0, None, None):
        stored = judging.stored()[row.judged.finding.id].finding
        assert (row.verdict, row.significant) == (stored.verdict, None)


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


def test_the_readers_word_gives_the_words_and_an_equality_has_its_own() -> None:
    found = dragged.rows(1.0, lambda low, high, delta: "equivalent", None)
    for row in found:
        expected = {"positive": "equivalent", "zero": "confirmed"}[row.judged.statement.expect]
        assert row.verdict in (expected, *dragged._FIXED)


RIGHT = [one for one in variants.every() if one.hint is None and one.exercise[:2] == "14"]


@pytest.mark.parametrize("variant", RIGHT, ids=str)
def test_every_right_answer_gives_the_marks_of_the_solution(variant: variants.Variant) -> None:
    mine = registry.get(variant.exercise).build(variant.source)
    solution = {"14-word": exercises.word, "14-holm": exercises.stands}
    wanted = dragged.rows(2.0, exercises.word, exercises.stands)
    answers = solution | {variant.exercise: mine}
    found = dragged.rows(2.0, answers["14-word"], answers["14-holm"])
    assert [row[2:] for row in found] == [row[2:] for row in wanted]


def test_the_solution_gives_the_word_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.normal(rng.normal(), 1.0, size=6)
        finding = judging.judge("x", values, 0.7, expect="positive", planned=6)
        assert exercises.word(finding.low, finding.high, 0.7) == finding.verdict


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _text() -> str:
    cells = json.loads((NOTEBOOKS / "14_what_holds.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_the_count_of_plans_that_came_late_is_that_of_the_register() -> None:
    every = judging.stored().values()
    late = [row for row in every if plans.deviation(row.statement)]
    fair = sum(row.claim.id.startswith("fair-") for row in late)
    assert f"has {len(every)} statements. {len(late)} of them were changed, or" in _text()
    assert f"{fair} of the {len(late)} compare methods" in _text()
    assert f"here {len(late)} of {len(every)} cannot show it" in _text()


def test_the_counts_of_kept_verdicts_are_those_of_the_report() -> None:
    asked = questions.prediction("14-kept")
    p = [row.finding.p for row in judging.stored().values()]
    kept = sum(row.finding.corrected for row in judging.stored().values())
    plain = sum(value <= dragged.LEVEL for value in p)
    strict = sum(value <= dragged.LEVEL / len(p) for value in p)
    assert _numbers(asked.asks) == [plain, len(p)]
    assert _numbers(asked.because) == [kept, strict]


def test_the_sentence_on_all_statements_has_their_counts() -> None:
    count = Counter(row.finding.verdict for row in judging.stored().values())
    first = f"Of the {count.total()} statements {count['holds']} hold and {count['confirmed']} are"
    second = f"{count['opposite'] + count['refuted']} are opposite or refuted, "
    second += f"{count['equivalent']} equivalent, {count['higher'] + count['lower']} higher or "
    second += f"lower, {count['undecided']} undecided; "
    second += f"{count['diverged'] + count['not tested']} diverged or are not tested."
    assert first in _text() and second in _text()


def test_three_seeds_need_a_mean_far_beyond_the_edge() -> None:
    """The limit of the first verdict that Holm's correction does not keep, in standard errors."""
    findings = [row.finding for row in judging.stored().values()]
    left = sum(not finding.corrected for finding in findings)
    needed = {n: -special.stdtrit(n - 1, dragged.LEVEL / left) for n in (3, 20)}
    assert f"{needed[3]:.0f} standard errors beyond the edge" in _text()
    assert f"with twenty, {needed[20]:.1f} are enough" in _text()
    assert judging.stored()["002-2e"].finding.n == 3


def test_the_worked_claims_get_the_stored_verdicts() -> None:
    groups = (["000-1a", "fair-2b", "000-1b", "fair-2c"], ["002-3a", "fair-2q", "fair-2t"])
    for rows in (*groups, ["001-1a"]):
        figure = worked.claim("A", rows, exercises.word, exercises.stands)
        table = figure.layout.meta["table"]["rows"]
        stored = [judging.stored()[row].finding for row in rows]
        assert [row[3] for row in table] == [finding.verdict for finding in stored]
        assert {judging.stored()[row].statement.margin for row in rows} == {0.01}
        late = [bool(plans.deviation(judging.stored()[row].statement)) for row in rows]
        assert ["†" in row[0] for row in table] == late == [row[:4] == "fair" for row in rows]
    assert table[0][1] == "+0.6 [−0.2, 1.5]"
    interval = compare.t_interval(worked.differences("000-1a"))
    assert f"from {interval.low:.1f} to {interval.high:.1f} points" in _text()


def test_the_accuracies_of_scaffold_are_the_stored_ones() -> None:
    one = tables.matching("table1_digits", {"algorithm": "scaffold", "alpha": 0.3})
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "rounds", "method": "SCAFFOLD"}
    best = tables.matching("rated_digits", where)
    assert f"ends at {100 * one['end_accuracy'].mean():.1f} %" in _text()
    assert f"best rate, 0.2, it ends at {100 * best['end_accuracy'].mean():.1f} %" in _text()
    assert set(best["lr"]) == {0.2}
    for step in ("explicit", "implicit"):
        end = tables.matching("rated_digits", where | {"method": f"FedMas {step}"})["end_accuracy"]
        assert f"both end at {100 * end.mean():.1f} %" in _text()


def test_the_picture_of_the_words_is_true() -> None:
    for verdict, (low, high), _ in worked._EXAMPLES:
        assert exercises.word(low, high, 1.0) == verdict


def test_four_claims_have_another_statement_than_their_first() -> None:
    mine = [claim for claim in configs.read() if claim.id in dragged.leads()]
    assert sum(bool(claim.lead) for claim in mine) == 4
    assert "for four of all 23 claims" in _text()


def test_the_solution_keeps_what_the_report_keeps() -> None:
    mine, stored = p_values.kept(exercises.stands)
    assert mine == stored


def test_the_readers_correction_leaves_marks_open() -> None:
    idea = dragged.all_claims(own.mark(exercises.word), lambda p, level: [False] * len(p))
    figure = idea.figure()
    said = [row[1] for row in figure.layout.meta["table"]["rows"]]
    assert sum("uncorrected" in word for word in said) == sum(
        row.verdict not in judging.OPEN for row in dragged.rows(1.0, None, None)
    )
    assert "with the course's solution" in figure.layout.title.text
    none = p_values.ordered(lambda p, level: np.zeros(len(p), dtype=bool))
    assert none.layout.title.text.startswith("0 of ")
    assert "with your code" in none.layout.title.text


def test_the_band_grows_with_the_margin_and_the_marks_stay() -> None:
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
    assert dragged._said(found["000-1"]) == "◐ in part 3 of 8"
    assert dragged._said(found["001-3"]) == "✓ holds 4 of 4"
    assert not dragged.holds_in_part("holds", ["holds", "undecided"])
    assert not dragged.holds_in_part("opposite", ["opposite", "holds"])


def test_the_goal_with_all_claims_is_another_one_than_that_of_a_few() -> None:
    few, every = dragged._goal_of_few(), dragged._goal_of_all()
    assert few.text != every.text
    assert [factor for factor in dragged.FACTORS if few.check(factor)] == [4.0]
    assert [factor for factor in dragged.FACTORS if every.check(factor)] == [8.0]


def test_the_opening_gives_the_same_numbers_three_words() -> None:
    idea = ideas.first_claim()
    words = {delta: idea.figure(delta=delta).layout.title.text for delta in (1.0, 3.0, 3.5)}
    assert [text.split(":")[0] for text in words.values()] == [
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


def test_half_and_four_times_the_margins_change_as_many_words_as_the_chapter_says() -> None:
    now = [row.verdict for row in dragged.rows(1.0, None, None)]
    changes = {
        factor: sum(
            a != row.verdict for a, row in zip(now, dragged.rows(factor, None, None), strict=True)
        )
        for factor in (0.5, 4.0)
    }
    assert changes == {0.5: 0, 4.0: 6}
    assert len(now) == 23
    assert tables.numbers(dragged.leads()["000-1"].statement)
