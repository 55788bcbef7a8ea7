"""The table of contents of a page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

_HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)<a class="anchor-link"', re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A heading of ``level`` 2 or 3: its anchor and its text, both as HTML."""

    level: int
    anchor: Markup
    text: Markup


def of(texts: Iterable[str]) -> list[Entry]:
    """The headings of levels 2 and 3 in these pieces of HTML, which :mod:`fedlab_course.publish.markdown` made."""
    found = (match for text in texts for match in _HEADING.finditer(text))
    return [
        Entry(int(level), Markup(anchor), Markup(re.sub(r"</?a\b[^>]*>", "", text)))
        for level, anchor, text in (match.groups() for match in found)
    ]
