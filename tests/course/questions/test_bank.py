"""Questions: what a file may say, and that those of the course are whole."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fedlab_course.chapters import outline
from fedlab_course.check import bank, questions
from fedlab_course.check import questions as shown
from fedlab_course.publish import markdown

GOOD = """
[[predict]]
id = "98-first"
asks = "What?"
options = {a = "A", b = "B"}
happened = "a"
because = "It is."

[[quiz]]
id = "98-q"
asks = "Which?"
options = [{text = "A", right = true, why = "Yes."}, {text = "B", why = "No."}, {text = "C", why = "No."}]
"""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    chapter = SimpleNamespace(number="98", folder=tmp_path, room="ch98")
    monkeypatch.setattr(bank.outline, "CHAPTERS", (chapter,))

    def read(text: str) -> bank.Bank:
        (tmp_path / "questions.toml").write_text(text, encoding="utf-8")
        bank.of_chapter.cache_clear()
        return bank.of_chapter("98")

    yield read
    bank.of_chapter.cache_clear()


def test_a_file_is_read(read) -> None:
    found = read(GOOD)
    assert found.predictions["98-first"].options == {"a": "A", "b": "B"}
    assert [option.right for option in found.quiz["98-q"].options] == [True, False, False]


def test_a_chapter_without_a_file_has_no_questions() -> None:
    assert bank.of_chapter("97") == bank.Bank({}, {})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('happened = "a"', 'happened = "c"', "'c', is no option"),
        ('{a = "A", b = "B"}', '{a = "A"}', "two options"),
        ('id = "98-first"', 'id = "97-first"', "an id is 98-"),
        ("right = true, ", "", "0 options are right"),
        ('{text = "B", ', '{text = "B", right = true, ', "2 options are right"),
        (', {text = "C", why = "No."}', "", "three to five"),
        ("[[quiz]]", "[[quizz]]", "quizz"),
        ("because", "becuse", "becuse"),
    ],
)
def test_faults_of_a_file_are_named(read, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=words):
        read(GOOD.replace(old, new))


def test_unknown_questions_name_the_nearest() -> None:
    id = next(iter(bank.of_chapter("01").predictions))
    with pytest.raises(ValueError, match=id):
        questions.predict(id + "x")


every = pytest.mark.parametrize("number", [chapter.number for chapter in outline.CHAPTERS])


@every
def test_texts_of_the_course_can_be_shown(number: str) -> None:
    found = bank.of_chapter(number)
    texts = [text for one in found.predictions.values() for text in (one.asks, one.because, *one.options.values())]
    texts += [text for one in found.quiz.values() for text in (one.asks, *(o.text for o in one.options))]
    texts += [option.why for one in found.quiz.values() for option in one.options]
    for text in texts:
        assert markdown.to_html(text).strip()


@every
def test_distractors_say_why(number: str) -> None:
    for one in bank.of_chapter(number).quiz.values():
        whys = [option.why.strip() for option in one.options]
        assert all(len(why) > 10 for why in whys) and len(set(whys)) == len(whys), one.id
        assert len({option.text for option in one.options}) == len(one.options), one.id


def test_the_place_of_an_answer_says_nothing() -> None:
    asked = [one for chapter in outline.CHAPTERS for one in bank.of_chapter(chapter.number).quiz.values()]
    first = [shown._mixed(one)[0].right for one in asked]
    assert all(sorted(map(repr, shown._mixed(one))) == sorted(map(repr, one.options)) for one in asked)
    expected = sum(1 / len(one.options) for one in asked)
    assert abs(sum(first) - expected) < 3 * len(asked) ** 0.5 / 2
