"""The rules for notebooks, and the further ones for chapters: parameters, questions, bindings and
symbols.

A binding is a comment after a sentence that names what the sentence rests on. ``<!-- 001-1f
equivalent, 001-2a holds -->`` names stored statements, each with the verdict that the sentence
states, and ``<!-- 001-2c opposite uncorrected -->`` one that is not significant after Holm's
correction, which the sentence must say. ``<!-- live -->`` means a check in the notebook itself,
``<!-- exact -->`` a formula in the text. Two comments are no bindings: ``<!-- slide -->`` and
``<!-- end of slide -->`` stand around a text that gets a slide.

A section that shows a stored statement shows all on the same question
(``fedlab_course/evidence/one_question.py``), or names the others in a sentence: "Not shown: equal
bytes (`results/claims/000.md`).<!-- not shown: 000-1e -->". A claim of a source in the comment,
such as 000-1, stands for all its statements.

Whether every figure has a text alternative shows only in a run:
``tests/course/chapters/test_notebooks.py`` checks it.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedlab_course import outline, reading
from fedlab_course.check import cells, questions, registry
from fedlab_course.evidence import judging, one_question
from fedlab_course.outline import Chapter
from fedlab_course.publish import slides, symbols

MOST_LINES = 20
MOST_COLUMNS = 98  # the site shows no longer line without scrolling
_REMEMBER = "## What to remember"
_CALL = re.compile(r"questions\.(predict|outcome|quiz|score)\(\s*\"([^\"]+)\"")
_ATTACHED = re.compile(r"\(attachment:([^)\s]+)")
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_NOT_SHOWN = re.compile(r"(?:Not shown:([^\n]*?))?<!-- not shown:(.*?)-->", re.DOTALL)
_CODE = re.compile(r"(?P<fence>```|~~~).*?(?P=fence)|`[^`]*`", flags=re.DOTALL)
_FORMULA = re.compile(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", flags=re.DOTALL)
_UPRIGHT = re.compile(r"\\(?:text|mathrm|operatorname|mathbb|textsf|texttt|begin|end)\*?\{[^{}]*\}")
_LETTER = re.compile(
    r"\\(alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau"
    r"|upsilon|(?:var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega|ell)(?![A-Za-z])"
    r"|\\[A-Za-z]+|([A-Za-z])"
)
# Indices, the variable of a function, a function, a sample and its
# label, and the letters of d/dx and of e.
_FREE = set("ijktcxfgye")


def check(path: Path) -> list[str]:
    """List the faults of the notebook at ``path``, most with the id of their cell; empty if there
    is none.

    The rules for chapters apply to a notebook that has the name of a chapter.
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    problems = [*_headings(notebook)]
    if "widgets" in notebook.metadata:
        problems.append("the file holds widget state")
    tagged = sum("parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)
    if tagged != 1:
        problems.append(f"{tagged} cells have the tag parameters; exactly one must have it")
    problems += [
        f"cell {cell.get('id')}: {fault}" for cell in notebook.cells for fault in _code(cell)
    ]
    problems += [
        f"cell {cell.get('id')}: {fault}" for cell in notebook.cells for fault in _pictures(cell)
    ]
    renew = "(python -m fedlab_course.check writes it anew)"
    problems += [
        f"{fault} {renew}" for fault in cells.drift(notebook, registry.of_chapter(path.stem))
    ]
    named = outline.named(path.stem)
    return problems + (list(faults(notebook, named)) if named else [])


def _headings(notebook: Any) -> Iterator[str]:
    texts = [_CODE.sub("", cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    levels = [
        len(marks)
        for text in texts
        for marks in re.findall(r"^(#{1,6}) ", text, flags=re.MULTILINE)
    ]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield "the first heading must be the title, and the only one of level 1"
    for before, after in itertools.pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def _code(cell: Any) -> Iterator[str]:
    if cell.cell_type != "code":
        return
    if cell.outputs or cell.execution_count is not None:
        yield "holds outputs or an execution count"
    lines = cell.source.splitlines()
    written = sum(bool(line.strip()) for line in lines)
    if written > MOST_LINES:
        yield f"has {written} lines that are not blank; at most {MOST_LINES} are allowed"
    for line in lines:
        if len(line) > MOST_COLUMNS:
            start = line.strip()[:40]
            yield f"has a line of {len(line)} columns; at most {MOST_COLUMNS} are allowed: {start}…"


def _pictures(cell: Any) -> Iterator[str]:
    """Check that JupyterLab can show each attached picture: it shows PNG and JPEG, and no SVG
    (JupyterLab 4.6).
    """
    attached = cell.get("attachments", {})
    for name, kinds in attached.items():
        if not {"image/png", "image/jpeg"} & kinds.keys():
            yield f"attachment {name}: is {', '.join(kinds)}; must be image/png or image/jpeg"
    for name in _ATTACHED.findall(cell.source):
        if name not in attached:
            yield f"attachment {name}: is named in the text, and is missing"


def faults(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Yield each rule for chapters that ``notebook`` breaks."""
    yield from _parameters(notebook, chapter)
    yield from _questions(notebook, chapter.number)
    if not any(cell.source.startswith(_REMEMBER) for cell in notebook.cells):
        yield f'no cell begins with "{_REMEMBER}"'
    yield from _bindings(notebook)
    yield from _whole_questions(notebook)
    yield from _letters(notebook, chapter)
    counted = reading.length(notebook)
    for name, most in reading.LIMITS.items():
        if getattr(counted, name) > most:
            yield f"{name.replace('_', ' ')}: {getattr(counted, name)}; at most {most} are allowed"
    stated = re.search(
        r"^\*\*Time\*\*: (\d+) minutes to read", notebook.cells[0].source, flags=re.MULTILINE
    )
    if stated is None or int(stated[1]) != counted.minutes:
        yield f"the first cell must say: **Time**: {counted.minutes} minutes to read"


def _parameters(notebook: Any, chapter: Chapter) -> Iterator[str]:
    cell = next(
        (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])), None
    )
    if cell is None:
        return  # the rules for any notebook report it
    given = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    names = given.keys() | chapter.defaults.keys()
    other = sorted(
        name for name in names if given.get(name, ...) != chapter.defaults.get(name, ...)
    )
    if other:
        yield f"the parameters {', '.join(other)} differ from the defaults in chapter.toml"
    begin = f'chapter.begin("{chapter.number}"'
    if not any(begin in cell.source for cell in notebook.cells):
        yield f'no cell calls chapter.begin("{chapter.number}", globals(), …)'


def _questions(notebook: Any, number: str) -> Iterator[str]:
    """Check that each prediction has its result after it, and that the chapter has a quiz and a
    score.
    """
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    calls = [call for source in code for call in _CALL.findall(source)]
    for id in questions.of_chapter(number).predictions:
        asked = [name for name, given in calls if given == id]
        if asked != ["predict", "outcome"]:
            calls_found = ", ".join(asked) or "no call"
            needed = "one questions.predict and a later questions.outcome"
            yield f"the prediction {id} needs {needed}; it has {calls_found}"
    for name in ("quiz", "score"):
        if (name, number) not in calls:
            yield f'no cell calls questions.{name}("{number}")'


def _bindings(notebook: Any) -> Iterator[str]:
    known = judging.every()
    for cell in notebook.cells:
        text = _NOT_SHOWN.sub("", cell.source)
        comments = _COMMENT.findall(text) if cell.cell_type == "markdown" else []
        for binding in (part.strip() for comment in comments for part in comment.split(",")):
            place = f"cell {cell.get('id')}: binding {binding!r}"
            id, _, verdict = binding.partition(" ")
            if id in known:
                finding = known[id].finding
                open_or_sure = finding.corrected or finding.verdict in judging.OPEN
                stored = finding.verdict + ("" if open_or_sure else " uncorrected")
                if verdict != stored:
                    yield f"{place}: the stored verdict on {id} is {stored!r}"
            elif binding not in ("live", "exact", *slides.MARKS):
                yield f"{place}: must be a stored statement, 'live' or 'exact'"


@dataclass
class _Section:
    """``shown``: the stored statements of its cells; ``named``: the claim or statement that is not
    shown → the sentence that names it.
    """

    title: str = ""
    shown: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)


def _sections(notebook: Any) -> list[_Section]:
    """The parts of the notebook between two headings of level 2."""
    sections = [_Section()]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            sections[-1].shown += reading.stored_statements(cell.source)
            continue
        before, *after = re.split(r"^## ", cell.source, flags=re.MULTILINE)
        sections[-1].named |= _named(before)
        sections += [_Section(text.split("\n")[0], named=_named(text)) for text in after]
    return sections


def _named(text: str) -> dict[str, str]:
    pairs = _NOT_SHOWN.findall(text)
    return {item.strip(): words for words, items in pairs for item in items.split(",")}


def _whole_questions(notebook: Any) -> Iterator[str]:
    """Check that a section tells all stored statements on a question of which it shows one."""
    for section in _sections(notebook):
        place = f"section {section.title!r}"
        missing = one_question.left_out(section.shown)
        for item, words in section.named.items():
            named = [id for id in missing if item in (id, one_question.source_claim(id))]
            if not named:
                yield f"{place}: names {item} as not shown, which is not left out there"
            elif one_question.page(item) not in words:
                page = one_question.page(item)
                yield f'{place}: needs a sentence "Not shown: …" with `{page}` before {item}'
            missing = {id: shown for id, shown in missing.items() if id not in named}
        if missing:
            yield (
                f"{place}: shows {', '.join(dict.fromkeys(missing.values()))} and not "
                f"{', '.join(missing)}, on the same question. Show them, or name them: "
                '"Not shown: … <!-- not shown: … -->"'
            )


def _letters(notebook: Any, chapter: Chapter) -> Iterator[str]:
    """Check that one symbol has one meaning: each letter is on the symbol sheet or in the chapter's
    own list.
    """
    sheet = {symbol.tex for symbol in symbols.SYMBOLS}
    for tex in chapter.also:
        if tex in sheet:
            yield f"chapter.toml, also: {tex} is on the symbol sheet already"
    known = _FREE | letters([*sheet, *chapter.also])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            formulas = _FORMULA.findall(_CODE.sub(" ", cell.source))
            unknown = sorted(letters(display or inline for display, inline in formulas) - known)
            if unknown:
                words = f"{', '.join(unknown)} on no symbol sheet; add it to chapter.toml, also"
                yield f"cell {cell.get('id')}: {words}"


def letters(formulas: Iterable[str]) -> set[str]:
    """Find the Latin letters, and the Greek ones by name, in TeX ``formulas``."""
    pairs = [pair for formula in formulas for pair in _LETTER.findall(_UPRIGHT.sub(" ", formula))]
    return {greek or latin for greek, latin in pairs} - {""}
