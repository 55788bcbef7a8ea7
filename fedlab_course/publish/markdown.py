"""Convert notebook text to HTML that needs no script and no network; formulas become MathML."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from fedlab_course.formulas import to_mathml

_HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)<a class="anchor-link"', re.DOTALL)
_KEYS = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=[。！？]))[^.!?。！？\n]*\*\*Shift\+Enter\*\*[^.!?。！？\n]*"
    r"(?:[.!?] ?|[。！？])",
    re.MULTILINE,
)


def for_a_page(source: str) -> str:
    """Leave out the sentences on Shift+Enter: a page has no cell that a reader could run."""
    return _KEYS.sub("", source)


def contents(texts: Iterable[str]) -> list[tuple[int, Markup, Markup]]:
    """The headings of levels 2 and 3 in pieces of HTML from :func:`to_html`: level, anchor and
    text.
    """
    headings = (match.groups() for text in texts for match in _HEADING.finditer(text))
    return [
        (int(level), Markup(anchor), Markup(re.sub(r"</?a\b[^>]*>", "", text)))
        for level, anchor, text in headings
    ]


def to_html(source: str, pages: Collection[str] = ()) -> str:
    """Convert Markdown with TeX between dollar signs to HTML. Links to notebooks become links to
    ``pages``.
    """
    return MarkdownWithMath(renderer=_Renderer(pages)).render(source)


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

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Leave out an attachment: the picture of what the next cell shows, which has been run on a
        page.
        """
        return "" if url.startswith("attachment:") else super().image(text, url, title)
