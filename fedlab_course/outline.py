"""The chapters of the course: their one question each, their track, and their parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_course import words

FOLDER = Path(__file__).parent / "chapters"

_ = translator(__name__)

# The names of the six lessons, as in docs/teaching/six-lessons.md.
LESSONS = (
    _("One round, and clients that differ"),
    _("Hold clients back, or correct them"),
    _("Choose who takes part"),
    _("Train in turn, and do not forget"),
    _("Find the mistake"),
    _("Race, and write your own"),
)

TRACKS = {"core": _("core"), "further": _("further")}


@dataclass(frozen=True)
class Chapter:
    """A notebook ``STEM.ipynb``, whose stem begins with its number, and the ``question`` that it
    answers.

    ``defaults``: the values in its parameters cell, to which stored verdicts belong; the same in
    the notebook is checked by :mod:`fedlab_course.lint`. ``also``: the symbols of this chapter
    alone, TeX → meaning. ``lesson``: which of the six lessons has it, 0 for none. ``was``: the
    stems of earlier chapters whose content it has.
    """

    stem: str
    track: str
    title: str
    question: str
    defaults: Mapping[str, Any]
    also: Mapping[str, str]
    lesson: int = 0
    was: Sequence[str] = ()

    @property
    def number(self) -> str:
        """Two digits, such as "01"."""
        return self.stem[:2]

    @property
    def place(self) -> str:
        """Its lesson with the name, such as "Lesson 3: Choose who takes part"."""
        if not self.lesson:
            return _("Further chapter")
        name = LESSONS[self.lesson - 1]
        return _("Lesson {number}: {name}").format(number=self.lesson, name=name)

    @property
    def card(self) -> str:
        """A small picture of its idea, as SVG."""
        return (self.folder / "card.svg").read_text(encoding="utf-8")

    @property
    def folder(self) -> Path:
        """The folder of the chapter's package."""
        return FOLDER / f"ch{self.stem}"


def get(number: str) -> Chapter:
    """The chapter with this number, such as "01". Raises ``ValueError`` that lists those there
    are.
    """
    by_number = {chapter.number: chapter for chapter in CHAPTERS}
    return by_number[validation.choice("chapter", number, by_number)]


def named(stem: str) -> Chapter | None:
    """The chapter whose notebook is called so, such as "01_noniid_and_drift"; None for other
    notebooks.
    """
    return next((chapter for chapter in CHAPTERS if chapter.stem == stem), None)


def table(folder: str = "") -> str:
    """The chapters as a Markdown table: number, title with a link to its notebook in ``folder``,
    track, question.
    """
    head = " | ".join((_("no."), _("chapter"), _("track"), _("its question")))
    text = f"| {head} |\n|---|---|---|---|"
    for chapter in CHAPTERS:
        link = f"[{chapter.title}]({folder}{chapter.stem}.ipynb)"
        text += (
            f"\n| {int(chapter.number)} | {link} | {TRACKS[chapter.track]} | {chapter.question} |"
        )
    return text


def _read() -> tuple[Chapter, ...]:
    chapters = []
    for file in sorted(FOLDER.glob("ch[0-9][0-9]_*/chapter.toml")):
        given = words.read(file, f"fedlab_course.chapters.{file.parent.name}")
        defaults = {
            name: None if value == "None" else value
            for name, value in given.pop("defaults", {}).items()
        }
        chapters.append(
            Chapter(file.parent.name[2:], defaults=defaults, also=given.pop("also", {}), **given)
        )
    return tuple(chapters)


CHAPTERS = _read()
