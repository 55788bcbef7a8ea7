"""The switch between languages on every page, which stays on the same page.

The site of a translation is in a folder inside the English one, such as ``site/zh``, and is made by
a run of its own. So each run connects the pages of all languages that are there.
"""

import os
import re
from html import escape
from pathlib import Path

from fedlab_core import files, language
from fedlab_core.language import translator

_PLACE = re.compile(r'<span class="languages">.*?</span>', re.DOTALL)


def root(target: Path) -> Path:
    """The folder of the English site, given that of the site in the process's language."""
    return target if language.current() == language.SOURCE else target.parent


def connect(target: Path) -> None:
    """Link each page of a site with the same page in the other languages.

    ``target``: the folder of the site in the process's language.
    """
    english = root(target)
    folders = {language.SOURCE: english}
    folders |= {code: english / code for code in language.languages() if (english / code).is_dir()}
    for code, folder in folders.items():
        for page in sorted(folder.glob("*.html")):
            others = {
                other: os.path.relpath(place / page.name, folder)
                for other, place in folders.items()
                if other != code and (place / page.name).is_file()
            }
            _write(page, others)


def _write(page: Path, others: dict[str, str]) -> None:
    """Write links into a page, if it has a place for them: ``others`` has language → address."""
    html = page.read_text(encoding="utf-8")
    links = []
    for other, address in others.items():
        _ = translator(__name__, other)
        name = escape(_("English"))  # its translation is the name of the other language
        tag = language.tag(other)
        links.append(f'<a href="{address}" lang="{tag}" hreflang="{tag}">{name}</a>')
    span = f'<span class="languages">{"".join(links)}</span>'
    fresh = _PLACE.sub(lambda _found: span, html, count=1)
    if fresh != html:
        with files.replacing(page) as file:
            file.write(fresh.encode())
