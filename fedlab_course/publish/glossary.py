"""The glossary of the course, one sentence for each word, read from ``glossary.toml``."""

from collections.abc import Iterable
from pathlib import Path

from fedlab_core.language import translator
from fedlab_course import words

_ = translator(__name__)
GLOSSARY: dict[str, str] = words.read(Path(__file__).parent / "glossary.toml", __name__)


def table(entries: Iterable[str] = GLOSSARY) -> str:
    """The glossary, or these words of it, as a Markdown table in alphabetical order."""
    rows = [f"| **{_(word)}** | {GLOSSARY[word]} |" for word in sorted(entries, key=str.lower)]
    return "\n".join([_("| word | meaning |"), "|---|---|", *rows])
