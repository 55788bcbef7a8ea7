"""Notebooks in another language: the same cells and code, other words."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_core import language
from fedlab_course import folders
from fedlab_course.publish import build
from fedlab_course.translation import catalogues, notebooks

LANGUAGES = sorted(language.languages())
CODE = '''\
rounds = 3  # type: int rounds of a run
def step(y):
    """One local step."""
    return f"{y:.1f} points"  # a plain number
keys = {"a_key": b"two words", "one": 'it is "so"'}
'''


def test_comments_and_strings_of_words_are_the_messages_of_code() -> None:
    texts = [piece.text for piece in notebooks.pieces(CODE)]
    assert texts == [
        "rounds of a run",
        "One local step.",
        "{y:.1f} points",
        "a plain number",
        'it is "so"',
    ]
    assert [CODE[piece.start : piece.end] for piece in notebooks.pieces(CODE)] == texts


def test_only_words_are_replaced() -> None:
    other = notebooks.replaced(CODE, str.upper)
    assert "# type: int ROUNDS OF A RUN\n" in other and '"a_key": b"two words"' in other
    assert not notebooks.same_code(CODE, CODE.replace("= 3", "= 4"))
    assert notebooks.same_code(CODE, notebooks.replaced(CODE, lambda text: f"{text} 汉字"))


@pytest.fixture
def french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a third language, which begins empty."""
    place = tmp_path / "locale" / "fr_FR" / "LC_MESSAGES"
    place.mkdir(parents=True)
    monkeypatch.setattr(language, "FOLDER", tmp_path / "locale")
    for cached in (language.languages, language._nearest_first, language.compiled):
        cached.cache_clear()
    yield place
    for cached in (language.languages, language._nearest_first, language.compiled):
        cached.cache_clear()


def chapter(*, sentence: str = "Each client trains.") -> nbformat.NotebookNode:
    cells = [
        new_markdown_cell(f"# A title\n\n{sentence} See [this](../docs/a.md).", id="head"),
        new_code_cell("x = 1  # the first number", id="code"),
        new_markdown_cell("$$x$$", id="formula"),
    ]
    return new_notebook(cells=cells)


def test_a_third_language_is_one_folder(french: Path) -> None:
    assert dict(language.languages()) == {"fr": "fr_FR"}
    counts = catalogues.update("fr")
    assert set(counts) == set(catalogues.names())
    assert all(count.messages == count.untranslated for count in counts.values())
    assert list(catalogues.faults("fr")) == []


def test_a_changed_text_makes_its_translation_fuzzy(
    french: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "00_a.ipynb"
    name = "notebooks/00_a"
    monkeypatch.setattr(catalogues, "names", lambda: {name: file})
    nbformat.write(chapter(), file)
    catalogues.update("fr")
    po = french / f"{name}.po"
    text = po.read_text("utf-8")
    old = 'Each client trains. See [this](../docs/a.md)."\nmsgstr ""'
    new = old[:-2] + '"# Un titre\\n\\nChacun apprend. Voir [ici](../docs/a.md)."'
    assert old in text
    po.write_text(text.replace(old, new), encoding="utf-8")
    assert list(catalogues.faults("fr")) == []
    translated = notebooks.translated(notebooks.read(file), "00_a", "fr")
    assert translated.cells[0].source.endswith("Voir [ici](../../docs/a.md).")

    nbformat.write(chapter(sentence="Each client trains alone."), file)
    assert [fault for fault in catalogues.faults("fr") if "not up to date" in fault]
    assert catalogues.update("fr")[name] == (3, 2, 1)
    assert [fault for fault in catalogues.faults("fr") if "is fuzzy" in fault]
    language.compiled.cache_clear()
    shown = notebooks.translated(notebooks.read(file), "00_a", "fr").cells[0].source
    wanted = "# A title\n\n*This part is in English.*\n\nEach client trains alone. "
    assert shown.startswith(wanted)


def test_a_translated_notebook_names_its_language_first() -> None:
    english = chapter()
    other = notebooks.translated(english, "00_nothing", "zh")
    assert [cell.id for cell in other.cells] == [cell.id for cell in english.cells]
    lines = other.cells[1].source.splitlines()
    assert lines == [
        "import os",
        "",
        'os.environ["FEDLAB_LANGUAGE"] = "zh"',
        "x = 1  # the first number",
    ]
    assert other.cells[2].source == "$$x$$"  # nothing to say
    assert other.metadata["language"] == "zh-CN"
    assert english.cells[1].source == "x = 1  # the first number"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_catalogues_are_right(code: str) -> None:
    """Up to date, not fuzzy, with the formulas, code, links, marks and numbers of the source."""
    assert list(catalogues.faults(code)) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_all_notebooks_keep_their_code(code: str, tmp_path: Path) -> None:
    for path in build.build(build.PLAIN, tmp_path / code, code):
        other = notebooks.read(path)
        nbformat.validate(other)
        english = notebooks.read(folders.NOTEBOOKS / path.name)
        first = True
        for one, two in zip(english.cells, other.cells, strict=True):
            assert (one.id, one.cell_type, one.metadata) == (two.id, two.cell_type, two.metadata)
            if one.cell_type != "code":
                continue
            source = two.source
            if first:
                source = source.partition(f'"{code}"\n')[2]
                first = False
            assert notebooks.same_code(one.source, source), f"{path.name}: {one.id}"


def test_a_readers_work_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    [path] = build.build(build.PLAIN, tmp_path, "zh", only=["06"])
    notebook = notebooks.read(path)
    notebook.cells[-1].source += "\n\nmine"
    nbformat.write(notebook, path)
    build.build(build.PLAIN, tmp_path, "zh", only=["06"])
    assert notebooks.read(path).cells[-1].source.endswith("mine")
    assert "has changes of its own" in capsys.readouterr().out
