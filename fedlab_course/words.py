"""Words in TOML files: which of their values a person reads, and the same in the language of the
process.
"""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fedlab_core import language
from fedlab_course import folders

_EVERY = "*"  # all strings of a file
# File → the keys whose strings, and all strings below them, are words.
_KEYS = {
    "statements_in_words.toml": {_EVERY},
    "chapter.toml": {"title", "question", "also"},
    "exercises.toml": {"title", "missing", "instead"},  # all else of an exercise is in the notebook
    "glossary.toml": {_EVERY},
    "questions.toml": {"asks", "options", "because"},
    "symbols.toml": {"meaning"},
    "words.toml": {_EVERY},
}
_KEYS_ARE_WORDS = ("glossary.toml",)
STATEMENTS = {"says"}  # of the files of statements, which have many names
_CODES = {"state"}  # keys whose strings are no words: that of a story of the playground


def read(path: Path, module: str) -> dict[str, Any]:
    """The content of a TOML file, with its words in the language of the process.

    ``module``: whose catalogue has them, as in :func:`fedlab_core.language.translator`. Keys stay
    as they are.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return _mapped(content, _KEYS[path.name], language.translator(module))


def messages(path: Path) -> Iterator[str]:
    """The words of a TOML file, in their order."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if path.name in _KEYS_ARE_WORDS:
        found += content
    _mapped(content, _KEYS.get(path.name, STATEMENTS), note)
    yield from found


def has_words(path: Path) -> bool:
    """True for a file with words."""
    return path.name in _KEYS or path.is_relative_to(folders.RESULTS)


def _mapped(
    value: Any, keys: set[str], function: Callable[[str], str], inside: bool = False
) -> Any:
    """``value`` with ``function`` applied to its words; ``inside``: below one of the ``keys``."""
    inside = inside or _EVERY in keys
    if isinstance(value, dict):
        return {
            key: part if key in _CODES else _mapped(part, keys, function, inside or key in keys)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_mapped(part, keys, function, inside) for part in value]
    if not isinstance(value, str) or not value:
        return value
    return function(value) if inside else value
