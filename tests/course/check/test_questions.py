"""Questions: what a file may say, and that those of the course are whole."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fedlab_course import outline
from fedlab_course.check import questions

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
options = [
    {text = "A", right = true, why = "Yes."},
    {text = "B", why = "No."},
    {text = "C", why = "No."},
]
"""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    chapter = SimpleNamespace(number="98", folder=tmp_path)
    monkeypatch.setattr(questions.outline, "CHAPTERS", (chapter,))

    def read(text: str) -> questions.Bank:
        (tmp_path / "questions.toml").write_text(text, encoding="utf-8")
        questions.of_chapter.cache_clear()
        return questions.of_chapter("98")

    yield read
    questions.of_chapter.cache_clear()


def test_a_file_is_read(read) -> None:
    found = read(GOOD)
    assert found.predictions["98-first"].options == {"a": "A", "b": "B"}
    assert [option.right for option in found.quiz["98-q"].options] == [True, False, False]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('happened = "a"', 'happened = "c"', "happened='c'"),
        ('{a = "A", b = "B"}', '{a = "A"}', "two options"),
        ('id = "98-first"', 'id = "97-first"', "97-first: an id is 98-"),
        ('id = "98-q"', 'id = "98-first"', "98-first, 98-first: .* used once"),
        ("right = true, ", "", "0 are right"),
        ('{text = "B", ', '{text = "B", right = true, ', "2 are right"),
        ('    {text = "C", why = "No."},\n', "", "three to five"),
        ("[[quiz]]", "[[quizz]]", "quizz"),
        ("because", "becuse", "becuse"),
    ],
)
def test_faults_of_a_file_are_named(read, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=rf"questions\.toml: .*{words}"):
        read(GOOD.replace(old, new))


def test_unknown_questions_name_the_nearest() -> None:
    id = next(iter(questions.of_chapter("01").predictions))
    with pytest.raises(ValueError, match=id):
        questions.predict(id + "x")


def test_the_questions_of_the_course_can_be_shown_and_every_answer_says_why() -> None:
    for chapter in outline.CHAPTERS:
        found = questions.of_chapter(chapter.number)
        texts = [
            text
            for one in found.predictions.values()
            for text in (one.asks, one.because, *one.options.values())
        ]
        texts += [
            text
            for one in found.quiz.values()
            for text in (one.asks, *(o.text for o in one.options))
        ]
        texts += [option.why for one in found.quiz.values() for option in one.options]
        assert all(questions._inline(text) for text in texts)
        for one in found.quiz.values():
            assert (
                len({option.why for option in one.options})
                == len({o.text for o in one.options})
                == len(one.options)
            )
            assert all(len(option.why) > 10 for option in one.options), one.id


def test_the_place_of_an_answer_says_nothing() -> None:
    asked = [
        one
        for chapter in outline.CHAPTERS
        for one in questions.of_chapter(chapter.number).quiz.values()
    ]
    first = [questions._mixed(one)[0].right for one in asked]
    expected = sum(1 / len(one.options) for one in asked)
    assert abs(sum(first) - expected) < 3 * len(asked) ** 0.5 / 2
