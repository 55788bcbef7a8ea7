"""One symbol, one meaning: the letters in formulas are on the symbol sheet, or among those of the chapter alone."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fedlab_course.chapters.outline import Chapter
from fedlab_course.publish import symbols

_FORMULA = re.compile(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", flags=re.DOTALL)
_CODE = re.compile(r"(?P<fence>```|~~~).*?(?P=fence)|`[^`]*`", flags=re.DOTALL)
_UPRIGHT = re.compile(r"\\(?:text|mathrm|operatorname|mathbb|textsf|texttt|begin|end)\*?\{[^{}]*\}")
_LETTER = re.compile(r"\\([A-Za-z]+)|([A-Za-z])")
_GREEK = re.compile(
    "alpha|beta|gamma|delta|(var)?epsilon|zeta|eta|(var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon"
    "|(var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega|ell"
)
# Indices, the variable of a function, a function, a sample and its label, and the letters of d/dx and of e.
FREE = set("ijktcxfgye")


def faults(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Letters that are explained nowhere, and symbols of the chapter that the sheet has already."""
    sheet = {symbol.tex for symbol in symbols.SYMBOLS}
    yield from (f"outline.toml explains {tex} anew, which the symbol sheet has" for tex in chapter.also if tex in sheet)
    known = FREE | bases([*sheet, *chapter.also])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            unknown = sorted(bases(_formulas(cell.source)) - known)
            if unknown:
                yield f"cell {cell.get('id')}: {', '.join(unknown)} on no symbol sheet; add it to chapter.toml"


def bases(formulas: Iterable[str]) -> set[str]:
    """The letters, Latin ones and Greek ones by name, that occur in TeX."""
    found = set()
    for formula in formulas:
        for command, letter in _LETTER.findall(_UPRIGHT.sub(" ", formula)):
            if letter or _GREEK.fullmatch(command):
                found.add(letter or command)
    return found


def _formulas(text: str) -> list[str]:
    return [display or inline for display, inline in _FORMULA.findall(_CODE.sub(" ", text))]
