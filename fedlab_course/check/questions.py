"""Questions of the course: predictions that the page keeps and scores, and quizzes that explain
every answer.

A chapter says ``questions.predict("01-skew")`` before a result and ``questions.outcome("01-skew")``
after it, and ends with ``questions.quiz("01")`` and ``questions.score("01")``. They are HTML with a
script of their own: a choice stays in the reader's browser, in JupyterLab as on a page, and never
reaches a file or a kernel.

All questions of a chapter are in ``questions.toml`` in its folder; texts are words with `code` and
$TeX$.
"""

import hashlib
import html
import itertools
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fedlab_core import validation
from fedlab_core.language import in_script, translator
from fedlab_core.plots import colours
from fedlab_course import chapter, outline, words
from fedlab_course.display import publish
from fedlab_course.formulas import to_mathml

_ = translator(__name__)
_numbers = itertools.count()
_UNSEEN = _("Show the answer without choosing")
# JupyterLab leaves the keys of an element with this attribute alone
_OWN_KEYS = 'data-lm-suppress-shortcuts="true"'


@dataclass(frozen=True)
class Prediction:
    """A question before a run: ``options`` by key, what ``happened``, and ``because``: the result
    in numbers. ``decides``: the run stands before the question, which asks for a decision.
    """

    id: str
    asks: str
    options: dict[str, str]
    happened: str
    because: str
    decides: bool = False

    @property
    def head(self) -> str:
        """The word before the question."""
        return _("Decide.") if self.decides else _("Predict.")

    def __post_init__(self) -> None:
        if self.happened not in self.options or len(self.options) < 2:
            raise ValueError(
                f"{self.id}: needs two options or more, and one of them as "
                f"happened={self.happened!r}"
            )


@dataclass(frozen=True)
class Option:
    """An answer of a quiz, and ``why`` it is right or wrong.

    ``source``: its text in English where ``text`` is a translation. It decides the order of the
    options, so that a choice is kept by the same place in every language.
    """

    text: str
    why: str
    right: bool = False
    source: str = ""


@dataclass(frozen=True)
class Question:
    """A question of a quiz with three to five options, one of them right."""

    id: str
    asks: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        right = sum(option.right for option in self.options)
        if right != 1 or not 3 <= len(self.options) <= 5:
            raise ValueError(
                f"{self.id}: needs three to five options, one of them right; {right} are right"
            )


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
    path = outline.get(number).folder / "questions.toml"
    try:
        given = words.read(path, f"fedlab_course.chapters.{path.parent.name}")
        source = tomllib.loads(path.read_text(encoding="utf-8"))
        for name in given:
            validation.choice("table", name, ["predict", "quiz"])
        predictions = [Prediction(**entry) for entry in given.get("predict", [])]
        quiz = [
            _question(entry, english)
            for entry, english in zip(given.get("quiz", []), source.get("quiz", []), strict=True)
        ]
        ids = [prediction.id for prediction in predictions] + [question.id for question in quiz]
        wrong = [id for id in ids if not id.startswith(f"{number}-") or ids.count(id) > 1]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: an id is {number}- and a name, and is used once")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    return Bank(
        {prediction.id: prediction for prediction in predictions},
        {question.id: question for question in quiz},
    )


def _question(entry: dict[str, Any], english: dict[str, Any]) -> Question:
    """A question, from its entry in the file and the same entry in English."""
    pairs = zip(entry["options"], english["options"], strict=True)
    options = tuple(Option(**option, source=source["text"]) for option, source in pairs)
    return Question(**entry | {"options": options})


def prediction(id: str) -> Prediction:
    """The prediction with this id. Raises ``ValueError`` that names the nearest one."""
    known = of_chapter(id[:2]).predictions
    return known[validation.choice("prediction", id, known)]


def predict(id: str) -> None:
    """Ask for the prediction ``id``, such as "01-skew"; the choice stays in the reader's browser.

    Raises ``ValueError`` that names the nearest id for an unknown one.
    """
    asked = prediction(id)
    group = _group(id)
    options = "".join(
        _option(group, text, f' value="{html.escape(key)}"') for key, text in asked.options.items()
    )
    legend = f"<b>{asked.head}</b> {_inline(asked.asks)}"
    listed = "\n".join(f"- {text}" for text in asked.options.values())
    _publish(
        f'<fedlab-predict data-id="{id}"><fieldset><legend>{legend}</legend>{options}</fieldset>'
        '<p class="kept" role="status"></p></fedlab-predict>',
        f"{asked.head} {asked.asks}\n{listed}",
    )


def outcome(id: str) -> None:
    """Say what happened with the default parameters, in a fold that opens when the prediction
    ``id`` is made.
    """
    asked = prediction(id)
    happened = asked.options[asked.happened]
    marked = _inline(happened)
    if chapter.differs():
        happened, marked = (
            _("With the default parameters: {happened}").format(happened=words)
            for words in (happened, marked)
        )
    words = _("<b>What happened:</b> {happened}. {because}")
    if asked.decides:
        words = _("<b>Our answer:</b> {happened}. {because}")
    shown = words.format(happened=marked, because=_inline(asked.because))
    _publish(
        f"<fedlab-outcome {_attributes(asked)}><details><summary {_OWN_KEYS}>{_UNSEEN}</summary>"
        '<p class="predicted" role="status"></p>'
        f"<p>{shown}</p></details></fedlab-outcome>",
        _("What happened: {happened}. {because}").format(happened=happened, because=asked.because),
    )


def quiz(number: str) -> None:
    """Ask the quiz questions of the chapter ``number``, such as "01". Each option says why it is
    right or wrong.
    """
    asked = of_chapter(number).quiz.values()
    heading = _("<b>Check yourself.</b> Choose an answer to read why it is right or not.")
    plain = [_in_plain_text(question) for question in asked]
    body = "".join(map(_fieldset, asked))
    _publish(
        f'<fedlab-quiz><p>{heading}</p>{body}<p class="sum" role="status"></p></fedlab-quiz>',
        "\n".join(plain),
    )


def _in_plain_text(question: Question) -> str:
    """A question, and below it each option with its reason."""
    lines = [question.asks]
    for option in _mixed(question):
        line = _("- {option} (right: {why})") if option.right else _("- {option} (no: {why})")
        lines.append(line.format(option=option.text, why=option.why))
    return "\n".join(lines)


def score(number: str) -> None:
    """Show how many of the predictions of the chapter ``number`` were right, and which; the reader
    can clear them.
    """
    every = of_chapter(number).predictions
    none = _("No prediction.")
    entries = []
    for prediction in every.values():
        empty = f'<span class="predicted">{none}</span>'
        entries.append(f"<li {_attributes(prediction)}>{_inline(prediction.asks)} {empty}</li>")
    each = _("One by one")
    clear = _("Clear my predictions")
    asked_for = _("{count} were asked for.").format(count=len(every))
    said = _("<b>Your predictions.</b> {sum}").format(sum=f'<span class="sum">{asked_for}</span>')
    _publish(
        f'<fedlab-score><p role="status">{said}</p>'
        f"<details><summary {_OWN_KEYS}>{each}</summary>"
        f"<ol>{''.join(entries)}</ol></details>"
        f'<button {_OWN_KEYS} type="button" hidden>{clear}</button>'
        "</fedlab-score>",
        _("{count} predictions were asked for in this chapter.").format(count=len(every)),
    )


def _fieldset(question: Question) -> str:
    group = _group(question.id)
    options = []
    for option in _mixed(question):
        kind = "right" if option.right else "wrong"
        why = _("<b>✓ Right.</b> {why}") if option.right else _("<b>✗ No.</b> {why}")
        options.append(
            _option(
                group,
                option.text,
                f' value="{kind}"',
                f'<p class="why {kind}">{why.format(why=_inline(option.why))}</p>',
            )
        )
    legend = f"<legend>{_inline(question.asks)}</legend>"
    return f'<fieldset data-id="{question.id}">{legend}{"".join(options)}</fieldset>'


def _mixed(question: Question) -> list[Option]:
    """The options in an order that says nothing of which is right, the same each time."""
    return sorted(
        question.options,
        key=lambda option: hashlib.sha256(
            f"{question.id} {option.source or option.text}".encode()
        ).digest(),
    )


def _option(group: str, text: str, value: str, below: str = "") -> str:
    """A radio button; not every screen reader speaks a formula, so an option without words is named
    by its signs.
    """
    spoken = ""
    if not re.search(r"\w", re.sub(r"\$[^$]*\$", "", text)):
        spoken = (
            f' aria-label="{html.escape(html.unescape(re.sub(r"<[^>]+>", "", _inline(text))))}"'
        )
    button = f'<input {_OWN_KEYS} type="radio" name="{group}"{spoken}{value}>'
    return f'<div class="option"><label>{button}<span>{_inline(text)}</span></label>{below}</div>'


def _group(id: str) -> str:
    """A name for radio buttons that no other group of the page has."""
    return f"{id}-{next(_numbers)}"


def _attributes(prediction: Prediction) -> str:
    """A prediction for the script; ``data-options`` has the words that it shows of a choice."""
    words = json.dumps(
        {key: _inline(text) for key, text in prediction.options.items()}, ensure_ascii=False
    )
    return (
        f'data-id="{prediction.id}" data-happened="{html.escape(prediction.happened)}" '
        f'data-options="{html.escape(words)}"'
    )


@cache
def _inline(text: str) -> str:
    """Words with formulas between dollar signs and code between backticks, as HTML."""

    def piece(match: re.Match[str]) -> str:
        return to_mathml(html.unescape(match[1])) if match[1] else f"<code>{match[2]}</code>"

    return re.sub(r"\$(.+?)\$|`(.+?)`", piece, html.escape(text, quote=False))


def _publish(body: str, plain: str) -> None:
    style = f"<style>{colours.variables()}{_read('questions.css')}</style>"
    script = in_script(_read("questions.js"), __name__)
    page = f"{style}{body}<script>{script}</script>"
    publish({"text/html": page, "text/plain": plain})


@cache
def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
