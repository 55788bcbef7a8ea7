"""One symbol, one meaning: every letter in a formula is on the symbol sheet, or in the chapter's own list."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fedlab_course.chapters.outline import Chapter
from fedlab_course.publish import symbols

_CODE = re.compile(r"(?P<fence>```|~~~).*?(?P=fence)|`[^`]*`", flags=re.DOTALL)
_FORMULA = re.compile(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", flags=re.DOTALL)
_UPRIGHT = re.compile(r"\\(?:text|mathrm|operatorname|mathbb|textsf|texttt|begin|end)\*?\{[^{}]*\}")
_LETTER = re.compile(
    r"\\(alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau"
    r"|upsilon|(?:var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega|ell)(?![A-Za-z])"
    r"|\\[A-Za-z]+|([A-Za-z])"
)
# Indices, the variable of a function, a function, a sample and its label, and the letters of d/dx and of e.
FREE = set("ijktcxfgye")


def faults(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Yield the letters that no sheet explains, and the chapter's symbols that the symbol sheet has already."""
    sheet = {symbol.tex for symbol in symbols.SYMBOLS}
    yield from (f"chapter.toml: also: {tex} is on the symbol sheet already" for tex in chapter.also if tex in sheet)
    known = FREE | letters([*sheet, *chapter.also])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = _FORMULA.findall(_CODE.sub(" ", cell.source))
            unknown = sorted(letters(display or inline for display, inline in found) - known)
            if unknown:
                yield f"cell {cell.get('id')}: {', '.join(unknown)} on no symbol sheet; add it to chapter.toml, also"


def letters(formulas: Iterable[str]) -> set[str]:
    """Latin letters, and Greek ones by name, that occur in TeX ``formulas``."""
    found = [pair for formula in formulas for pair in _LETTER.findall(_UPRIGHT.sub(" ", formula))]
    return {greek or latin for greek, latin in found} - {""}
