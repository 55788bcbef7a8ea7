"""The messages of the packages: the strings in ``_()`` of Python, templates and scripts, and the
words of TOML files.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import fedlab_core
import fedlab_course
from fedlab_core import language
from fedlab_course import folders, words

_CORE = Path(fedlab_core.__file__).parent
_COURSE = Path(fedlab_course.__file__).parent
# Packages with a catalogue of their own inside one that has a catalogue too.
_INSIDE = ("playground", "classroom", "evidence", "explore", "check", "publish", "chapters/ch*")
_BABEL = {".py": "python", ".j2": "jinja2"}
_KEYWORDS = {"_": None, "gettext": None}  # the second: of a block {% trans %}
_OPTIONS = {"jinja2": {"trimmed": "true"}}


class Message(NamedTuple):
    """A text to translate. ``file``: where it is in a package; ``context``: the id of its cell in
    a notebook, where the same text may have another translation than in another cell.
    """

    text: str
    file: str = ""
    context: str | None = None


def packages() -> dict[str, Path]:
    """The packages with a catalogue, and the statements of the evidence: dotted name → folder."""
    found = {"fedlab_core": _CORE, "fedlab_course": _COURSE, "results": folders.RESULTS / "configs"}
    for pattern in _INSIDE:
        for folder in sorted(_COURSE.glob(pattern)):
            found[f"fedlab_course.{'.'.join(folder.relative_to(_COURSE).parts)}"] = folder
    return found


def messages(package: str) -> list[Message]:
    """The messages of a package, each once, without those of packages that have catalogues of their
    own.
    """
    folder = packages()[package]
    others = [each for each in packages().values() if each != folder and folder in each.parents]
    found: dict[str, Message] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(other in path.parents for other in others):
            name = path.relative_to(folder.parent).as_posix()
            for text in _of_file(path):
                found.setdefault(text, Message(text, name))
    return list(found.values())


def _of_file(path: Path) -> Iterator[str]:
    """The text of each message in a file."""
    if path.suffix in _BABEL:
        yield from _with_babel(path, _BABEL[path.suffix])
    elif path.suffix in (".js", ".html"):
        source = path.read_text(encoding="utf-8")
        for call in language.CALL_IN_SCRIPT.finditer(source):
            yield json.loads(call[1])
    elif path.suffix == ".toml" and words.has_words(path):
        yield from words.messages(path)


def _with_babel(path: Path, method: str) -> Iterator[str]:
    from babel.messages import extract

    with path.open("rb") as file:
        found = extract.extract(method, file, keywords=_KEYWORDS, options=_OPTIONS.get(method))
        for _line, text, _comments, _context in found:
            yield text if isinstance(text, str) else text[0]
