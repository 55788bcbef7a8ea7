"""Stored verdicts in a notebook: their words, their shapes, and a live run against a stored band."""

import json
import math
from typing import Any

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from fedlab_course import display
from fedlab_course.check import claims
from fedlab_course.evidence import judging, live, shown, tables
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.verdicts import judge
from fedlab_course.harness import executed

GROUND = {"source": "[0]", "claim": "c", "expected": "e", "setting": "s", "ours": "o"}


def judged(id: str, values: list[float], **changes) -> judging.Judged:
    statement = Statement(id=id, says=f"{id} is so.", measure="end_accuracy", margin=0.1, plus=[{}], **changes)
    claim = Claim(id=id, statements=[statement], **GROUND)
    return judging.Judged(claim, statement, judge(id, values, 0.1, expect="positive", planned=3), 6)


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement for each word, instead of those of the course."""
    found = {
        "x-1a": [0.5, 0.6, 0.7],
        "x-1b": [-0.5, -0.6, -0.7],
        "x-1c": [0.0, 0.01, -0.01],
        "x-1d": [0.0, 1.0, -1.0],
        "x-2": [],
        "x-3": [0.5, 0.5001],
    }
    every = {id: judged(id, values) for id, values in found.items()}
    monkeypatch.setattr(judging, "stored", lambda: every)
    monkeypatch.setattr(judging, "course", dict)


@pytest.mark.parametrize(
    ("id", "starts"),
    [
        ("x-1a", "✓ holds (stored): x-1a is so."),
        ("x-1b", "✗ opposite (stored): "),
        ("x-1c", "≈ equivalent within δ (stored): "),
        ("x-1d", "? undecided (stored): "),
        ("x-2", "– not measured yet (stored): "),
    ],
)
def test_a_stored_verdict_is_a_word_with_its_numbers(id: str, starts: str, capsys: pytest.CaptureFixture[str]) -> None:
    claims.stored(id)
    line = capsys.readouterr().out
    assert line.startswith(starts)
    assert "margin δ = 0.1" in line
    assert f"Row {id} of results/REPRODUCTION.md" in line
    assert "default setting" not in line


def test_more_than_two_verdicts_are_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(display, "publish", made.append)
    claims.stored("x-1a", "x-1b")
    assert not any("<details" in one["text/html"] for one in made)
    made.clear()
    claims.stored("x-1a", "x-1b", "x-2")
    lines = [one["text/html"].partition("</summary>")[0] for one in made]
    assert "+0.6000 [+0.3516, +0.8484], n = 3, not after correction" in lines[0] and "holds" in lines[0]
    assert "opposite" in lines[1] and "not measured yet" in lines[2]
    assert all(shown.STORED in one for one in made)


def test_mean_interval_and_seeds_are_those_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    claims.stored("x-1a")  # mean 0.6, sd 0.1, t = 4.3027 for two degrees of freedom: ± 0.2484
    assert "+0.6000 [+0.3516, +0.8484], margin δ = 0.1, 3 seeds" in capsys.readouterr().out
    claims.stored("x-3")
    assert "2 of 3 planned seeds" in capsys.readouterr().out


def test_whether_it_stands_is_said_of_those_that_decide(capsys: pytest.CaptureFixture[str]) -> None:
    claims.stored("x-1a")
    assert "not significant among all 6 examined (Holm)" in capsys.readouterr().out
    claims.stored("x-1d")
    assert "Holm" not in capsys.readouterr().out


def test_another_setting_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    claims.stored("x-1a", differs="dataset=mnist")
    assert "belongs to the default setting; this run has dataset=mnist" in capsys.readouterr().out


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"id='x-1e': must be one of .*Did you mean 'x-1[abcd]'"):
        claims.stored("x-1e")


def test_the_harness_collects_what_stored_shows_and_nothing_else() -> None:
    entries = [shown.as_data(one) for one in judging.stored().values()]
    assert [entry["low"] for entry in entries if entry["n"] == 0] == [None]
    cells = [new_code_cell("s", outputs=[new_output("display_data", {claims.STORED: entry})]) for entry in entries]
    notebook = new_notebook(cells=cells)
    assert executed.problems(notebook) == []
    assert executed.verdicts(notebook) == []
    assert json.loads(json.dumps(executed.stored(notebook), allow_nan=False)) == entries
    for broken in ({}, "holds", entries[0] | {"verdict": "true"}, entries[0] | {"mean": "0.6"}, {"id": "x-1a"}):
        notebook = new_notebook(
            cells=[new_code_cell("s", outputs=[new_output("display_data", {claims.STORED: broken})])]
        )
        assert "a stored verdict must be what claims.stored shows" in executed.problems(notebook)[0]
        assert executed.stored(notebook) == []


@pytest.fixture
def bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rounds with mean 0.5 and standard deviation 0.1, of two settings."""
    table = pd.DataFrame({"algorithm": ["a"] * 10 + ["b"] * 10, "mu": [math.nan] * 20, "round": [*range(1, 11)] * 2})
    table = table.assign(test_accuracy_mean=0.5, test_accuracy_std=0.1, n=5)
    monkeypatch.setattr(tables, "read", lambda name, folder=None: table if name == "t_curves" else pd.DataFrame())


@pytest.mark.parametrize(("value", "sign"), [(0.5, "✓ inside"), (0.69, "✓ inside"), (0.71, "✗ outside"), (0.2, "✗ o")])
def test_a_live_run_is_inside_within_two_standard_deviations(
    value: float, sign: str, bands: None, capsys: pytest.CaptureFixture[str]
) -> None:
    claims.band(dict.fromkeys(range(1, 11), value), "t", {"algorithm": "a", "mu": ""})
    line = capsys.readouterr().out
    assert line.startswith(sign)
    assert "in 10 of 10 compared rounds" in line


@pytest.mark.parametrize(("left", "sign"), [(2, "✓ inside"), (3, "✗ outside")])
def test_a_run_may_leave_the_band_in_a_fifth_of_the_rounds(
    left: int, sign: str, bands: None, capsys: pytest.CaptureFixture[str]
) -> None:
    claims.band({r: 0.9 if r <= left else 0.5 for r in range(1, 11)}, "t", {"algorithm": "a"})
    assert capsys.readouterr().out.startswith(sign)


def test_a_band_that_is_not_there_is_refused(bands: None) -> None:
    with pytest.raises(ValueError, match=r"table='other_curves': has not been measured"):
        claims.band({1: 0.5}, "other")
    with pytest.raises(ValueError, match="fits several settings"):
        live.curve("t", {})
    with pytest.raises(ValueError, match="has no column law"):
        live.curve("t", {"law": "iid"})
    with pytest.raises(ValueError, match="has no row with"):
        live.curve("t", {"algorithm": "c"})
    with pytest.raises(ValueError, match="live: has no round"):
        claims.band({11: 0.5}, "t", {"algorithm": "a"})
