"""The figures of the course can be written without a browser."""

import pytest
from tests.course.ideas.test_ideas import every_idea

from fedlab_core.write.translated import check
from fedlab_course.chapters.ch09_bug_clinic.chart import chart
from fedlab_course.evidence import figures


@pytest.mark.parametrize("name", figures.drawable())
def test_a_figure_of_the_evidence_holds_nothing_that_the_drawing_leaves_out(name: str) -> None:
    check(figures.draw(name).to_plotly_json())


@pytest.mark.parametrize("name", every_idea())
def test_nor_does_the_figure_of_an_explorer(name: str) -> None:
    check(every_idea()[name].figure().to_plotly_json())


def test_nor_does_the_chart_of_the_clinic() -> None:
    check(chart({"reads": {"Patient A": True, "Patient B": False}}).to_plotly_json())
