"""Questions of the course: predictions that the page keeps and scores, and quizzes that explain every answer.

A chapter asks ``questions.predict("01-skew")`` before a result and says ``questions.outcome("01-skew")`` after it; at
its end stand ``questions.quiz("01")`` and ``questions.score("01")``. They are HTML with a script of their own: a choice
stays in the reader's browser, in JupyterLab as on a page, and nothing of it reaches a file or a kernel. Run without a
reader they record nothing.

All questions of a chapter stand in one file, ``questions.toml`` in the folder of the chapter::

    [[predict]]
    id = "01-skew"
    asks = "In which of the three splits do clients differ most?"
    options = {iid = "IID", two = "two labels a client", dirichlet = "Dirichlet with $\\alpha = 0.3$"}
    happened = "two"
    because = "Two labels a client have an EMD of 1.60, Dirichlet 1.11 and IID 0.38."

    [[quiz]]
    id = "01-emd"
    asks = "All clients hold one label each, of ten. How large is the EMD of each?"
    options = [
        {text = "1.8", right = true, why = "0.9 for its own label, and 0.1 for each of nine others."},
        {text = "1", why = "That is half the sum: the total variation distance."},
        {text = "10", why = "No two mixes are further apart than 2."},
    ]

Texts are Markdown with TeX. ``tests/course/questions`` and the lint check what is written here.
"""

import hashlib
import html
import itertools
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from fedlab_core import validation
from fedlab_course import chapter
from fedlab_course.check import bank
from fedlab_course.check.bank import Option, Prediction, Question
from fedlab_course.display import publish
from fedlab_course.publish import markdown

_names = itertools.count()
_OWN_KEYS = 'data-lm-suppress-shortcuts="true"'  # JupyterLab leaves the keys of an element alone that says so itself


def predict(id: str) -> None:
    """Ask for the prediction ``id``, such as "01-skew"; the choice stays in the reader's browser.

    Raises ``ValueError`` that names the nearest id for an unknown one.
    """
    one, name = bank.prediction(id), _name(id)
    options = [
        f'<label><input {_OWN_KEYS} type="radio" name="{name}"{_spoken(text)} value="{html.escape(key)}">'
        f"<span>{_inline(text)}</span></label>"
        for key, text in one.options.items()
    ]
    _publish(
        f'<fedlab-predict data-id="{id}"><fieldset><legend><b>Predict.</b> '
        f'{_inline(one.asks)}</legend>{"".join(_grouped(options))}</fieldset><p class="kept" role="status"></p>'
        "</fedlab-predict>",
        f"Predict. {one.asks}\n" + "\n".join(f"- {text}" for text in one.options.values()),
    )


def outcome(id: str, happened: str | None = None, because: str | None = None) -> None:
    """Say what happened, and hold the reader's prediction ``id`` against it.

    ``happened``, the key of an option, and ``because`` come from the run above; without them they are what the default
    parameters give. Raises ``ValueError`` for an unknown id or key.
    """
    one = bank.prediction(id)
    key = one.happened if happened is None else validation.choice("happened", happened, one.options)
    words = one.because if because is None else because
    stored = happened is None and chapter.differs()
    prefix = "With the default parameters: " if stored else ""
    _publish(
        f'<fedlab-outcome data-id="{id}" data-happened="{html.escape(key)}" data-options="{_json(one)}">'
        f'<p class="predicted" role="status">No prediction is recorded here.</p>'
        f"<p><b>What happened:</b> {prefix}{_inline(one.options[key])}. {_inline(words)}</p></fedlab-outcome>",
        f"What happened: {prefix}{one.options[key]}. {words}",
    )


def quiz(*ids: str) -> None:
    """Ask quiz questions: all of a chapter, ``quiz("01")``, or some by their ids. Each option says why.

    Raises ``ValueError`` that names the nearest id for an unknown one.
    """
    asked = [one for id in ids for one in _questions(id)]
    body = "".join(_asked(one) for one in asked)
    heading = "<p><b>Check yourself.</b> Choose an answer to read why it is right or not.</p>"
    _publish(f'<div class="fedlab-quiz">{heading}{body}</div>', _plain(asked))


def score(number: str) -> None:
    """How many of the predictions of the chapter ``number`` came out, and which; the reader can clear them."""
    every = bank.of_chapter(number).predictions
    entries = [
        f'<li data-id="{one.id}" data-happened="{html.escape(one.happened)}" data-options="{_json(one)}">'
        f'{_inline(one.asks)} <span class="predicted">No prediction.</span></li>'
        for one in every.values()
    ]
    _publish(
        f'<fedlab-score><p role="status"><b>Your predictions.</b> <span class="sum">'
        f"{len(every)} were asked for.</span></p><details><summary {_OWN_KEYS}>One by one</summary>"
        f"<ol>{''.join(entries)}</ol>"
        f'</details><button {_OWN_KEYS} type="button" hidden>Clear my predictions</button></fedlab-score>',
        f"{len(every)} predictions were asked for in this chapter.",
    )


def _questions(id: str) -> Sequence[Question]:
    known = bank.of_chapter(id[:2]).quiz
    return list(known.values()) if len(id) == 2 else [known[validation.choice("question", id, known)]]


def _asked(one: Question) -> str:
    name = _name(one.id)
    options = [
        f'<label><input {_OWN_KEYS} type="radio" name="{name}"{_spoken(option.text)}>'
        f"<span>{_inline(option.text)}</span></label>"
        f'<p class="why {"right" if option.right else "wrong"}"><b>{"✓ Right." if option.right else "✗ No."}</b> '
        f"{_inline(option.why)}</p>"
        for option in _mixed(one)
    ]
    return f"<fieldset><legend>{_inline(one.asks)}</legend>{''.join(_grouped(options))}</fieldset>"


def _mixed(one: Question) -> list[Option]:
    """The options in an order that says nothing of which is right, the same each time."""
    return sorted(one.options, key=lambda option: hashlib.sha256(f"{one.id} {option.text}".encode()).digest())


def _grouped(options: Sequence[str]) -> list[str]:
    return [f'<div class="option">{option}</div>' for option in options]


def _plain(asked: Sequence[Question]) -> str:
    lines = [
        line
        for one in asked
        for line in (
            one.asks,
            *(f"- {option.text} ({'right' if option.right else 'no'}: {option.why})" for option in _mixed(one)),
        )
    ]
    return "\n".join(lines)


def _name(id: str) -> str:
    """A name for radio buttons that no other group of the page has."""
    return f"{id}-{next(_names)}"


def _json(one: Prediction) -> str:
    """The options as plain text, for the words that the script makes of a choice."""
    return html.escape(json.dumps({key: _inline(text) for key, text in one.options.items()}, ensure_ascii=False))


@cache
def _inline(text: str) -> str:
    """Markdown as HTML, without the paragraph around it if it is one."""
    made = markdown.to_html(text).strip()
    single = made.startswith("<p>") and made.endswith("</p>") and made.count("<p>") == 1
    return made[3:-4] if single else made


def _spoken(text: str) -> str:
    """A name for an option that is a formula and nothing else, which not every screen reader takes for one."""
    words = re.sub(r"\$[^$]*\$", "", text)
    if re.search(r"\w", words):
        return ""
    return f' aria-label="{html.escape(html.unescape(re.sub(r"<[^>]+>", "", _inline(text))))}"'


def _publish(body: str, plain: str) -> None:
    publish(
        {
            "text/html": f"<style>{_read('questions.css')}</style>{body}<script>{_read('questions.js')}</script>",
            "text/plain": plain,
        }
    )


@cache
def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
