"""CONTRIBUTING.md is true. Its examples, as they stand, are made in a copy of the project, where
their commands are run, and then all tests that need no browser.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedlab_course import lint, outline, reading
from fedlab_course.check import questions
from tests import test_size, test_style

ROOT = Path(__file__).parents[1]
SECTIONS = ("An algorithm", "A partitioner", "A chapter", "An exercise")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROSE = " ".join(TEXT.split())
HIDDEN = {".github", ".gitattributes", ".gitignore", ".dockerignore", ".pre-commit-config.yaml"}
BUILT = {"build", "dist", "hosted", "node_modules", "__pycache__"}


def blocks(section: str) -> list[tuple[str, str, str]]:
    """The blocks of a section: the file named last before it, its language, its text."""
    body = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    (chosen,) = (part for part in body if part.startswith(f"{section}\n"))
    found = []
    name = ""
    for file, language, block in re.findall(
        r"\*\*`([^`]+)`\*\*|^```(\w+)\n(.*?)^```", chosen, re.DOTALL | re.MULTILINE
    ):
        name = file or name
        if not file:
            found.append((name, language, block))
    return found


def commands(section: str) -> list[str]:
    """The commands of a section, each on one line."""
    shell = "".join(block for _, language, block in blocks(section) if language == "sh")
    return shell.replace("\\\n", " ").splitlines()


def changed(text: str, difference: str) -> str:
    """``text`` after a difference whose unmarked and removed lines occur in it once, together."""
    lines = [(line[:1], line[1:]) for line in difference.splitlines(keepends=True)]
    old = "".join(line for sign, line in lines if sign != "+")
    new = "".join(line for sign, line in lines if sign != "-")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *shlex.split(command)[1:]]
    paths = filter(None, [str(folder), os.environ.get("PYTHONPATH")])
    own = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(words, cwd=folder, env=own, capture_output=True, text=True)


def left_out(folder: str, names: list[str]) -> set[str]:
    """What a copy of the project does not need: what commands have built, and hidden files."""
    hidden = {name for name in names if name.startswith(".")} - HIDDEN
    return hidden | BUILT | {name for name in names if name.endswith(".egg-info")}


def examples() -> dict[str, str]:
    """The files of all examples, and the files of the project that they change: path → text."""
    files: dict[str, str] = {}
    for name, language, block in (found for section in SECTIONS for found in blocks(section)):
        if language == "diff":
            before = files.get(name) or (ROOT / name).read_text(encoding="utf-8")
            files[name] = changed(before, block)
        elif language != "sh":
            assert not (ROOT / name).exists(), f"{name} is there already"
            files[name] = block
    return files


def with_examples(copy: Path) -> Path:
    """Copy the project to ``copy`` and write the files of all examples, before any command."""
    shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
    for name, text in examples().items():
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text, encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_examples(tmp_path_factory.mktemp("examples") / "project")


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_command_of_an_example_succeeds(project: Path, section: str) -> None:
    assert len(commands(section)) >= 2
    for command in commands(section):
        result = run(project, command)
        words = f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
        assert result.returncode == 0, words
        if "pytest" in command:
            assert re.search(r"[1-9]\d* passed", result.stdout), command


@pytest.mark.slow
def test_the_examples_have_no_fault_of_style_and_the_new_chapter_none_of_the_rules(
    project: Path,
) -> None:
    written = sorted(
        {name for section in SECTIONS for name, _, _ in blocks(section) if name.endswith(".py")}
    )
    assert len(written) == 10
    names = " ".join(written)
    checks = ["skeleton.py", "-m fedlab_course.check 15", "-m fedlab_course lint --only 15"]
    for command in (*checks, f"-m ruff format --check {names}", f"-m ruff check {names}"):
        result = run(project, f"python {command}")
        assert result.returncode == 0, result.stdout + result.stderr


# Their tests see no further algorithm, partitioner, chapter or exercise.
ELSEWHERE = (
    "tests/conformance",
    "tests/core/remote",
    "tests/core/sweep",
    "tests/course/evidence",
    "tests/course/experiments",
    "tests/course/theory",
    "tests/flower",
)


@pytest.mark.slow
def test_all_tests_of_the_copy_pass(tmp_path: Path) -> None:
    """After all examples. Left out are the tests in a browser and those ``ELSEWHERE``, and those of
    single chapters.
    """
    copy = with_examples(tmp_path / "project")
    for section in SECTIONS:
        for command in commands(section):
            if "pytest" not in command:
                assert run(copy, command).returncode == 0, command
    marks = "not slow and not needs_browser"
    own = "tests/test_contributing.py"  # it makes the examples, which are there already
    others = " ".join(f"--ignore {path}" for path in (own, *ELSEWHERE))
    chapters = "tests/course/chapters/test_[!n]*.py"  # all but test_notebooks*.py
    chosen = f"{others} --ignore-glob '{chapters}'"
    result = run(copy, f"python -m pytest -q -n 2 -m '{marks}' {chosen}")
    failed = re.findall(r"^(?:FAILED|ERROR) .*$", result.stdout, re.MULTILINE)
    assert failed == []
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]


def test_every_difference_of_an_example_still_applies() -> None:
    assert {"tests/core/engines/test_equality.py", "README.md"} <= examples().keys()


def test_the_limits_of_code_are_those_of_the_tests() -> None:
    code = (test_size.FILE, test_size.FUNCTION, test_size.LINE)
    said = "at most {} lines, a function at most {} lines below its docstring, and a line of code"
    assert said.format(*code[:2]) in PROSE
    assert f"or text at most {code[2]} columns" in PROSE
    packed = test_style.PACKED_PER_1000_LINES
    assert f"`a, b = x, y` at most {packed} times in 1,000 lines" in PROSE


def test_the_limits_of_a_chapter_are_those_of_the_rules() -> None:
    limits = reading.LIMITS
    said = (
        f"at most {limits['cells']} cells, {limits['lines']} lines of visible code, "
        f"{limits['words']:,} words outside folds and {limits['folded']} inside, and "
        f"{limits['verdicts']} stored verdicts, of which at most {limits['in_section']} are in one "
        f"section (`fedlab_course/reading.py`). A cell has at most {lint.MOST_LINES} lines of at "
        f"most {lint.MOST_COLUMNS} columns"
    )
    assert said in PROSE


def test_the_numbers_of_questions_are_those_of_the_chapters() -> None:
    banks = [questions.of_chapter(chapter.number) for chapter in outline.CHAPTERS]
    predictions = sorted(len(bank.predictions) for bank in banks)
    quizzes = sorted(len(bank.quiz) for bank in banks)
    assert (predictions[0], predictions[-1], quizzes[0], quizzes[-1]) == (2, 6, 2, 4)
    said = "Two to six predictions and two to four questions for the quiz make"
    assert said in PROSE


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/]+/[\w.]+\.\w+)`", TEXT))))
def test_every_file_that_the_page_names_exists_or_is_an_example(path: str) -> None:
    assert path in examples() or (ROOT / path).exists()
