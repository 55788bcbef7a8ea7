"""The files that code hosts read: workflow, citation, changelog; and links that lead somewhere."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

import fedlab_core

ROOT = Path(__file__).parents[1]
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))[
    "jobs"
]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *(ROOT / "docs").rglob("*.md"),
]


def commands(job: str) -> list[str]:
    return [
        line
        for step in JOBS[job]["steps"]
        if "run" in step
        for line in step["run"].strip().splitlines()
    ]


def without_make(target: str) -> list[str]:
    """What a make target runs, as it is typed on Windows; the set-up first."""
    run = ["make", "--dry-run", "--always-make", "--no-print-directory", target, "VENV=.venv"]
    said = subprocess.run(
        run, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    extras = next(
        re.search(r"tools/setup_env\.py (.*)", line)[1]
        for line in said
        if "tools/setup_env.py" in line
    )
    rest = [line.strip().replace(".venv/bin/python", r".venv\Scripts\python") for line in said]
    return [rf"tools\setup_env.py {extras}", *(line for line in rest if line.startswith(".venv"))]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no make")
@pytest.mark.parametrize("target", ["course", "lab", "test"])
def test_the_page_gives_the_commands_for_windows(target: str) -> None:
    first, *rest = without_make(target)
    assert "\n".join([f"py -3.11 {first}", *rest]) in INSTALL
    if target == "test":
        assert commands("windows") == [f"python {first}", *rest]


def test_the_changelog_ends_in_the_version_of_the_library() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *versions = re.findall(r"^## \[(.*?)\]", changes, re.MULTILINE)
    assert (first, versions[0]) == ("Unreleased", fedlab_core.__version__)


def anchors(path: Path) -> set[str]:
    """The places that headings make, as code hosts name them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_links_lead_to_files_and_places_that_exist() -> None:
    wrong = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, place = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            outside = link.startswith(("http:", "https:", "mailto:"))
            if not outside and not (
                target.exists() and (target.suffix != ".md" or {place} <= {"", *anchors(target)})
            ):
                wrong.append((str(page.relative_to(ROOT)), link))
    assert wrong == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1000
