"""The catalogues of a language, in the form of gettext's ``.po`` files: to bring them up to date
with the English sources, and to check them.
"""

import difflib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fedlab_core import files, language
from fedlab_course import folders
from fedlab_course.translation import agreement, extraction, notebooks
from fedlab_course.translation.extraction import Message

# Without dates and names: a catalogue changes only if a message does.
_HEADER = """\
msgid ""
msgstr ""
"Language: {locale}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
_ALIKE = 0.6  # how alike an old and a new message are if the translation of the old one is kept


class Count(NamedTuple):
    """The messages of a catalogue: all, those without a translation, and the fuzzy ones."""

    messages: int
    untranslated: int
    fuzzy: int


def names() -> dict[str, Path | None]:
    """All catalogues: name below the folder of a language → the notebook, or None for a package."""
    found: dict[str, Path | None] = {name: None for name in extraction.packages()}
    for path in folders.select(folders.NOTEBOOKS, ()):
        found[f"{language.NOTEBOOKS}/{path.stem}"] = path
    return found


def messages(name: str) -> list[Message]:
    """The messages that the catalogue ``name`` should have."""
    notebook = names()[name]
    if notebook is None:
        return extraction.messages(name)
    return list(notebooks.messages(notebooks.read(notebook)))


def update(code: str, only: Iterable[str] = ()) -> dict[str, Count]:
    """Bring the catalogues of a language up to date, and count their messages.

    A translation stays with its message. A message that is new but like an old one that is gone
    gets its translation, marked fuzzy: nobody sees it until a person has removed the mark.

    ``only``: names of catalogues.
    """
    counts = {}
    for name in only or names():
        path = language.folder(code) / f"{name}.po"
        fresh = _renewed(_read(path), messages(name), code)
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as file:
            file.write(_text(fresh, code).encode())
        counts[name] = count(fresh)
    return counts


def faults(code: str, only: Iterable[str] = ()) -> Iterator[str]:
    """What is wrong with the catalogues of a language: a message that is missing or no longer used,
    a fuzzy one, and a translation that does not agree with its message.
    """
    every = names()
    for name in only or every:
        path = language.folder(code) / f"{name}.po"
        old = _read(path)
        wanted = {(message.context, message.text) for message in messages(name)}
        if old is None or {(entry.context, entry.id) for entry in _entries(old)} != wanted:
            yield f"{name}: is not up to date; run: python -m fedlab_course translate {code}"
            continue
        for entry in _entries(old):
            if entry.fuzzy:
                yield f"{name}: {_short(entry.id)}: is fuzzy"
            elif entry.string:
                in_notebook = every[name] is not None
                found = agreement.differences(entry.id, entry.string, in_notebook=in_notebook)
                found += agreement.wrong_terms(entry.string, glossary(code))
                for difference in found:
                    yield f"{name}: {_short(entry.id)}: {difference}"


def glossary(code: str) -> Path:
    """The page of a language's terms; an installed package has none."""
    return folders.NOTEBOOKS.parent / "docs" / f"glossary.{code}.md"


def count(catalogue: Any) -> Count:
    """Count the messages of a catalogue."""
    entries = _entries(catalogue)
    return Count(
        len(entries),
        sum(not entry.string for entry in entries),
        sum(bool(entry.fuzzy) for entry in entries),
    )


def _renewed(old: Any, wanted: list[Message], code: str) -> Any:
    """A catalogue of the ``wanted`` messages, with the translations of an ``old`` one."""
    from babel.messages import Catalog

    fresh = Catalog(locale=language.languages()[code])
    there = {(entry.context, entry.id): entry for entry in _entries(old)} if old else {}
    keys = {(message.context, message.text) for message in wanted}
    gone = [entry for key, entry in there.items() if key not in keys and entry.string]
    for message in wanted:
        entry = there.get((message.context, message.text))
        given: dict[str, Any] = {"context": message.context}
        if message.context is None:  # else the id of the cell says where it is
            given["locations"] = [(message.file, None)]
        if entry is not None:
            flags = {"fuzzy"} if entry.fuzzy else set()
            given |= {"string": entry.string, "flags": flags, "previous_id": entry.previous_id}
        elif nearest := _nearest(message, gone):
            gone.remove(nearest)
            given |= {"string": nearest.string, "flags": {"fuzzy"}, "previous_id": nearest.id}
        fresh.add(message.text, **given)
    return fresh


def _nearest(message: Message, gone: list[Any]) -> Any:
    """The entry that ``message`` may have replaced, of the same cell if it is in one; or None."""
    here = [entry for entry in gone if entry.context == message.context]
    likeness = {
        number: difflib.SequenceMatcher(None, entry.id, message.text, autojunk=False).ratio()
        for number, entry in enumerate(here)
    }
    best = max(likeness, key=likeness.__getitem__, default=None)
    return here[best] if best is not None and likeness[best] >= _ALIKE else None


def _entries(catalogue: Any) -> list[Any]:
    """The entries of a catalogue without its header."""
    return [entry for entry in catalogue if entry.id] if catalogue else []


def _read(path: Path) -> Any:
    """The catalogue in a file, or None."""
    from babel.messages import pofile

    if not path.is_file():
        return None
    with path.open("rb") as file:
        return pofile.read_po(file)


def _text(catalogue: Any, code: str) -> str:
    """A catalogue as the text of a ``.po`` file."""
    from babel.messages import pofile

    out = io.BytesIO()
    pofile.write_po(
        out, catalogue, width=0, omit_header=True, include_previous=True, include_lineno=False
    )
    header = _HEADER.format(locale=language.languages()[code])
    return header + out.getvalue().decode().strip() + "\n"


def _short(text: str) -> str:
    """The beginning of a message."""
    line = " ".join(text.split())
    return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"
