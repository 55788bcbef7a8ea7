"""Write docs/teaching/timings.md: how long each chapter takes to read and to run.

``python tools/timings.py`` writes it from the notebooks and results/chapters.csv; ``python
tools/timings.py SUMMARY.json`` copies the seconds of a run into results/chapters.csv first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pandas as pd

from fedlab_course import folders, outline, reading
from fedlab_course.check import questions, registry
from fedlab_course.check.base import Proof

ROOT = Path(__file__).resolve().parent.parent
SECONDS = ROOT / "results" / "chapters.csv"
TEXT = ROOT / "docs" / "teaching" / "timings.md"
# minutes for an exercise with a check, and for a proof
CHECKED = 6
PROVED = 10
_INTRODUCTION = f"""\
# How long each chapter takes

`python tools/timings.py` writes this page from the notebooks. A reader takes {reading.PACE} words a
minute. An exercise with a check counts {CHECKED} minutes, a proof {PROVED}. The seconds come from a
run of the whole course in the quick profile on two cores; they are in
[results/chapters.csv](../../results/chapters.csv).
"""


def main(arguments: list[str]) -> int:
    """Write the table, after reading the summary of a run if one is given."""
    if arguments:
        take(Path(arguments[0]))
    TEXT.write_text(text(), encoding="utf-8")
    print(f"written: {TEXT.relative_to(ROOT)}")
    return 0


def take(summary: Path) -> None:
    """Copy the seconds of a finished run. Raises ``ValueError`` if a chapter is missing or failed
    in it.
    """
    entries = {
        one["name"]: one for one in json.loads(summary.read_text(encoding="utf-8"))["notebooks"]
    }
    stems = [chapter.stem for chapter in outline.CHAPTERS]
    missing = [stem for stem in stems if entries.get(stem, {}).get("status") != "ok"]
    if missing:
        raise ValueError(
            f"{summary}: no finished run of {', '.join(missing)}; run the whole course without "
            "errors"
        )
    rows = [{"chapter": stem, "seconds": round(entries[stem]["seconds"], 1)} for stem in stems]
    pd.DataFrame(rows).to_csv(SECONDS, index=False)


def text() -> str:
    """The page, with one line for each chapter."""
    seconds = pd.read_csv(SECONDS).set_index("chapter").seconds
    columns = ("chapter", "track", "read", "exercises", "run", "cells", "predictions", "quiz")
    lines = [_INTRODUCTION, f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for chapter in outline.CHAPTERS:
        notebook = nbformat.read(folders.NOTEBOOKS / f"{chapter.stem}.ipynb", as_version=4)
        counted = reading.length(notebook)
        known = questions.of_chapter(chapter.number)
        tasks = registry.of_chapter(chapter.number)
        proofs = sum(isinstance(task, Proof) for task in tasks)
        checked = len(tasks) - proofs
        minutes = CHECKED * checked + PROVED * proofs
        lines.append(
            f"| {chapter.number} {chapter.title} | {chapter.track} | {counted.minutes} min: "
            f"{counted.words:,} words | {minutes} min: {checked} checked, {proofs} proved | "
            f"{seconds[chapter.stem]:.0f} s | {counted.cells} | {len(known.predictions)} | "
            f"{len(known.quiz)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
