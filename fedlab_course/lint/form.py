"""The form of a chapter: its size, its time, its parameters, and the loop of predictions, quiz and score."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from fedlab_course.chapters.outline import Chapter
from fedlab_course.check import bank

MOST_CELLS, MOST_CODE = 50, 200
PACE = 70  # words of prose a minute
SHORTEST, LONGEST = 25, 45  # minutes
_PLUMBING = re.compile(
    r"\b(new_figure|add_(?:scatter|bar|heatmap|hrect|vrect|hline|vline|trace)|set_description|make_subplots)\b"
)
_TIME = re.compile(r"\*\*Time\*\*: (\d+) minutes to read")
_NO_PROSE = re.compile(
    r"(?P<fence>```|~~~).*?(?P=fence)|<!--.*?-->|<[^>]+>|^\|[-| :]+\|$", flags=re.DOTALL | re.MULTILINE
)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", flags=re.DOTALL)
_REMEMBER = "## What to remember"
_CALL = re.compile(r"questions\.(predict|outcome|quiz|score)\(\s*\"([^\"]+)\"")


def faults(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Where ``notebook`` leaves the form of a chapter."""
    yield from _size(notebook)
    yield from _time(notebook)
    yield from _parameters(notebook, chapter)
    yield from _questions(notebook, chapter)
    yield from _remember(notebook)
    for cell in notebook.cells:
        found = _PLUMBING.search(cell.source) if cell.cell_type == "code" else None
        if found:
            yield f"cell {cell.get('id')}: draws with {found[0]}; a figure is a function of a figures.py"
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            yield f"cell {cell.get('id')}: hides its source"


def words(notebook: Any) -> int:
    """How many words of prose a reader meets; a formula counts as one, code and the bars of tables as none."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    plain = _FORMULA.sub(" formula ", _NO_PROSE.sub(" ", text))
    return len([word for word in plain.split() if re.search(r"\w", word)])


def lines(notebook: Any) -> int:
    """How many lines of code a reader sees."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return sum(bool(line.strip()) for source in code for line in source.splitlines())


def minutes(notebook: Any) -> int | None:
    """The minutes to read that the first cell states, or None."""
    found = _TIME.search(notebook.cells[0].source)
    return int(found[1]) if found else None


def _size(notebook: Any) -> Iterator[str]:
    if len(notebook.cells) > MOST_CELLS:
        yield f"{len(notebook.cells)} cells, more than {MOST_CELLS}"
    if lines(notebook) > MOST_CODE:
        yield f"{lines(notebook)} lines of code, more than {MOST_CODE}"


def _time(notebook: Any) -> Iterator[str]:
    if re.search(r"\*\*Time\*\*:.*\bto run\b", notebook.cells[0].source):
        yield "the first cell says how long it runs, which only a run knows: its page says so"
    stated, needed = minutes(notebook), words(notebook) / PACE
    if stated is None:
        yield 'the first cell must say "**Time**: … minutes to read"'
    elif not (SHORTEST <= stated <= LONGEST and abs(stated - needed) <= 5):
        yield (
            f"says {stated} minutes to read; its {words(notebook)} words take {needed:.0f} at {PACE} a minute, and a "
            f"chapter takes {SHORTEST} to {LONGEST}"
        )


def _parameters(notebook: Any, chapter: Chapter) -> Iterator[str]:
    cell = next((one for one in notebook.cells if "parameters" in one.metadata.get("tags", [])), None)
    if cell is None:
        return  # said already
    given = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    names = given.keys() | chapter.defaults.keys()
    other = sorted(name for name in names if given.get(name, ...) != chapter.defaults.get(name, ...))
    if other:
        yield f"the parameters {', '.join(other)} are not those of outline.toml"
    if not any(f'chapter.begin("{chapter.number}"' in one.source for one in notebook.cells):
        yield f'no cell says chapter.begin("{chapter.number}", globals(), …)'


def _questions(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Each prediction is asked once and told later; quiz and score stand at the end."""
    known = bank.of_chapter(chapter.number)
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    calls = _CALL.findall(source)
    for id in known.predictions:
        asked = [name for name, given in calls if given == id]
        if asked != ["predict", "outcome"]:
            yield f"the prediction {id} must be asked once and told later, and there is {asked or 'nothing'}"
    strangers = [given for name, given in calls if name in ("predict", "outcome") and given not in known.predictions]
    yield from (f"asks for {id}, which its questions.toml does not have" for id in dict.fromkeys(strangers))
    for name in ("quiz", "score"):
        if not any(call == name for call, _ in calls):
            yield f'no cell says questions.{name}("{chapter.number}")'
    if len(known.predictions) < 3:
        yield f"{len(known.predictions)} predictions; a chapter has three or more"
    if not 3 <= len(known.quiz) <= 5:
        yield f"{len(known.quiz)} quiz questions; a chapter has three to five"


def _remember(notebook: Any) -> Iterator[str]:
    cell = next((one for one in notebook.cells if one.source.startswith(_REMEMBER)), None)
    if cell is None:
        yield f'no cell begins with "{_REMEMBER}"'
        return
    own = re.split(r"^## ", cell.source, flags=re.MULTILINE)[1]
    count = len(re.findall(r"^- ", own, flags=re.MULTILINE))
    if count != 5:
        yield f"cell {cell.get('id')}: has {count} lines to remember, and must have five"
