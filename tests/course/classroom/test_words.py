"""The words of the class in the language of the server's process."""

import re

import pytest

from fedlab_core import language
from fedlab_core.history import History
from fedlab_core.simulation import Diverged
from fedlab_course.classroom import assets, protocol, troubles
from fedlab_course.classroom.seats import MOST_SEATS

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(language.VARIABLE, "zh")


def test_a_page_knows_each_word_that_a_person_can_cause() -> None:
    """They stay codes in the protocol; the page has what it shows for them."""
    script = assets.files()["student.js"].text
    known = re.search(r"const WORDS = \{.*?^\};", script, re.DOTALL | re.MULTILINE)
    assert known
    words = [protocol.KINDS["join"][field][1] for field in ("code", "name")]
    for word in [*words, f"the class is full: {MOST_SEATS} phones"]:
        assert f'"{word}":' in known[0]


@pytest.mark.usefixtures("chinese")
def test_pages_are_chinese_in_a_chinese_process() -> None:
    for page in assets._pages().values():
        assert '<html lang="zh-CN">' in page
        assert "{%" not in page and "{{" not in page
        assert CHINESE.search(page)


def test_pages_are_english_otherwise() -> None:
    found = assets.files()
    for name in assets.PAGES:
        assert '<html lang="en">' in found[name].text
    for name in (*assets.PAGES, *assets.SCRIPTS):
        assert not CHINESE.search(found[name].text)
    for name in assets.SCRIPTS:
        assert '_("' not in found[name].text


@pytest.mark.parametrize(
    ("error", "values"),
    [
        (ValueError("nobody is ready: wait for drawings, or add virtual clients"), ()),
        (ValueError("round 3: no client answered within 15 s"), ("3", "15")),
        (Diverged("FedAvg", 2, 7, 0.5, History({})), ("FedAvg", "2", "7", "0.5")),
        (Diverged("FedAvg", 2, None, 0.5, History({})), ("FedAvg", "2", "0.5")),
    ],
)
@pytest.mark.usefixtures("chinese")
def test_an_error_of_a_lesson_is_shown_in_chinese(
    error: Exception, values: tuple[str, ...]
) -> None:
    shown = troubles.shown(str(error))
    assert CHINESE.search(shown)
    assert all(value in shown for value in values)


def test_an_error_is_shown_as_it_is_in_english() -> None:
    for trouble in ("round 3: no client answered within 15 s", "lr: must be a number", ""):
        assert troubles.shown(trouble) == trouble
