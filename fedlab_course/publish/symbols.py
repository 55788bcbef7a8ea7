"""The symbol sheet of the course, read from ``symbols.toml``."""

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Symbol:
    """A symbol as a character ("μ"), in TeX (r"\\mu"), its name in code (or ""), and its meaning in
    Markdown.
    """

    sign: str
    tex: str
    code: str
    meaning: str


_TEXT = resources.files(__package__).joinpath("symbols.toml").read_text(encoding="utf-8")
SYMBOLS = tuple(Symbol(*row) for row in tomllib.loads(_TEXT)["symbols"])


def table() -> str:
    """The symbol sheet as a Markdown table. A browser may break long names in code after an
    underscore.
    """
    codes = [f"<code>{s.code.replace('_', '_<wbr>')}</code>" if s.code else "–" for s in SYMBOLS]
    rows = [f"| ${s.tex}$ | {s.meaning} | {code} |" for s, code in zip(SYMBOLS, codes, strict=True)]
    return "\n".join(["| symbol | meaning | in code |", "|---|---|---|", *rows])
