"""The page for instructors says what the program does."""

import re
from dataclasses import fields

import pytest

from fedlab_course import folders
from fedlab_course.answering.algorithms import HOOKS
from fedlab_course.cli import main
from fedlab_course.grading import Limits

ROOT = folders.NOTEBOOKS.parent
PAGE = (ROOT / "docs/teaching/grading.md").read_text(encoding="utf-8")
RECIPE = (ROOT / "docker/grading/Dockerfile").read_text(encoding="utf-8")


def test_the_limits_are_the_defaults() -> None:
    limits = Limits()
    rows = {"cell": "{:g} s", "total": "{:g} s", "memory": "{} MB", "processes": "{}", "file": "{} MB"}
    assert set(rows) < {field.name for field in fields(Limits)}
    for name, form in rows.items():
        assert f"| {form.format(getattr(limits, name))} |" in PAGE, name


def test_its_options_and_hooks_are_there(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    text = capsys.readouterr().out
    commands = re.findall(r"^(?:python -m fedlab_course grade|    fedlab-grading) .*$", PAGE, re.MULTILINE)
    assert len(commands) == 3
    for option in {*re.findall(r"--[a-z]+", " ".join(commands)), "--timeout", "--total", "--memory", "--user"}:
        assert option in text
        assert f"`{option}" in PAGE or option in " ".join(commands)
    for hook in HOOKS:
        assert f"`{hook}`" in PAGE


def test_the_recipe_copies_what_is_there_and_hides_the_checks() -> None:
    for line in re.findall(r"^COPY (.*)$", RECIPE, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    assert "chmod -R go-rwx" in RECIPE
    assert '"grade", "--user", "student"' in RECIPE
    assert "docker/grading/Dockerfile" in PAGE
