"""A page shows what a cell of questions and stored verdicts says, and the code of every other one."""

import pytest
from nbformat.v4 import new_code_cell

from fedlab_course.publish import pages


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
def test_what_a_cell_is_on_a_page(source: str, kind: str) -> None:
    assert pages._cell(new_code_cell(source), [])["kind"] == kind
