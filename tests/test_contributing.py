"""The examples of CONTRIBUTING.md, as they stand: made in a copy of the project, where its commands are run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ("fedlab_core", "fedlab_course", "notebooks", "tests", "results")
SECTIONS = ("An algorithm", "A chapter", "An exercise")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


def blocks(section: str) -> list[tuple[str, str, str]]:
    """The blocks of a section: the file named last before it, its language, its text."""
    body = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    (chosen,) = (part for part in body if part.startswith(section))
    found, name = [], ""
    for file, language, block in re.findall(
        r"\*\*`([^`]+)`\*\*|^```(\w+)\n(.*?)^```", chosen, re.DOTALL | re.MULTILINE
    ):
        name = file or name
        if not file:
            found.append((name, language, block))
    return found


def changed(text: str, difference: str) -> str:
    """``text`` after a difference whose unmarked and removed lines occur in it once, together."""
    lines = [(line[:1], line[1:]) for line in difference.splitlines(keepends=True)]
    old = "".join(line for sign, line in lines if sign != "+")
    new = "".join(line for sign, line in lines if sign != "-")
    if old.endswith("# without\n"):  # the line goes on
        old, new = old.rstrip("\n"), new.rstrip("\n")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *command.split()[1:]]
    own = {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}
    return subprocess.run(words, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the files of all examples, before any command."""
    copy = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for name, language, block in (found for section in SECTIONS for found in blocks(section)):
        path = copy / name
        if language == "diff":
            path.write_text(changed(path.read_text(encoding="utf-8"), block), encoding="utf-8")
        elif language != "sh":
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(exist_ok=True)
            path.write_text(block, encoding="utf-8")
    return copy


@pytest.mark.parametrize("section", SECTIONS)
def test_every_command_of_an_example_succeeds(project: Path, section: str) -> None:
    commands = [line for _, language, block in blocks(section) if language == "sh" for line in block.splitlines()]
    assert len(commands) >= 2
    for command in commands:
        result = run(project, command)
        assert result.returncode == 0, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
        if "pytest" in command:
            assert re.search(r"[1-9]\d* passed", result.stdout), command


def test_the_examples_have_no_fault_of_style_and_the_new_chapter_none_of_the_rules(project: Path) -> None:
    written = sorted({name for section in SECTIONS for name, _, _ in blocks(section) if name.endswith(".py")})
    assert len(written) == 6
    names = " ".join(written)
    commands = ["skeleton.py", "-m fedlab_course.check 15", "-m fedlab_course lint --only 15"]
    for command in (*commands, f"-m ruff format --check {names}", f"-m ruff check {names}"):
        result = run(project, f"python {command}")
        assert result.returncode == 0, result.stdout + result.stderr
