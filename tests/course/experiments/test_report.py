"""The report is what the data say."""

import pytest

from fedlab_course.evidence import configs, judging
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.experiments import report


@pytest.mark.parametrize(
    ("path", "text"),
    [(report.REPORT, report.sources), (report.COURSE, report.course), (report.OVERVIEW, report.overview)],
)
def test_a_stored_report_is_the_one_that_the_data_give(path, text):
    assert path.read_text(encoding="utf-8") == text(), "run python -m fedlab_course evidence report"


def test_every_claim_has_its_sentence():
    assert report.reasons().keys() == {claim.id for claim in configs.read()}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setattr(configs, "seeds", lambda table: range(5))
    (tmp_path / "runs.csv").write_text(
        "algorithm,seed,accuracy,seconds\na,0,0.5,3600\na,1,0.6,0\na,2,0.7,0\nb,0,0.1,0\nb,1,0.2,0\nb,2,0.31,0\n"
    )
    common = {"measure": "accuracy", "margin": 0.05, "table": "runs"}
    statements = [
        Statement(id="x-1a", says="A beats B.", plus=[{"algorithm": "a"}], minus=[{"algorithm": "b"}], **common),
        Statement(id="x-1b", says="B beats A.", plus=[{"algorithm": "b"}], minus=[{"algorithm": "a"}], **common),
    ]
    about = {"source": "[9]", "claim": "A is best.", "expected": "a > b", "setting": "s", "ours": "o"}
    claims = [Claim(id="x-1", statements=statements, **about)]
    return claims, judging.judged(claims, tmp_path), tmp_path


def test_rows_say_what_was_measured(tiny):
    claims, judged, folder = tiny
    found = report.text(claims, judged, {"x-1": ("a holds, b opposite", "Because.")}, {}, folder)
    # differences .4, .4, .39: mean .39667, deviation .00577, half-width 4.302653 · .00577 / √3 = .01434
    assert "| x-1a | A beats B. | +0.397 [+0.382, +0.411] | 3 of 5 | 0.05 | **holds** |" in found
    assert "| x-1b | B beats A. | -0.397 [-0.411, -0.382] | 3 of 5 | 0.05 | **opposite** |" in found
    assert "2 statements were examined: 1 holds, 1 opposite. 0 of them are without chance" in found
    assert "took 1.0 hours" in found
    assert "Because." in found


def test_a_sentence_on_other_verdicts_is_refused(tiny):
    claims, judged, folder = tiny
    with pytest.raises(ValueError, match="x-1 speaks of 'a holds, b holds'"):
        report.text(claims, judged, {"x-1": ("a holds, b holds", "Because.")}, {}, folder)


def test_every_statement_has_been_measured_on_some_seeds():
    assert [id for id, one in judging.stored().items() if one.finding.n == 0] == []
