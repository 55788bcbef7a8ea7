"""How long a chapter is, counted as a student meets it, and the limits of a chapter."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fedlab_course.check import questions
from fedlab_course.evidence import judging

PACE = 90  # words a minute, of a careful reader of technical text
LIMITS = {"cells": 36, "lines": 100, "words": 1800, "folded": 900, "verdicts": 10, "in_section": 3}
_FOLD = re.compile(r"<details>.*?</details>", flags=re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", flags=re.DOTALL)
_STORED = "claims.stored"
_SPEAKS = ("questions.", _STORED, "exercises.check")


@dataclass(frozen=True)
class Length:
    """``cells``; ``lines`` of visible code; ``words`` unfolded, with formulas, questions and
    verdicts; ``folded`` ones.

    ``verdicts``: stored verdicts that are shown outside a fold; ``in_section``: the most between
    two headings.
    """

    cells: int
    lines: int
    words: int
    folded: int
    verdicts: int
    in_section: int

    @property
    def minutes(self) -> int:
        """The time to read the unfolded words."""
        return round(self.words / PACE)


def length(notebook: Any) -> Length:
    """The length of the chapter in ``notebook``. The reasons for wrong answers of a quiz are not
    counted.
    """
    lines = words = folded = 0
    sections = [0]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = _COMMENT.sub("", cell.source)
            sections += [0] * len(re.findall(r"^## ", text, flags=re.MULTILINE))
            words += _words(_FOLD.sub("", text))
            folded += sum(map(_words, _FOLD.findall(text)))
            continue
        statements = ast.parse(cell.source).body
        spoken = all(
            isinstance(statement, ast.Expr) and ast.unparse(statement).startswith(_SPEAKS)
            for statement in statements
        )
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        lines += (
            0 if spoken or hidden else sum(bool(line.strip()) for line in cell.source.splitlines())
        )
        for name, texts in _shown(cell.source):
            folded += sum(map(_words, texts)) if name == "fold" else 0
            words += 0 if name == "fold" else sum(map(_words, texts))
            sections[-1] += len(texts) if name == "verdict" else 0
    return Length(len(notebook.cells), lines, words, folded, sum(sections), max(sections))


def _words(text: str) -> int:
    return len(text.split())


def _shown(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what the calls in a cell show: "verdict", "question" or "fold", and its texts."""
    every = judging.every()
    for name, call in _calls(source):
        given = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
        if name == _STORED:
            yield "verdict", [every[id].statement.says for id in given if id in every]
            yield "fold", [every[id].statement.says for id in _folded(call) if id in every]
        elif name == "questions.quiz":
            texts = []
            for question in questions.of_chapter(given[0]).quiz.values():
                texts += [question.asks, *(option.text for option in question.options)]
            yield "question", texts
        elif name == "questions.predict":
            prediction = questions.prediction(given[0])
            yield "question", [prediction.asks, *prediction.options.values()]
        elif name == "questions.outcome":
            yield "fold", [questions.prediction(given[0]).because]


def stored_statements(source: str) -> list[str]:
    """The stored statements that a cell shows, also those in a fold."""
    ids = []
    for name, call in _calls(source):
        if name == _STORED:
            ids += [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
            ids += _folded(call)
    return [id for id in ids if id in judging.every()]


def _calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def _folded(call: ast.Call) -> list[str]:
    """The statements that a call of ``claims.stored`` shows in the fold."""
    ids: list[str] = []
    for keyword in call.keywords:
        if keyword.arg == "more":
            ids += ast.literal_eval(keyword.value)
    return ids
