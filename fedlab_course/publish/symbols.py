"""The symbol sheet of the course, read from ``symbols.toml``."""

from dataclasses import dataclass
from pathlib import Path

from fedlab_core.language import translator
from fedlab_course import words

_ = translator(__name__)


@dataclass(frozen=True)
class Symbol:
    """A symbol as a character ("μ"), in TeX (r"\\mu"), its name in code (or ""), and its meaning in
    Markdown.
    """

    sign: str
    tex: str
    code: str
    meaning: str


_ROWS = words.read(Path(__file__).parent / "symbols.toml", __name__)["symbol"]
SYMBOLS = tuple(Symbol(**row) for row in _ROWS)


def table() -> str:
    """The symbol sheet as a Markdown table. A browser may break long names in code after an
    underscore.
    """
    codes = [f"<code>{s.code.replace('_', '_<wbr>')}</code>" if s.code else "–" for s in SYMBOLS]
    rows = [f"| ${s.tex}$ | {s.meaning} | {code} |" for s, code in zip(SYMBOLS, codes, strict=True)]
    return "\n".join([_("| symbol | meaning | in code |"), "|---|---|---|", *rows])
