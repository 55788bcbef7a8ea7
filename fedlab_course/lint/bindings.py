"""What a text says of results rests on a verdict: every sentence with a direction names the one that it is bound to.

A binding is a comment behind the sentence: ``<!-- 01-skew-early -->`` names stored verdicts, ``<!-- live -->`` a check
of the same section, and ``<!-- exact -->`` what follows from a formula in the text. Looked at are the paragraphs that
begin with **What we see.**, those below them in their cell, and the lines of **What to remember**.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fedlab_course.evidence import judging

SEEN, REMEMBER = "**What we see.**", "## What to remember"
OPEN = re.compile(
    r"undecided|unsettled|open question|leaves? open|(is|are|stays?|remains?) open|not enough"
    r"|(not|cannot) (settled?|decided?|tell|say|know)",
    re.I,
)
_DIRECTION = re.compile(
    r"\b(higher|lower|faster|slower|quicker|sooner|ahead|behind|better|worse|beats?|wins?|overtakes?|outperforms?"
    r"|improves?|rises?|falls?|grows?|shrinks?|vanish(?:es)?|helps?|hurts?|harms?|gains?|loses?|raises?|lowers?"
    r"|smoother|rougher|steadier|further|closer|nearer|larger|smaller|no difference|equivalent|more accurate"
    r"|less accurate|stronger|weaker|dearer|cheaper)\b",
    re.I,
)
_BOUND = re.compile(r"\s*<!--\s*(.*?)\s*-->", re.DOTALL)
_ABBREVIATION = re.compile(r"\b(al|eq|Eq|e\.g|i\.e|cf|vs|Fig|fig|no|St)\.$")


@dataclass
class Section:
    """A part of a chapter below a heading of level 2: its texts, the stored verdicts that it shows, live checks."""

    texts: list[tuple[str, str]] = field(default_factory=list)  # cell id, source
    stored: list[str] = field(default_factory=list)
    live: bool = False


def faults(notebook: Any) -> Iterator[str]:
    """Sentences on results that name no verdict, or one that is not shown or does not decide."""
    parts = sections(notebook)
    everywhere = [id for part in parts for id in part.stored]
    known = judging.every()
    yield from (f"shows {id}, which is no stored verdict" for id in dict.fromkeys(everywhere) if id not in known)
    for part in parts:
        for cell, text in part.texts:
            if SEEN in text and not (part.stored or part.live):
                yield f"cell {cell}: says what we see in a section without a verdict"
            for said in _sentences_on_results(text):
                shown = everywhere if text.startswith(REMEMBER) else part.stored
                live = part.live or text.startswith(REMEMBER)
                yield from (f"cell {cell}: {fault}" for fault in _unbound(said, shown, live))


def sections(notebook: Any) -> list[Section]:
    """The chapter from one heading of level 2 to the next."""
    parts = [Section()]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            if re.match(r"#{1,2} ", cell.source):
                parts.append(Section())
            parts[-1].texts.append((cell.get("id", ""), cell.source))
        else:
            ids, live = _shown(cell.source)
            parts[-1].stored += ids
            parts[-1].live |= live
    return parts


def _shown(source: str) -> tuple[list[str], bool]:
    """The stored verdicts that a cell shows, and whether it checks anything itself."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return [], False
    named = [(call, call.func.attr) for call in calls if isinstance(call.func, ast.Attribute)]
    ids = [
        one.value
        for call, name in named
        if name == "stored"
        for one in call.args
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return ids, any(name in ("check", "band") and _of_claims(call) for call, name in named)


def _of_claims(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "claims"


def _sentences_on_results(text: str) -> Iterator[str]:
    """The sentences, with their bindings, of the paragraphs that say what was seen or is to be remembered."""
    if text.startswith(REMEMBER):
        yield from re.findall(r"^- (.*?)(?=^- |^#|\Z)", text, flags=re.DOTALL | re.MULTILINE)
        return
    saying = False
    for paragraph in re.split(r"\n\s*\n", text):
        begins = re.match(r"\*\*([^*]+)\*\*", paragraph)
        saying = paragraph.startswith(SEEN) if begins or paragraph.startswith(("#", "<", ">", "|")) else saying
        if saying:
            yield from _split(paragraph)


def _split(paragraph: str) -> Iterator[str]:
    """Sentences with the comments that stand behind them."""
    start = 0
    for end in re.finditer(r"[.!?](?:\s*<!--.*?-->)*(?=\s|$)", paragraph, flags=re.DOTALL):
        if not _ABBREVIATION.search(paragraph[start : end.start() + 1]):
            yield paragraph[start : end.end()].strip()
            start = end.end()
    if paragraph[start:].strip():
        yield paragraph[start:].strip()


def _unbound(said: str, shown: list[str], live: bool) -> Iterator[str]:
    """What is wrong with the bindings of one sentence."""
    names = [name.strip() for found in _BOUND.findall(said) for name in found.split(",")]
    words = _BOUND.sub("", said)
    quoted = f"{words[:70]!r}"
    if not names and _DIRECTION.search(words):
        yield f"{quoted} has a direction, and names no verdict"
    for name in names:
        if name == "live" and not live:
            yield f"{quoted} rests on a live check, and its section has none"
        elif name not in ("live", "exact") and name not in shown:
            yield f"{quoted} rests on {name}, which is not shown there"
    known = judging.every()
    verdicts = [known[name].verdict for name in names if name in known]
    nothing = bool(verdicts) and len(verdicts) == len(names) and all(one.verdict == "undecided" for one in verdicts)
    if nothing and not OPEN.search(words):
        yield f"{quoted} rests on {', '.join(names)}, undecided, and does not say so"
