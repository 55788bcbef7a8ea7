"""Does a translation say what its message says? What can be compared without knowing the language:
placeholders, formulas, code, links, marks of statements and numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

_COMMENT = re.compile(r"<!--.*?-->")
_FENCED = re.compile(r"(?ms)^```.*?^```")
_FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+?\$", re.DOTALL)
_SPAN = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(([^)]+)\)")
_FIELD = re.compile(r"\{[^{}\s]*\}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ELEMENT = re.compile(r"</?(?:details|summary|b|i|em|strong|code|sub|sup|br|p|ul|li|a|kbd)\b[^>]*>")


def differences(message: str, translation: str, *, in_notebook: bool = False) -> list[str]:
    """Name what ``message`` has and ``translation`` has not, or the other way round.

    The code of a fenced block may differ in comments and strings only in words, so that it is
    compared by its number of lines. Numbers of the message must be in the translation, which may
    have more: "ten" may become 10.
    """
    found = []
    kinds: dict[str, Callable[[str], Counter[str]]] = {
        "marks of statements": lambda text: Counter(_COMMENT.findall(text)),
        "blocks of code, by their lines": _blocks,
        "formulas": _formulas,
        "code": lambda text: Counter(_SPAN.findall(_plain(text))),
        "addresses": lambda text: Counter(_LINK.findall(text)),
        "elements": lambda text: Counter(_ELEMENT.findall(text)),
    }
    if not in_notebook:
        kinds["fields"] = lambda text: Counter(_FIELD.findall(_FORMULA.sub("", text)))
    for kind, of in kinds.items():
        wanted, there = of(message), of(translation)
        if wanted != there:
            missing = ", ".join((wanted - there).keys())
            added = ", ".join((there - wanted).keys())
            found.append(f"{kind} differ: missing [{missing}], added [{added}]")
    lost = _numbers(message) - _numbers(translation)
    if lost:
        found.append(f"numbers are missing: {', '.join(lost)}")
    return found


@cache
def unused(glossary: Path) -> Mapping[str, str]:
    """The words that a language does not use: word → the English term for which it has another.

    ``glossary``: a page with a table of three columns, which are term, translations and the words
    not used, with 、 or a comma between them.
    """
    found: dict[str, str] = {}
    for line in glossary.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[2] != "not used":
            found |= {word: cells[0] for word in re.split("[、,] ?", cells[2]) if word}
    return found


def wrong_terms(translation: str, glossary: Path) -> list[str]:
    """Name the words of ``translation`` that the ``glossary`` does not use."""
    if not glossary.is_file():
        return []
    return [
        f"{word} is not used for “{term}”"
        for word, term in unused(glossary).items()
        if word in translation
    ]


def _plain(text: str) -> str:
    """Text without blocks of code, formulas and comments."""
    return _FORMULA.sub(" ", _COMMENT.sub("", _FENCED.sub("", text)))


def _blocks(text: str) -> Counter[str]:
    return Counter(str(block.count("\n")) for block in _FENCED.findall(text))


def _formulas(text: str) -> Counter[str]:
    """The formulas, without the words in them and without spaces."""
    found = _FORMULA.findall(_COMMENT.sub("", _FENCED.sub("", text)))
    return Counter(re.sub(r"\s+|\\text\{[^}]*\}", "", formula) for formula in found)


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(_SPAN.sub("", _plain(text))))
