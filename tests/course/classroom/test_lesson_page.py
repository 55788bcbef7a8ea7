"""The page on the lesson is true: its options, phases and code exist."""

import argparse
import ast
import re

from fedlab_course import folders
from fedlab_course.classroom import command
from fedlab_course.classroom.lessons import PHASES
from fedlab_course.classroom.options import ClassOptions
from fedlab_course.classroom.room import VIEWS

PAGE = (folders.NOTEBOOKS.parent / "docs/teaching/the-class-is-the-federation.md").read_text(
    "utf-8"
)


def test_every_option_on_the_page_exists() -> None:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    known = {name for action in parser._actions for name in action.option_strings}
    named = set(re.findall(r"`(--[a-z]+)", PAGE)) | set(re.findall(r" (--[a-z]+) ", PAGE))
    assert len(named) > 6
    assert named <= known


def test_the_table_of_the_lesson_has_the_phases_in_order() -> None:
    rows = re.findall(r"^\| \d+ \| (\d) ([^|]+) \|", PAGE, re.MULTILINE)
    assert rows == [(str(number), phase.name) for number, phase in enumerate(PHASES)]
    minutes = re.findall(r"^\| (\d+) \| \d ", PAGE, re.MULTILINE)
    assert sum(map(int, minutes)) == 25


def test_the_short_lesson_takes_ten_minutes() -> None:
    short = PAGE.split("## Ten minutes")[1].split("## ")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", short, re.MULTILINE))) == 10


def test_the_code_on_the_page_is_code() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        ast.parse(block)


def test_each_phase_sets_what_the_lecturer_could_set() -> None:
    for phase in PHASES:
        options = ClassOptions().changed(phase.options)
        assert options.settings(5).clients_per_round == 5
        assert options.make_algorithm() is not None
        assert phase.view in VIEWS
