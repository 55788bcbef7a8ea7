"""Notebooks in another language, made from the English ones and a catalogue for each.

A message is a Markdown cell, a comment or a string of a code cell; its context is the id of the
cell. The translated notebook has the same cells, ids, metadata and code. Its first code cell names
the language for the library.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fedlab_core import language
from fedlab_course.translation.extraction import Message

# Two words, or one after a value. One alone is a name or a key.
_PROSE = re.compile(r"[^\W\d_]{2,}[,.:;?]? [^\W\d_]|\} [^\W\d_]{3}")
_TYPED = re.compile(r"#\s*(?:type: \S+ )?")  # what stays in front of a comment
_LITERAL = re.compile(r"""(?s)([rRbBuUfF]*)("{3}|'{3}|"|')(.*)\2\Z""")
_LINK = re.compile(r"\]\(\.\./")

_NAMED = """\
import os

os.environ["{variable}"] = "{code}"
"""


class Piece(NamedTuple):
    """A message in the source of a code cell: its text and its place there."""

    text: str
    start: int
    end: int


def messages(notebook: Any) -> Iterator[Message]:
    """The messages of a notebook, in their order."""
    for cell in notebook.cells:
        seen = set()
        for text in _texts(cell):
            if text not in seen:
                seen.add(text)
                yield Message(text, context=cell.id)


def _texts(cell: Any) -> list[str]:
    if cell.cell_type == "markdown":
        return [cell.source]
    if cell.cell_type == "code":
        return [piece.text for piece in pieces(cell.source)]
    return []


def translated(notebook: Any, stem: str, code: str) -> Any:
    """A copy of ``notebook`` in the language ``code``. A cell of text without a translation stays
    English and says so.

    ``stem``: its name, as that of its catalogue.
    """
    _ = language.translator(__name__, code)
    untranslated = _("This part is in English.")
    path = language.folder(code) / language.NOTEBOOKS / f"{stem}.po"
    catalogue = language.compiled(path) if path.is_file() else None

    def words(context: str, text: str) -> str:
        return catalogue.pgettext(context, text) if catalogue else text

    copy = deepcopy(notebook)
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            text = words(cell.id, cell.source)
            if text == cell.source:
                text = _marked(text, untranslated)
            cell.source = _LINK.sub("](../../", text)
        elif cell.cell_type == "code":
            cell.source = replaced(cell.source, partial(words, cell.id))
    first = next((cell for cell in copy.cells if cell.cell_type == "code"), None)
    if first is not None:
        first.source = _NAMED.format(variable=language.VARIABLE, code=code) + first.source
    copy.metadata["language"] = language.tag(code)
    return copy


def _marked(source: str, word: str) -> str:
    """An English text with a ``word`` on it, below its heading if it begins with one."""
    if not re.search(r"[^\W\d_]{3}", re.sub(r"(?s)```.*?```|\$.*?\$|<[^>]*>", "", source)):
        return source
    heading, _, rest = source.partition("\n")
    if heading.startswith("#"):
        return f"{heading}\n\n*{word}*\n{rest}"
    return f"*{word}*\n\n{source}"


def pieces(source: str) -> list[Piece]:
    """The comments and strings of a code cell that a person reads, in their order."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(position: tuple[int, int]) -> int:
        return starts[position[0] - 1] + position[1]

    found = []
    depth = 0
    opened = 0
    names = {value: name for name, value in vars(tokenize).items() if name.startswith("FSTRING")}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = names.get(token.type, "")
        start, end = place(token.start), place(token.end)
        if kind == "FSTRING_START":
            opened = start if depth == 0 else opened
            depth += 1
        elif kind == "FSTRING_END":
            depth -= 1
            if depth == 0:
                found += _of_string(source, opened, end)
        elif depth == 0 and token.type == tokenize.STRING:
            found += _of_string(source, start, end)
        elif depth == 0 and token.type == tokenize.COMMENT:
            skipped = _TYPED.match(source, start, end)
            begin = skipped.end() if skipped else start
            found += _prose(source, begin, end)
    return found


def _of_string(source: str, start: int, end: int) -> list[Piece]:
    """The text between the quotes of a literal."""
    literal = _LITERAL.match(source[start:end])
    if literal is None or "b" in literal[1].lower():
        return []
    return _prose(source, start + literal.start(3), start + literal.end(3))


def _prose(source: str, start: int, end: int) -> list[Piece]:
    text = source[start:end]
    return [Piece(text, start, end)] if _PROSE.search(text) else []


def replaced(source: str, function: Callable[[str], str]) -> str:
    """``source`` with ``function`` applied to each of its :func:`pieces`."""
    parts = []
    done = 0
    for piece in pieces(source):
        parts += [source[done : piece.start], function(piece.text)]
        done = piece.end
    return "".join([*parts, source[done:]])


def same_code(one: str, other: str) -> bool:
    """True if two cells differ in comments and strings alone."""
    return _without_strings(one) == _without_strings(other)


def _without_strings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def read(path: Path) -> Any:
    """The notebook in a file."""
    import nbformat

    return nbformat.read(path, as_version=4)
