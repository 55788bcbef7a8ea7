"""The table of timings is what notebooks and the kept run say."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("timings", ROOT / "tools" / "timings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    timings = load()
    assert timings.TEXT.read_text(encoding="utf-8") == timings.text(), "run python tools/timings.py"


def test_no_chapter_runs_for_more_than_half_a_minute() -> None:
    """What was measured and kept: a chapter that grew is measured again before its table is."""
    import pandas as pd

    seconds = pd.read_csv(load().SECONDS).seconds
    assert len(seconds) == 16 and (seconds <= 30).all()
