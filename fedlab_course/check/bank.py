"""What is asked: predictions and quiz questions, read from the files of this folder."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from fedlab_core import validation
from fedlab_course.chapters import outline

_ID = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Prediction:
    """A question to be answered before a run: ``options`` by their keys, which of them ``happened``, and ``because``:
    what is seen, in a sentence with its numbers.
    """

    id: str
    asks: str
    options: dict[str, str]
    happened: str
    because: str


@dataclass(frozen=True)
class Option:
    """An answer of a quiz, and ``why`` it is right or not."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question of a quiz with its options, one of them right."""

    id: str
    asks: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Bank:
    """The questions of a chapter, by id and in their order."""

    predictions: dict[str, Prediction]
    quiz: dict[str, Question]


@cache
def of_chapter(number: str) -> Bank:
    """The questions of the chapter ``number``, such as "01"; none if it has no file.

    Raises ``ValueError`` for a file that does not hold questions as the package describes them.
    """
    chapter = next((one for one in outline.CHAPTERS if one.number == number), None)
    if chapter is None:
        return Bank({}, {})
    path = chapter.folder / "questions.toml"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        for name in given:
            validation.choice("table", name, ["predict", "quiz"])
        predictions = [Prediction(**one) for one in given.get("predict", [])]
        quiz = [_question(one) for one in given.get("quiz", [])]
        faults = [*_twice(number, predictions), *_twice(number, quiz)]
        faults += [fault for one in predictions for fault in _of_prediction(one)]
        faults += [fault for one in quiz for fault in _of_question(one)]
        if faults:
            raise ValueError("; ".join(faults))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{chapter.room}/{path.name}: {error}") from error
    return Bank({one.id: one for one in predictions}, {one.id: one for one in quiz})


def prediction(id: str) -> Prediction:
    """The prediction with this id. Raises ``ValueError`` that names the nearest one."""
    known = of_chapter(id[:2]).predictions
    return known[validation.choice("prediction", id, known)]


def _question(given: dict[str, Any]) -> Question:
    options = tuple(Option(**one) for one in given.pop("options", []))
    return Question(**given, options=options)


def _twice(number: str, asked: list[Any]) -> list[str]:
    ids = [one.id for one in asked]
    wrong = [f"{id}: an id is {number}- and a name, such as {number}-skew" for id in ids if not _named(id, number)]
    return wrong + [f"{id}: the id is used twice" for id in dict.fromkeys(ids) if ids.count(id) > 1]


def _named(id: str, number: str) -> bool:
    return bool(_ID.fullmatch(id)) and id.startswith(f"{number}-")


def _of_prediction(one: Prediction) -> list[str]:
    if len(one.options) < 2:
        return [f"{one.id}: needs two options or more"]
    return [] if one.happened in one.options else [f"{one.id}: what happened, {one.happened!r}, is no option"]


def _of_question(one: Question) -> list[str]:
    found = [] if 3 <= len(one.options) <= 5 else [f"{one.id}: needs three to five options"]
    right = sum(option.right for option in one.options)
    return found + ([] if right == 1 else [f"{one.id}: {right} options are right, and one must be"])
