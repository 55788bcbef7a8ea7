"""``python -m fedlab_course translate``: bring the catalogues of a language up to date, or check
them.
"""

import argparse
import sys

from fedlab_core import language, validation
from fedlab_course.translation import catalogues


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        f"{parser.description} If an English text changes, its translation is marked fuzzy, and "
        "readers get the English text until somebody removes the mark."
    )
    add = parser.add_argument
    add(
        "language",
        help="such as zh; a new one needs a folder fedlab_core/locale/LOCALE/LC_MESSAGES",
    )
    add("--check", action="store_true", help="write nothing; list what is wrong, and exit with 1")
    add("--only", nargs="+", default=[], metavar="NAME", help="names of catalogues")
    parser.set_defaults(run=_translate)


def _translate(options: argparse.Namespace) -> int:
    code = options.language
    if language.known(code, "language") == language.SOURCE:
        raise ValueError("language=en: is the language of the source")
    for name in options.only:
        validation.choice("catalogue", name, catalogues.names())
    if options.check:
        faults = list(catalogues.faults(code, options.only))
        print(*faults, sep="\n", file=sys.stderr)
        print(f"{len(faults) or 'no'} fault{'s' * (len(faults) != 1)}")
        return 1 if faults else 0
    for name, counts in catalogues.update(code, options.only).items():
        words = f"{counts.messages} messages, {counts.untranslated} without a translation"
        print(f"{name}: {words}, {counts.fuzzy} fuzzy")
    return 0
