"""Write docs/teaching/timings.md: how long each chapter takes to read and to run, section by section.

``python tools/timings.py``              from the notebooks and results/chapters.csv
``python tools/timings.py SUMMARY.json`` the same, after taking the seconds of a run into results/chapters.csv
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd

from fedlab_course import folders
from fedlab_course.chapters import outline
from fedlab_course.check import bank, registry
from fedlab_course.check.base import Proof
from fedlab_course.lint import form

ROOT = Path(__file__).resolve().parent.parent
SECONDS, TEXT = ROOT / "results" / "chapters.csv", ROOT / "docs" / "teaching" / "timings.md"
CHECKED, PROVED = 6, 10  # minutes for an exercise that is checked, and for a proof
_INTRODUCTION = f"""\
# How long it takes

Written by `python tools/timings.py` from the notebooks; the seconds are those of a run of the whole course in the quick
profile, on two cores, in [results/chapters.csv](../../results/chapters.csv). Reading counts {form.PACE} words of prose
a minute, with time to look at the figures. An exercise counts {CHECKED} minutes, a proof {PROVED}.
"""


def main(arguments: list[str]) -> int:
    """Write the table, after taking in the summary of a run if one is named."""
    if arguments:
        take(Path(arguments[0]))
    TEXT.write_text(text(), encoding="utf-8")
    print(f"written: {TEXT.relative_to(ROOT)}")
    return 0


def take(summary: Path) -> None:
    """Keep the seconds of a finished run. Raises ``ValueError`` if a chapter is missing or failed in it."""
    entries = {one["name"]: one for one in json.loads(summary.read_text(encoding="utf-8"))["notebooks"]}
    stems = [chapter.stem for chapter in outline.CHAPTERS]
    missing = [stem for stem in stems if entries.get(stem, {}).get("status") != "ok"]
    if missing:
        raise ValueError(f"{summary}: no finished run of {', '.join(missing)}")
    rows = [{"chapter": stem, "seconds": round(entries[stem]["seconds"], 1)} for stem in stems]
    pd.DataFrame(rows).to_csv(SECONDS, index=False)


def text() -> str:
    """The page: one line for each chapter, then one for each of its sections."""
    seconds = pd.read_csv(SECONDS).set_index("chapter").seconds
    lines = [
        _INTRODUCTION,
        "| chapter | track | read | exercises | run | cells | predictions | quiz |",
        "|---" * 8 + "|",
    ]
    parts = []
    for chapter in outline.CHAPTERS:
        notebook = nbformat.read(folders.NOTEBOOKS / f"{chapter.stem}.ipynb", as_version=4)
        known, tasks = bank.of_chapter(chapter.number), registry.of_chapter(chapter.number)
        proofs = sum(isinstance(task, Proof) for task in tasks)
        checked = len(tasks) - proofs
        minutes = CHECKED * checked + PROVED * proofs
        lines.append(
            f"| {chapter.number} {chapter.title} | {chapter.track} | {form.words(notebook) / form.PACE:.0f} min "
            f"| {minutes} min: {checked} checked, {proofs} proved | {seconds[chapter.stem]:.0f} s "
            f"| {len(notebook.cells)} | {len(known.predictions)} | {len(known.quiz)} |"
        )
        parts += [f"\n## {chapter.number} {chapter.title}\n", "| section | read |", "|---|---|"]
        parts += [f"| {heading} | {words / form.PACE:.0f} min |" for heading, words in sections(notebook)]
    return "\n".join([*lines, *parts]) + "\n"


def sections(notebook: Any) -> list[tuple[str, int]]:
    """The headings of level 2 and how many words stand below each, those of exercises left out."""
    found: list[tuple[str, list[Any]]] = [("Opening", [])]
    for cell in notebook.cells:
        if cell.cell_type != "markdown" or cell.get("id", "").startswith("ex-"):
            continue
        heading = re.match(r"## (.+)", cell.source)
        if heading:
            found.append((heading[1], []))
        found[-1][1].append(cell)
    return [(heading, form.words(nbformat.v4.new_notebook(cells=cells))) for heading, cells in found if cells]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
