"""The table of timings has each chapter with the seconds of the stored run."""

import importlib.util
import json
from pathlib import Path

import pytest

from fedlab_course.chapters import outline


@pytest.fixture
def timings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The script as a module that writes elsewhere."""
    path = Path(__file__).resolve().parents[2] / "tools" / "timings.py"
    spec = importlib.util.spec_from_file_location("timings", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SECONDS", tmp_path / "chapters.csv")
    return module


def test_the_seconds_of_a_finished_run_are_in_the_table(tmp_path: Path, timings) -> None:
    entries = [{"name": one.stem, "status": "ok", "seconds": 100.0 + i} for i, one in enumerate(outline.CHAPTERS)]
    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps({"notebooks": entries}))
    timings.take(summary)
    rows = [line.split("|") for line in timings.text().splitlines() if " s |" in line]
    assert [row[5].strip() for row in rows] == [f"{100 + i} s" for i in range(len(outline.CHAPTERS))]
    entries[3]["status"] = "failed"
    summary.write_text(json.dumps({"notebooks": entries}))
    with pytest.raises(ValueError, match=outline.CHAPTERS[3].stem):
        timings.take(summary)
