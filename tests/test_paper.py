"""The paper about the project: what it cites is listed, and it can be built."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

PAPER = Path(__file__).parents[1] / "paper"
TEXT = (PAPER / "paper.md").read_text(encoding="utf-8")
LISTED = set(
    re.findall(r"^@\w+\{(\w+),", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
)


def test_the_list_of_references_holds_what_the_paper_cites_and_no_more() -> None:
    _, _, body = TEXT.split("---\n", 2)
    assert LISTED
    assert set(re.findall(r"@(\w+)", body)) == LISTED


def test_the_head_names_what_the_journal_asks_for() -> None:
    _, head, _ = TEXT.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= fields.keys()
    assert (PAPER / fields["bibliography"]).is_file()


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="needs pandoc")
def test_it_can_be_built(tmp_path: Path) -> None:
    page = tmp_path / "paper.html"
    command = ["pandoc", "--standalone", "--citeproc", "paper.md", "--output", str(page)]
    built = subprocess.run(command, cwd=PAPER, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert "[WARNING] Citeproc: citation" not in built.stderr
    assert "Statement of need" in page.read_text(encoding="utf-8")
