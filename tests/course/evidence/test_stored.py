"""Stored verdicts in a notebook: their words, their shapes, and a live run against a stored band."""

import json
import math
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from fedlab_course import chapter, display
from fedlab_course.check import claims
from fedlab_course.evidence import judging, shown, tables
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.judging import judge
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
        assert "margin δ = 0.1" in line and f"Row {id} of results/claims/others.md" in line
        assert "default setting" not in line
        # mean 0.6, sd 0.1, t = 4.3027 for two degrees of freedom: ± 0.2484
        assert ("+0.6000 [+0.3516, +0.8484], margin δ = 0.1, 3 seeds" in line) == (id == "x-1a")
        assert ("2 of 3 planned seeds" in line) == (id == "x-3")
        # only of a verdict that is decided
        assert ("not significant among all 6 examined (Holm)" in line) == (id not in ("x-1d", "x-2"))
    monkeypatch.setattr(chapter, "_differs", ["dataset=mnist"])
    claims.stored("x-1a")
    assert "belongs to the default setting; this run has dataset=mnist" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"id='x-1e': must be one of .*Did you mean 'x-1[abcdfg]'"):
        claims.stored("x-1e")


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


def test_the_harness_collects_each_stored_verdict_once() -> None:
    entries = [shown.as_data(one) for one in judging.stored().values()]
    cells = [
        new_code_cell("s", outputs=[new_output("display_data", {claims.STORED: entry})]) for entry in entries + entries
    ]
    notebook = new_notebook(cells=cells)
    assert executed.problems(notebook) == executed.verdicts(notebook) == []
    assert json.loads(json.dumps(executed.stored(notebook), allow_nan=False)) == entries


@pytest.fixture
def bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rounds with mean 0.5 and standard deviation 0.1, of two settings."""
    table = pd.DataFrame({"algorithm": ["a"] * 10 + ["b"] * 10, "mu": [math.nan] * 20, "round": [*range(1, 11)] * 2})
    table = table.assign(test_accuracy_mean=0.5, test_accuracy_std=0.1, n=5)
    monkeypatch.setattr(tables, "read", lambda name, folder=None: table if name == "t_curves" else pd.DataFrame())


def run(values: list[float], first: int = 1) -> Any:
    """What a band needs of a history with these accuracies."""
    frame = pd.DataFrame({"round": range(first, first + len(values)), "test_accuracy": values})
    return SimpleNamespace(frame=frame)


@pytest.mark.parametrize(
    ("values", "sign"),
    [
        ([0.5] * 10, "✓ inside the stored band in 10 of 10"),
        ([0.69] * 10, "✓ inside the stored band in 10 of 10"),
        ([0.71] * 10, "✗ outside the stored band in 10 of 10"),
        ([0.2] * 10, "✗ outside the stored band in 10 of 10"),
        ([0.9] * 2 + [0.5] * 8, "✓ inside the stored band in 8 of 10"),  # a fifth of the rounds may leave it
        ([0.9] * 3 + [0.5] * 7, "✗ outside the stored band in 3 of 10"),
    ],
)
def test_a_live_run_is_inside_within_two_standard_deviations(
    values: list[float], sign: str, bands: None, capsys: pytest.CaptureFixture[str]
) -> None:
    claims.band(run(values), "t", {"algorithm": "a", "mu": ""})
    line = capsys.readouterr().out
    assert line.startswith(sign[0]) and sign[2:] in line


def test_several_runs_are_compared_each(bands: None, capsys: pytest.CaptureFixture[str]) -> None:
    claims.band([run([0.5] * 10), run([0.9] * 10)], "t", {"algorithm": "a"})
    assert "outside the stored band in 10 of 20 compared rounds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "where", "first", "words"),
    [
        ("other", {}, 1, r"table='other_curves': has not been measured"),
        ("t", {}, 1, "fits several settings"),
        ("t", {"law": "iid"}, 1, "has no column law"),
        ("t", {"algorithm": "c"}, 1, "has no row with"),
        ("t", {"algorithm": "a"}, 11, "live: has no round"),
    ],
)
def test_a_band_that_is_not_there_is_refused(
    table: str, where: dict[str, str], first: int, words: str, bands: None
) -> None:
    with pytest.raises(ValueError, match=words):
        claims.band(run([0.5], first), table, where)
