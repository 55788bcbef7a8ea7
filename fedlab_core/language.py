"""The language of what a person reads: figures, questions, hints and pages.

The source is English. With ``FEDLAB_LANGUAGE=zh`` in the environment, words come from the
catalogues of gettext in ``locale/zh_CN/LC_MESSAGES``: one for each package that has words, and one
for each notebook in ``notebooks``. A new folder in ``locale`` is a new language. A text without a
translation, or with one that is marked fuzzy, stays English.

One process has one language: set the variable before the first import, so that words in constants
are translated too. Exception messages, logs and the reference stay English.
"""

import gettext
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

VARIABLE = "FEDLAB_LANGUAGE"
SOURCE = "en"
FOLDER = Path(__file__).parent / "locale"
NOTEBOOKS = "notebooks"  # the folder of their catalogues, beside those of packages

# A call such as _("Play") in a script, with the string in JSON.
CALL_IN_SCRIPT = re.compile(r'(?<![\w$.])_\(\s*("(?:[^"\\\n]|\\.)*")\s*,?\s*\)')

Translate = Callable[[str], str]


@cache
def languages() -> Mapping[str, str]:
    """The languages with catalogues: code → locale, such as "zh" → "zh_CN"."""
    folders = [path for path in sorted(FOLDER.glob("*")) if (path / "LC_MESSAGES").is_dir()]
    return {path.name.partition("_")[0]: path.name for path in folders}


def current() -> str:
    """The code of this process's language, "en" or one of :func:`languages`.

    Raises ``ValueError`` for a language without catalogues.
    """
    return known(os.environ.get(VARIABLE) or SOURCE, VARIABLE)


def known(language: str, name: str) -> str:
    """``language`` if it is English or has catalogues. Raises ``ValueError`` that names the others.

    ``name``: what has this value, such as "--language".
    """
    there = [SOURCE, *languages()]
    if language not in there:
        raise ValueError(f"{name}={language!r}: must be one of {', '.join(there)}")
    return language


def tag(language: str) -> str:
    """The ``lang`` attribute of a page, such as "zh-CN"."""
    return languages().get(language, language).replace("_", "-")


def folder(language: str) -> Path:
    """The folder with the catalogues of a language."""
    return FOLDER / languages()[language] / "LC_MESSAGES"


def translator(module: str, code: str = "") -> Translate:
    """The function ``_`` of a module: ``_ = translator(__name__)``. ``code``: a language other than
    that of the process.

    A message is looked up in the catalogue of the module's package, then in those of the packages
    above it, and last in that of ``fedlab_core``. Values go in afterwards:
    ``_("{count} rounds").format(count=count)``.
    """

    def translate(message: str) -> str:
        language = code or current()
        if language == SOURCE or not message:
            return message
        for catalogue in _nearest_first(language, module):
            translation = catalogue.gettext(message)
            if translation != message:
                return translation
        return message

    return translate


def in_script(source: str, module: str) -> str:
    """A script in which each ``_("…")`` is replaced by its translation as a string."""
    translate = translator(module)

    def literal(call: re.Match[str]) -> str:
        return json.dumps(translate(json.loads(call[1])), ensure_ascii=False)

    return CALL_IN_SCRIPT.sub(literal, source)


@cache
def _nearest_first(language: str, module: str) -> Sequence[gettext.GNUTranslations]:
    """The catalogues of a module."""
    parts = module.split(".")
    domains = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    if parts[0] != "fedlab_core":
        domains.append("fedlab_core")
    paths = [folder(language) / f"{domain}.po" for domain in domains]
    return [compiled(path) for path in paths if path.is_file()]


@cache
def compiled(path: Path) -> gettext.GNUTranslations:
    """The catalogue in a ``.po`` file, without fuzzy entries. Raises ``ImportError`` without
    Babel.
    """
    try:
        from babel.messages import mofile, pofile
    except ImportError as error:
        raise ImportError(
            f"{VARIABLE}: needs Babel: pip install '.[course]', the extra of the course"
        ) from error
    with path.open("rb") as file:
        catalogue: Any = pofile.read_po(file)
    binary = io.BytesIO()
    mofile.write_mo(binary, catalogue)
    binary.seek(0)
    return gettext.GNUTranslations(binary)
