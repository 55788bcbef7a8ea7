"""Convert notebook text to HTML that needs no script and no network; formulas become MathML."""

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from latex2mathml import converter
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)<a class="anchor-link"', re.DOTALL)
# The converter leaves these in its output when it does not know a command or an environment.
_UNCONVERTED = ("\\", "<mi>&</mi>", "<mi>&amp;</mi>", '<mspace linebreak="newline"')


def contents(texts: Iterable[str]) -> list[tuple[int, Markup, Markup]]:
    """The headings of levels 2 and 3 in pieces of HTML from :func:`to_html`: level, anchor and text."""
    found = (match.groups() for text in texts for match in _HEADING.finditer(text))
    return [(int(level), Markup(anchor), Markup(re.sub(r"</?a\b[^>]*>", "", text))) for level, anchor, text in found]


def to_html(source: str, pages: Collection[str] = ()) -> str:
    """Convert Markdown with TeX between dollar signs to HTML. Links to notebooks become links to ``pages``."""
    return MarkdownWithMath(renderer=_Renderer(pages)).render(source)


@cache
def to_mathml(tex: str, display: str = "inline") -> str:
    """Convert TeX to MathML, ``display`` "inline" or "block". Raises ``ValueError`` for unknown TeX."""
    # The converter knows the unnumbered environments by one name.
    aligned = re.sub(r"\{(aligned|align|equation\*?)\}", "{align*}", tex)
    try:
        mathml = converter.convert(aligned.strip(), display=display)
    except Exception as error:  # the converter's errors have no common base class
        raise ValueError(f"formula ${tex}$: {type(error).__name__} {error}") from error
    if any(sign in mathml for sign in _UNCONVERTED):
        raise ValueError(f"formula ${tex}$: MathML does not support a command or an environment in it; rewrite it")
    return mathml


class _Renderer(IPythonRenderer):
    def __init__(self, pages: Collection[str]) -> None:
        super().__init__(escape=False)
        self._pages = pages

    def inline_math(self, body: str) -> str:
        return to_mathml(body)

    def block_math(self, body: str) -> str:
        return f'<span class="formula">{to_mathml(body, "block")}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        anchor = escape(Markup(text).striptags().replace(" ", "-"))
        link = f'<a class="anchor-link" href="#{anchor}" aria-label="Link to this section">#</a>'
        return f'<h{level} id="{anchor}">{text}{link}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        stem, ending, anchor = url.removeprefix("./").partition(".ipynb")
        if ending and stem not in self._pages:
            return text
        return super().link(text, f"{stem}.html{anchor}" if ending else url, title)
