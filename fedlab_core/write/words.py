"""The text of Plotly, with its bit of HTML, as the text of matplotlib, with its formulas."""

import html
import re
from dataclasses import dataclass

from fedlab_core.write.properties import untranslatable

_TAG = re.compile(r"<(/?)(\w+)([^>]*)>")
_STYLES = {"b": "b", "strong": "b", "i": "i", "em": "i", "sub": "sub", "sup": "sup"}
_FACES = {frozenset(): r"\mathregular", frozenset("b"): r"\mathbf", frozenset("i"): r"\mathit"}
_FACES[frozenset("bi")] = r"\mathbfit"


@dataclass(frozen=True)
class Words:
    """Text for matplotlib; ``bold`` and ``italic`` when all of it is."""

    text: str
    bold: bool = False
    italic: bool = False

    @property
    def font(self) -> dict[str, str]:
        return {"weight": "bold" if self.bold else "normal", "style": "italic" if self.italic else "normal"}


def words(text: object) -> Words:
    """Text with <br>, <b>, <i>, <sub>, <sup> and entities. Raises ``ValueError`` for other tags, and for formulas."""
    source = "" if text is None else str(text)
    if re.fullmatch(r"\$.*\$", source, flags=re.DOTALL):
        raise untranslatable(f"the formula {source!r}")
    runs = _runs(source)
    styles = {style for piece, style in runs if piece.strip()}
    common = next(iter(styles)) if len(styles) == 1 else frozenset[str]()
    common = common if common <= {"b", "i"} else frozenset()
    written = "".join(_written(piece, style - common) for piece, style in runs)
    return Words(written, bold="b" in common, italic="i" in common)


def _runs(source: str) -> list[tuple[str, frozenset[str]]]:
    """Pieces of plain text, each with the styles it stands in."""
    source = re.sub(r"\s*\n\s*", " ", source)
    runs, open_tags, end = list[tuple[str, frozenset[str]]](), list[str](), 0
    for tag in _TAG.finditer(source):
        runs.append((source[end : tag.start()], frozenset(open_tags)))
        end = tag.end()
        closing, name = tag[1], tag[2].lower()
        if name == "br":
            runs.append(("\n", frozenset()))
        elif name in ("span", "a"):
            if tag[3].strip():
                raise untranslatable(f"the tag {tag[0]} in the text {source!r}")
        elif name not in _STYLES:
            raise untranslatable(f"the tag {tag[0]} in the text {source!r}")
        elif closing:
            if _STYLES[name] in open_tags:
                open_tags.remove(_STYLES[name])
        else:
            open_tags.append(_STYLES[name])
    runs.append((source[end:], frozenset(open_tags)))
    return [(html.unescape(piece), style) for piece, style in runs if piece]


def _written(piece: str, style: frozenset[str]) -> str:
    if not style or piece == "\n":
        return piece.replace("\\", "\\\\").replace("$", r"\$") if "$" in piece else piece
    face = _FACES[style & {"b", "i"}]
    body = f"{face}{{{''.join(map(_in_formula, piece))}}}"
    script = "_" if "sub" in style else "^" if "sup" in style else ""
    return f"${{}}{script}{body}$" if script else f"${body}$"


def _in_formula(character: str) -> str:
    """A character that a formula prints as it is, without the spaces that it has around signs."""
    if character.isalnum():
        return character
    special = {" ": r"\ ", "-": "{\u2010}", "\\": r"{\backslash}", "\u00a0": r"\ "}
    escaped = f"{{\\{character}}}" if character in "$%_{}#&" else f"{{{character}}}"
    return special.get(character, escaped)
