"""What is there for those who use code hosts: workflows, citation, changelog, and links that lead somewhere."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import fedlab_core

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]
with_make = pytest.mark.skipif(os.name == "nt", reason="Windows has no make")
TARGETS = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
# https://github.com/citation-file-format/citation-file-format, schema 1.2.0: its keys, required ones and rules
CITATION_KEYS = {
    *("abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords"),
    *("license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact"),
    *("repository-code", "title", "type", "url", "version"),
}
ENTITY_KEYS = {
    *("address", "alias", "city", "country", "date-end", "date-start", "email", "fax", "location", "name", "orcid"),
    *("post-code", "region", "tel", "website"),
}


def commands(job: str) -> list[str]:
    return [line for step in JOBS[job]["steps"] if "run" in step for line in step["run"].strip().splitlines()]


def made_by(target: str) -> list[str]:
    """The commands that a make target runs, without the set-up."""
    run = ["make", "--dry-run", "--always-make", "--no-print-directory", target, "VENV=.venv"]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in said if re.match(r"\.venv(-oldest)?/bin/python", line)]


def set_up_by(target: str) -> str:
    run = ["make", "--dry-run", "--no-print-directory", target]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return re.search(r"tools/setup_env\.py (.*)", said)[1]


def as_on_windows(command: str) -> str:
    return command.replace(".venv/bin/python", r".venv\Scripts\python")


def test_the_tests_run_on_three_systems_and_two_versions_of_python() -> None:
    systems = {JOBS["windows"]["runs-on"], *JOBS["test"]["strategy"]["matrix"]["os"]}
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}
    for job in ("test", "windows"):
        versions = JOBS[job]["strategy"]["matrix"]["python"]
        assert versions[0] == "3.11" and len(versions) == 2
        assert all(isinstance(version, str) for version in versions)  # 3.10 as a number would be 3.1
    assert commands("test") == ["make test"]
    assert commands("oldest") == ["make oldest"]


def test_every_make_target_of_the_workflow_is_there() -> None:
    named = [shlex.split(line)[1] for job in JOBS for line in commands(job) if line.startswith("make ")]
    assert named
    assert set(named) <= set(TARGETS)


@with_make
def test_the_job_on_windows_does_what_make_test_does_and_readme_says_the_same() -> None:
    first, *rest = commands("windows")
    extras = set_up_by("test")
    assert first == rf"python tools\setup_env.py {extras}"
    assert rest == [as_on_windows(line).strip() for line in made_by("test")]
    for line in (rf"py -3.11 tools\setup_env.py {extras}", *rest):
        assert f"\n{line}\n" in README, line


@with_make
@pytest.mark.parametrize("target", ["course", "lab"])
def test_readme_gives_the_commands_without_make(target: str) -> None:
    assert f"\npy -3.11 tools\\setup_env.py {set_up_by(target)}\n" in README
    (line,) = made_by(target)
    assert f"\n{as_on_windows(line).strip()}\n" in README


def test_actions_are_pinned_by_tag_and_packages_are_kept() -> None:
    for job in JOBS.values():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", name) for name in used), used
        (python,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/setup-python")]
        assert python["cache"] == "pip"
        assert (ROOT / python["cache-dependency-path"]).is_file()
        assert job["timeout-minutes"] <= 60
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_workflows_and_pages_name_no_machine() -> None:
    for name in (".github/workflows/test.yml", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"):
        assert not re.search(r"/(home|root|work|tmp|Users)/", (ROOT / name).read_text(encoding="utf-8")), name


def test_the_citation_is_valid() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"authors", "cff-version", "message", "title"} <= set(citation) <= CITATION_KEYS
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    assert all(isinstance(citation[name], str) and citation[name] for name in ("message", "title", "abstract"))
    assert citation["authors"]
    for author in citation["authors"]:
        assert author["name"] and set(author) <= ENTITY_KEYS
    assert len(set(citation["keywords"])) == len(citation["keywords"]) > 0
    assert all(isinstance(word, str) for word in citation["keywords"])


def test_the_citation_names_the_licences_of_the_project() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'license = "{" AND ".join(citation["license"])}"' in project


def test_the_changelog_keeps_its_form() -> None:
    """Keep a Changelog 1.1.0: versions newest first with ISO dates, changes by kind."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changes.startswith("# Changelog\n")
    versions = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", version) for version in versions[1:]]
    assert dated and all(dated)
    numbers = [tuple(map(int, match.groups()[:3])) for match in dated]
    assert numbers == sorted(numbers, reverse=True)
    assert ".".join(map(str, numbers[0])) == fedlab_core.__version__
    kinds = set(re.findall(r"^### (.*)$", changes, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def anchors(path: Path) -> set[str]:
    """The places that headings make, as code hosts name them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_places_that_are_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        file, _, place = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not place or target.suffix != ".md" or place in anchors(target), link


def test_readme_says_where_pytorchs_builds_come_from() -> None:
    assert "--index-url https://download.pytorch.org/whl/cpu" in README
    assert "make course TORCH=cpu" in README
