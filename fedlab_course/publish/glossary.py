"""The glossary of the course, one sentence for each word, read from ``glossary.toml``."""

import tomllib
from collections.abc import Iterable
from importlib import resources

_TEXT = resources.files(__package__).joinpath("glossary.toml").read_text(encoding="utf-8")
GLOSSARY: dict[str, str] = tomllib.loads(_TEXT)


def table(words: Iterable[str] = GLOSSARY) -> str:
    """The glossary, or these words of it, as a Markdown table in alphabetical order."""
    rows = [f"| **{word}** | {GLOSSARY[word]} |" for word in sorted(words, key=str.lower)]
    return "\n".join(["| word | meaning |", "|---|---|", *rows])
