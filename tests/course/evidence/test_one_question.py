"""Statements on one question: a claim of a source, or one comparison of a chapter."""

from collections.abc import Mapping, Sequence

import pytest

from fedlab_course.evidence import judging, one_question
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.judging import JudgedStatement, judge

Rows = Sequence[Mapping[str, object]]
A = {"algorithm": "a"}
B = {"algorithm": "b"}


def statement(id: str, plus: Rows, minus: Rows, measure: str, table: str = "t") -> JudgedStatement:
    one = Statement(
        id=id,
        says=id,
        measure=measure,
        margin=0.1,
        plus=[dict(row) for row in plus],
        minus=[dict(row) for row in minus],
        table=table,
    )
    about = {"source": "", "claim": "", "expected": "", "setting": "", "ours": ""}
    claim = Claim(id=id[:-2] if id[2] == "-" else id[:-1], statements=[one], **about)
    return JudgedStatement(claim, one, judge(id, [], 0.1, expect="positive", planned=1), 1)


@pytest.fixture(autouse=True)
def _statements(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        statement("001-1a", [A], [B], "end"),
        statement("001-1b", [A], [{"algorithm": "c"}], "end"),
        statement("001-2a", [A], [B], "start"),
        statement("03-p", [A], [B], "end"),
        statement("03-q", [B], [A], "bytes"),
        statement("03-r", [A], [B | {"mu": 1}], "end"),
        statement("03-s", [A], [B], "end", table="other"),
    ]
    monkeypatch.setattr(judging, "every", lambda: {one.statement.id: one for one in made})


def test_a_claim_of_a_source_is_a_question() -> None:
    assert one_question.left_out(["001-1a"]) == {"001-1b": "001-1a"}
    assert one_question.left_out(["001-1a", "001-1b", "001-2a"]) == {}


def test_the_same_rows_of_one_table_by_another_measure_are_a_question() -> None:
    """Also with the sides exchanged; other values or another table are another question."""
    assert one_question.left_out(["03-p"]) == {"03-q": "03-p"}
    assert one_question.left_out(["03-p", "03-q", "03-r", "03-s"]) == {}


def test_each_question_has_a_page() -> None:
    assert one_question.page("001-1a") == one_question.page("001-1") == "results/claims/001.md"
    assert one_question.page("03-p") == "results/COURSE.md"
    assert one_question.source_claim("001-1b") == "001-1"
    assert one_question.source_claim("03-p") == ""
