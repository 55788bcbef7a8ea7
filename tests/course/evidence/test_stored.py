"""Stored verdicts in a notebook: their words and their shapes."""

import json
from dataclasses import replace
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from fedlab_course import chapter, display
from fedlab_course.check import claims
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.judging import judge
from fedlab_course.harness import executed

GROUND = {"source": "[0]", "claim": "c", "expected": "e", "setting": "s", "ours": "o"}


def judged(id: str, values: list[float], **changes) -> judging.JudgedStatement:
    fields = {"measure": "end_accuracy", "margin": 0.1, "plus": [{}], **changes}
    statement = Statement(id=id, says=f"{id} is so.", **fields)
    claim = Claim(id=id, statements=[statement], **GROUND)
    return judging.JudgedStatement(
        claim, statement, judge(id, values, 0.1, expect="positive", planned=3), 6
    )


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement for each word, instead of those of the course."""
    found = {
        "x-1a": [0.5, 0.6, 0.7],
        "x-1b": [-0.5, -0.6, -0.7],
        "x-1c": [0.0, 0.01, -0.01],
        "x-1d": [0.0, 1.0, -1.0],
        "x-1f": [0.1, 0.11, 0.12],
        "x-1g": [-0.1, -0.11, -0.12],
        "x-2": [],
        "x-3": [0.5, 0.5001],
    }
    every = {id: judged(id, values) for id, values in found.items()}
    monkeypatch.setattr(judging, "stored", lambda: every)
    monkeypatch.setattr(judging, "course", dict)


def test_a_stored_verdict_is_a_word_with_its_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for id, starts in (
        ("x-1a", "✓ holds (stored): x-1a is so."),
        ("x-1b", "✗ opposite (stored): "),
        ("x-1c", "≈ equivalent within δ (stored): "),
        ("x-1d", "? undecided (stored): "),
        ("x-1f", "▲ higher, perhaps by less than δ (stored): "),
        ("x-1g", "▼ lower, perhaps by less than δ (stored): "),
        ("x-2", "– not measured yet (stored): "),
        ("x-3", "✓ holds (stored): "),
    ):
        claims.stored(id)
        line = capsys.readouterr().out
        assert line.startswith(starts)
        assert "δ = 10 points" in line and f"Row {id} of results/claims/others.md" in line
        assert "default setting" not in line
        # mean 0.6, sd 0.1, t = 4.3027 for two degrees of freedom: ± 0.2484
        assert ("+60.0 [+35.2, +84.8] points, δ = 10 points, 3 seeds" in line) == (id == "x-1a")
        assert ("2 of 3 planned seeds" in line) == (id == "x-3")
        # only of a verdict that is decided
        assert ("not kept among all 6 examined (Holm)" in line) == (id not in ("x-1d", "x-2"))
    monkeypatch.setattr(chapter, "_differs", ["dataset=mnist"])
    claims.stored("x-1a")
    assert "belongs to the default setting; this run has dataset=mnist" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"id='x-1e': must be one of .*Did you mean 'x-1[abcdfg]'"):
        claims.stored("x-1e")


def test_verdicts_are_rows_of_one_table_and_more_of_them_are_in_its_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(display, "publish", made.append)
    claims.stored("x-1a", "x-1b", "x-2", more=["x-3"])
    (bundle,) = made
    shown, _, folded = bundle["text/html"].partition("<summary>Evidence for this section</summary>")
    assert [shown.count(f"{id} is so.") for id in ("x-1a", "x-1b", "x-2", "x-3")] == [1, 1, 1, 0]
    assert "x-3 is so." in folded and "δ = 10 points, 2 of 3 planned seeds" in folded
    assert "+60.0 [+35.2, +84.8] points" in shown and "not measured yet" in shown
    assert shown.count("not kept after Holm's correction") == 2  # of the two that are decided
    assert shown.count("<svg") == 2
    assert [one["id"] for one in bundle[claims.STORED]] == ["x-1a", "x-1b", "x-2", "x-3"]


def test_an_interval_is_drawn_beside_its_margin() -> None:
    """The axis is linear, and ends at 3 δ or 1.05 times the interval: its half is 70 wide."""
    near = shown._bar(judged("x", [0.2, 0.2, 0.2]))  # 2 δ of 3
    assert f'cx="{70 + 70 * 2 / 3:.1f}"' in near and "M116.7 8H116.7" in near
    assert f'width="{2 * 70 / 3:.1f}"' in near
    far = shown._bar(judged("x", [-2.0, -2.0, -2.0]))  # −20 δ of 21
    assert f'cx="{70 - 70 / 1.05:.1f}"' in far
    assert f'width="{2 * 70 / 21:.1f}"' in far


def test_a_statement_with_a_bound_shows_what_was_measured() -> None:
    """0.1, 0.2 and 0.3 have mean 0.2 and, with t = 4.3027, the interval 0.2 ± 0.2484. "Below 0.5"
    stores 0.5 − value, and "above 0.1" value − 0.1; the value may be a difference of two rows.
    """
    values = [0.1, 0.2, 0.3]
    loss = {"measure": "end_loss"}
    below = judged("x", [0.5 - v for v in values], plus=[], minus=[{}], constant=-0.5, **loss)
    above = judged("x", [v - 0.1 for v in values], constant=0.1, **loss)
    contrast = judged("x", [v - 0.1 for v in values], minus=[{}], constant=0.1, **loss)
    assert shown.measured(below) == "0.2 [-0.0484, 0.448], target 0.5"
    assert shown.measured(above) == "0.2 [-0.0484, 0.448], target 0.1"
    assert shown.measured(contrast) == shown.measured(above)
    assert shown.measured(judged("x", [19.0], exact=True, constant=10.0, **loss)) == "29, target 10"
    nothing = judged("x", [0.1], exact=True, plus=[], minus=[{}], constant=-0.1, **loss)
    assert shown.measured(nothing) == "0, target 0.1"
    assert shown.measured(judged("x", [], constant=0.5, **loss)) == ""
    assert shown.measured(judged("x", values, **loss)) == "+0.2000 [-0.0484, +0.4484]"
    assert "target 0.5" in shown.as_data(below)["evidence"]
    assert "0.2 [-0.0484, 0.448], target 0.5" in shown._table([below])


def test_accuracies_are_in_percent_and_their_differences_in_points() -> None:
    values = [0.1, 0.2, 0.3]
    above = judged("x", [v - 0.1 for v in values], constant=0.1)
    assert shown.measured(above) == "20 [-4.84, 44.8] %, target 10 %"
    contrast = judged("x", [v - 0.1 for v in values], minus=[{}], constant=0.1)
    assert shown.measured(contrast) == "20 [-4.84, 44.8] points, target 10 points"
    assert shown.measured(judged("x", values)) == "+20.0 [-4.8, +44.8] points"
    assert shown.measured(judged("x", [0.001, 0.001])) == "+0.10 [+0.10, +0.10] points"
    assert shown.measured(judged("x", [0.02], exact=True)) == "+2.0 points"
    statement = judged("x", values)
    assert shown.margin(statement) == "10 points"
    one = replace(statement, finding=replace(statement.finding, margin=0.01))
    assert shown.margin(one) == "1 point"


def test_a_table_explains_the_verdict_words_that_it_has() -> None:
    table = shown._table([judged("x", [0.5, 0.6, 0.7]), judged("y", [0.1, 0.11, 0.12])])
    _, _, key = table.partition('<p class="key">')
    assert "<b>holds</b>: the whole interval is on the stated side" in key
    assert "opposite" not in key and "higher" not in key
    only_higher = shown._table([judged("y", [0.1, 0.11, 0.12])])
    assert 'class="key"' not in only_higher


def test_the_harness_collects_each_stored_verdict_once() -> None:
    entries = [shown.as_data(one) for one in judging.stored().values()]
    cells = [
        new_code_cell("s", outputs=[new_output("display_data", {claims.STORED: [entry]})])
        for entry in entries + entries
    ]
    notebook = new_notebook(cells=cells)
    assert executed.problems(notebook) == executed.verdicts(notebook) == []
    assert json.loads(json.dumps(executed.stored(notebook), allow_nan=False)) == entries
