"""The words of another language: from the nearest catalogue, and English where there is none."""

from pathlib import Path

import pytest

from fedlab_core import language

pytest.importorskip("babel")

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'


@pytest.fixture
def klingon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a language that is there for this test alone."""
    place = tmp_path / "tlh_KX" / "LC_MESSAGES"
    place.mkdir(parents=True)
    monkeypatch.setattr(language, "FOLDER", tmp_path)
    monkeypatch.setenv(language.VARIABLE, "tlh")
    for cached in (language.languages, language._nearest_first, language.compiled):
        cached.cache_clear()
    yield place
    for cached in (language.languages, language._nearest_first, language.compiled):
        cached.cache_clear()


def write(folder: Path, name: str, **words: str) -> None:
    entries = [f'msgid "{word}"\nmsgstr "{other}"\n' for word, other in words.items()]
    (folder / f"{name}.po").write_text(HEADER + "\n".join(entries), encoding="utf-8")


def test_a_word_comes_from_the_nearest_catalogue(klingon: Path) -> None:
    write(klingon, "fedlab_course.check", round="near")
    write(klingon, "fedlab_course", round="far", client="above")
    write(klingon, "fedlab_core", server="core")
    _ = language.translator("fedlab_course.check.questions")
    assert [_("round"), _("client"), _("server"), _("tier")] == ["near", "above", "core", "tier"]


def test_a_fuzzy_or_empty_translation_is_not_shown(klingon: Path) -> None:
    text = HEADER + '#, fuzzy\nmsgid "round"\nmsgstr "old"\n\nmsgid "client"\nmsgstr ""\n'
    (klingon / "fedlab_core.po").write_text(text, encoding="utf-8")
    _ = language.translator("fedlab_core.plots")
    assert (_("round"), _("client"), _("")) == ("round", "client", "")


def test_english_needs_no_catalogue(klingon: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(klingon, "fedlab_core", round="near")
    monkeypatch.delenv(language.VARIABLE)
    assert language.translator("fedlab_core")("round") == "round"
    assert language.translator("fedlab_core", "tlh")("round") == "near"
    assert (language.tag("en"), language.tag("tlh")) == ("en", "tlh-KX")


def test_an_unknown_language_is_named_beside_those_there_are(
    klingon: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(language.VARIABLE, "xx")
    with pytest.raises(ValueError, match="FEDLAB_LANGUAGE='xx': must be one of en, tlh"):
        language.translator("fedlab_core")("round")


def test_a_script_gets_its_words_as_strings(klingon: Path) -> None:
    write(klingon, "fedlab_core", round='a \\"round\\"')
    script = 'show(_("round"), _( "client", ), x_("round"), a._("round"));'
    wanted = 'show("a \\"round\\"", "client", x_("round"), a._("round"));'
    assert language.in_script(script, "fedlab_core") == wanted
