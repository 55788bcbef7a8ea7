"""Other right answers and plausible wrong ones, from the files ``variants/chNN.toml``.

    [03-class.right."c is the mean of the table"]
    aggregate = '''...'''

A table has the code in place of the ``...``, by the name of the function or method that it is in;
what is not named is as in the solution. ``whole`` is instead the whole source. A wrong answer also
has a ``hint``: words that the verdict on it must have.
"""

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fedlab_course.check import registry
from fedlab_course.check.base import BEGIN, END, Exercise

FOLDER = Path(__file__).parent / "variants"


@dataclass(frozen=True)
class Variant:
    """An answer to the exercise with this id. ``hint``: None for a right one."""

    exercise: str
    name: str
    source: str
    hint: str | None

    def __str__(self) -> str:
        return f"{self.exercise}: {self.name}"


def filled(exercise: Exercise, parts: Mapping[str, str]) -> str:
    """The source of an answer with these ``parts`` of the solution replaced."""
    lines: list[str] = []
    used = set()
    is_replaced = False
    function = ""
    for line in exercise.marked_source.splitlines():
        found = re.match(r"\s*def (\w+)", line)
        function = found.group(1) if found else function
        if line.strip() == BEGIN and function in parts:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(textwrap.indent(textwrap.dedent(parts[function]).strip("\n"), indent))
            used.add(function)
            is_replaced = True
        if not is_replaced and line.strip() not in (BEGIN, END):
            lines.append(line)
        if line.strip() == END:
            is_replaced = False
    if used != set(parts):
        raise ValueError(f"{exercise.id}: nothing is to be written in {set(parts) - used}")
    return "\n".join(lines) + "\n"


def every() -> Iterator[Variant]:
    """All variants, in the order of the files."""
    for path in sorted(FOLDER.glob("*.toml")):
        for id, kinds in tomllib.loads(path.read_text(encoding="utf-8")).items():
            exercise = registry.get(id)
            for kind, variants in kinds.items():
                for name, parts in variants.items():
                    hint = parts.pop("hint", None)
                    if (hint is None) != (kind == "right"):
                        raise ValueError(f"{path.name}: {id}: {name!r}: a wrong answer has a hint")
                    source = parts["whole"] if "whole" in parts else filled(exercise, parts)
                    yield Variant(id, name, source, hint)
