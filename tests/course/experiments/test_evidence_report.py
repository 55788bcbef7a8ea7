"""The report is what the data say."""

from functools import partial

import pandas as pd
import pytest

from fedlab_course.evidence import configs, judging, plans
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.experiments import evidence_report


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (evidence_report.REPORT, evidence_report.sources),
        (evidence_report.COURSE, evidence_report.course),
    ]
    + [
        (evidence_report.CLAIMS / f"{name}.md", partial(evidence_report.details, name))
        for name in configs.SOURCES
    ],
)
def test_a_stored_report_is_the_one_that_the_data_give(path, text):
    assert path.read_text(encoding="utf-8") == text(), "run python -m fedlab_course evidence report"


def test_every_claim_has_its_sentence():
    assert evidence_report.reasons().keys() == {claim.id for claim in configs.read()}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setattr(configs, "seeds", lambda table: range(5))
    monkeypatch.setattr(configs, "planned", lambda table: [0])
    (tmp_path / "runs.csv").write_text(
        "algorithm,seed,accuracy,seconds\na,0,0.5,3600\na,1,0.6,0\na,2,0.7,0\nb,0,0.1,0\nb,1,0.2,0\nb,2,0.31,0\n"
    )
    common = {"measure": "accuracy", "margin": 0.05, "table": "runs"}
    statements = [
        Statement(
            id="x-1a",
            says="A beats B.",
            plus=[{"algorithm": "a"}],
            minus=[{"algorithm": "b"}],
            **common,
        ),
        Statement(
            id="x-1b",
            says="B beats A.",
            plus=[{"algorithm": "b"}],
            minus=[{"algorithm": "a"}],
            changed="the sign",
            **common,
        ),
    ]
    about = {
        "source": "[9]",
        "claim": "A is best.",
        "expected": "a > b",
        "setting": "s",
        "ours": "o",
        "distance": "near",
    }
    register = {
        "x-1a": {"plan": statements[0].plan, "fixed": "before"},
        "x-1b": {"plan": "another", "fixed": "before"},
    }
    monkeypatch.setattr(plans, "read", lambda: register)
    claims = [Claim(id="x-1", statements=statements, **about)]
    return claims, judging.judged(claims, tmp_path), tmp_path


def test_rows_say_what_was_measured(tiny):
    claims, judged, folder = tiny
    found = evidence_report.sections(claims, judged, {"x-1": ("a holds, b opposite", "Because.")})
    # differences .4, .4, .39: mean .39667, deviation .00577,
    # half-width 4.302653 · .00577 / √3 = .01434
    assert "| x-1a | A beats B. | +0.397 [+0.382, +0.411] | 3 of 5 | 0.05 | **holds** |" in found
    assert (
        "| x-1b | B beats A. | -0.397 [-0.411, -0.382] | 3 of 5 | 0.05 | **opposite** † |" in found
    )
    assert "Because." in found
    counted = evidence_report.counted(judged, folder)
    assert "2 of them rest on seeds: 1 holds, 1 opposite. 0 have no chance" in counted
    assert "took 1.0 hours" in counted
    assert evidence_report.deviations(judged) == "- x-1b: changed after the data: the sign.\n"


def test_a_claim_has_one_row_with_its_leading_number(tiny):
    claims, judged, _ = tiny
    [_, _, row] = evidence_report.summary(
        claims, judged, {"x-1": ("", "A is best. And so on.")}
    ).splitlines()
    number = "A beats B. +0.397 [+0.382, +0.411], n = 3"
    assert (
        row == f"| [x-1](claims/others.md#x-1) | [9] | A is best. | near | A is best. | {number} |"
    )


def test_a_plan_without_its_sentence_can_be_reported(tiny):
    """Plans are registered before their data, and sentences come after them."""
    claims, judged, _ = tiny
    row = evidence_report.summary(claims, judged, {})
    assert "| planned, and not yet put into words. |" in row


def test_a_sentence_on_other_verdicts_is_refused(tiny):
    claims, judged, _ = tiny
    with pytest.raises(ValueError, match="x-1 speaks of 'a holds, b holds'"):
        evidence_report.sections(claims, judged, {"x-1": ("a holds, b holds", "Because.")})


def test_every_statement_has_been_measured_on_some_seeds():
    assert [id for id, one in judging.stored().items() if one.finding.n == 0] == []


def test_accuracies_are_means_and_deviations_in_percent_with_tiers_and_divergence(
    tmp_path, monkeypatch
):
    """Tiers: server updates for each of FedAvg's. 0.5 and 0.7 have the mean 0.6 and the deviation
    0.1 √2.
    """
    given = (
        '[methods]\nFedAvg = "a"\nFedMas = "m"\nFedSSO = "s"\n[settings]\n'
        '"t" = {table = "t", where = {x = 1}}\n'
    )
    (tmp_path / "accuracies.toml").write_text(given)
    rows = [
        ("a", 1, 0.5, 10, False),
        ("a", 1, 0.7, 10, False),
        ("a", 2, 0.1, 10, False),
        ("m", 1, 0.8, 31, False),
        ("m", 1, 0.8, 51, False),
        ("s", 1, 0.1, 4, True),
    ]
    table = pd.DataFrame(
        rows, columns=["algorithm", "x", "end_accuracy", "server_updates", "diverged"]
    )
    monkeypatch.setattr(evidence_report, "ACCURACIES", tmp_path / "accuracies.toml")
    monkeypatch.setattr(evidence_report.tables, "read", lambda name: table)
    assert evidence_report.accuracies().splitlines()[2:] == [
        "| FedAvg | 60.0 ± 14.1 |",
        "| FedMas | 80.0 ± 0.0, 3 to 5 tiers |",
        "| FedSSO | 10.0, 1 of 1 diverged |",
    ]
