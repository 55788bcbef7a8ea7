"""Tables in LaTeX, in the form of the package booktabs."""

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import Any

from fedlab_core.write.frames import Cell, grid

_TEXT = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEXT |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
_TEXT |= {character: f"\\{character}" for character in "_%&#${}"}
_TEXT |= {"–": "--", "—": "---", "…": r"\ldots{}", "’": "'", "‘": "`", "“": "``", "”": "''"}
_TEXT |= {"\u00a0": "~", "\u202f": r"\,", "\u2009": r"\,", "\u2011": "-"}
_SIGNS = {"±": r"\pm", "×": r"\times", "−": "-", "·": r"\cdot", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx"}
_SIGNS |= {"∞": r"\infty", "‖": r"\|", "∇": r"\nabla", "∂": r"\partial", "√": r"\surd", "∑": r"\sum", "∈": r"\in"}
_SIGNS |= {"→": r"\to", "←": r"\leftarrow", "↑": r"\uparrow", "↓": r"\downarrow", "⊙": r"\odot", "′": "'"}
_SIGNS |= {"µ": r"\mu", "ϵ": r"\epsilon", "ε": r"\varepsilon", "ϕ": r"\phi", "φ": r"\varphi", "ς": r"\varsigma"}
_COMMANDS = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega")
# Greek letters that LaTeX has no command for: they look like Latin ones.
_LATIN = {"Alpha": "A", "Beta": "B", "Epsilon": "E", "Zeta": "Z", "Eta": "H", "Iota": "I", "Kappa": "K", "Mu": "M"}
_LATIN |= {"Nu": "N", "Omicron": "O", "Rho": "P", "Tau": "T", "Chi": "X", "omicron": "o"}


def latex(
    frame: Any, *, caption: str | None = None, label: str | None = None, digits: int = 3, best: str | None = None
) -> str:
    r"""A frame of :mod:`fedlab_core.compare`, or any other, as a table in LaTeX: needs ``\usepackage{booktabs}``.

    A ``tabular``, or with a ``caption`` or a ``label`` a whole ``table``. Everything is escaped, also in the caption;
    Greek letters and signs become formulas. ``digits`` and ``best`` as in :func:`fedlab_core.write.markdown`. Raises
    ``ValueError`` as that does, for a label with other than letters, digits and ``:-._/``, and for a character that
    LaTeX has no simple form of.
    """
    if label is not None and not re.fullmatch(r"[\w:./-]+", label, flags=re.ASCII):
        raise ValueError(f"label={label!r}: must consist of letters, digits, and :-._/")
    table = grid(frame, digits, best)
    columns = "".join("r" if right else "l" for right in table.measured)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(table.headings, escaped), r"\midrule"]
    lines += [*(_row(row, _cell) for row in table.rows), r"\bottomrule", r"\end{tabular}"]
    if caption is not None or label is not None:
        head = [] if caption is None else [rf"\caption{{{escaped(caption)}}}"]
        head += [] if label is None else [rf"\label{{{label}}}"]
        lines = [r"\begin{table}", r"\centering", *head, *lines, r"\end{table}"]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX prints it. Raises ``ValueError`` for a character it has no simple form of."""
    forms = [_form(character) for character in " ".join(text.split())]
    return "".join(_joined(kind, [form for _, form in group]) for kind, group in groupby(forms, key=lambda one: one[0]))


def _row(cells: list[Any], write: Callable[[Any], str]) -> str:
    return " & ".join(map(write, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    if not cell.number:
        return escaped(cell.text)
    number = rf"\mathbf{{{_number(cell.text)}}}" if cell.best else _number(cell.text)
    return f"${number}$" if cell.spread is None else rf"${number} \pm {_number(cell.spread)}$"


def _number(text: str) -> str:
    """A number in a formula, where a comma would have a space after it."""
    return text.replace(",", "{,}").replace("−", "-").replace("∞", r"\infty")


def _joined(kind: str, forms: list[str]) -> str:
    """Characters of one kind next to each other: an exponent of two digits is one exponent."""
    if kind == "text":
        return "".join(forms)
    return f"${' '.join(forms)}$" if kind == "sign" else f"${kind}{{{''.join(forms)}}}$"


def _form(character: str) -> tuple[str, str]:
    """What a character is, "text", "sign", "^" or "_", and how LaTeX writes it."""
    if character in _TEXT:
        return "text", _TEXT[character]
    if character in _SIGNS:
        return "sign", _SIGNS[character]
    if character.isascii() and character.isprintable():
        return "text", character
    small = re.match(r"<(sub|super)> ", unicodedata.decomposition(character))
    if small:
        return "_" if small[1] == "sub" else "^", unicodedata.normalize("NFKC", character).replace("−", "-")
    return _letter(character)


def _letter(character: str) -> tuple[str, str]:
    name = unicodedata.name(character, "")
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name)
    if greek:
        spoken = "LAMBDA" if greek[2] == "LAMDA" else greek[2]
        spoken = spoken.lower() if greek[1] == "SMALL" else spoken.capitalize()
        if spoken in _LATIN:
            return "sign", rf"\mathrm{{{_LATIN[spoken]}}}"
        if greek[1] == "SMALL" or spoken in _COMMANDS:
            return "sign", f"\\{spoken}"
    if re.match(r"LATIN (SMALL|CAPITAL) (LETTER|LIGATURE) ", name):
        return "text", character
    raise ValueError(f"{character!r} ({name.lower() or 'unnamed'}): has no form in LaTeX here; rename what holds it")
