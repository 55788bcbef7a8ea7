"""Predictions and quiz questions, read from ``questions.toml`` in the folder of each chapter."""

import tomllib
from dataclasses import dataclass
from functools import cache

from fedlab_core import validation
from fedlab_course.chapters import outline


@dataclass(frozen=True)
class Prediction:
    """A question before a run: ``options`` by key, what ``happened``, and ``because``: the result in numbers."""

    id: str
    asks: str
    options: dict[str, str]
    happened: str
    because: str

    def __post_init__(self) -> None:
        if self.happened not in self.options or len(self.options) < 2:
            raise ValueError(f"{self.id}: needs two options or more, and one of them as happened={self.happened!r}")


@dataclass(frozen=True)
class Option:
    """An answer of a quiz, and ``why`` it is right or wrong."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question of a quiz with three to five options, one of them right."""

    id: str
    asks: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        right = sum(option.right for option in self.options)
        if right != 1 or not 3 <= len(self.options) <= 5:
            raise ValueError(f"{self.id}: needs three to five options, one of them right; {right} are right")


@dataclass(frozen=True)
class Bank:
    """The questions of a chapter, by id and in their order."""

    predictions: dict[str, Prediction]
    quiz: dict[str, Question]


@cache
def of_chapter(number: str) -> Bank:
    """The questions of the chapter ``number``, such as "01".

    Raises ``ValueError`` for an unknown chapter and a file with a fault.
    """
    chapter = outline.get(number)
    path = chapter.folder / "questions.toml"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        for name in given:
            validation.choice("table", name, ["predict", "quiz"])
        predictions = [Prediction(**one) for one in given.get("predict", [])]
        quiz = [
            Question(**one | {"options": tuple(Option(**option) for option in one["options"])})
            for one in given.get("quiz", [])
        ]
        ids = [one.id for one in predictions] + [one.id for one in quiz]
        wrong = [id for id in ids if not id.startswith(f"{number}-") or ids.count(id) > 1]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: an id is {number}- and a name, and is used once")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    return Bank({one.id: one for one in predictions}, {one.id: one for one in quiz})


def prediction(id: str) -> Prediction:
    """The prediction with this id. Raises ``ValueError`` that names the nearest one."""
    known = of_chapter(id[:2]).predictions
    return known[validation.choice("prediction", id, known)]
