"""Every registered exercise, three ways: the stub is told what is missing, the solution passes, mistakes get hints."""

import ast
import builtins
import contextlib
import re
import sys
import textwrap
import time
import warnings
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import folders
from fedlab_course.check import cells, exercises, registry
from fedlab_course.check.base import Case, Exercise, Hint, Mistake
from fedlab_course.check.exercises import bundle, judge
from fedlab_course.check.tools import call, close, require

EVERY = registry.every()
NOTEBOOKS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.id)


@each
def test_the_stub_is_told_what_is_missing_and_has_nothing_of_the_solution(exercise: Exercise) -> None:
    for source in (exercise.stub_source, exercise.stub_source.replace("...\n", "raise NotImplementedError()\n")):
        verdict = judge(exercise, exercise.build(source))
        assert (verdict.status, verdict.points, verdict.of) == ("open", 0, exercise.points)
        assert exercise.missing in verdict.hint and exercise.name in verdict.hint
    stub, solution = ast.parse(exercise.stub_source).body[0], ast.parse(exercise.solution_source).body[0]
    assert stub.name == solution.name
    assert ast.get_docstring(stub) == ast.get_docstring(solution) is not None
    assert exercise.stub_source.splitlines()[0] == exercise.solution_source.splitlines()[0]
    assert "SOLUTION" not in exercise.stub_source + exercise.solution_source
    if isinstance(stub, ast.FunctionDef):
        assert ast.dump(stub.args) == ast.dump(solution.args)
    given, written = exercise.stub_source.splitlines(), exercise.solution_source.splitlines()
    assert {line.strip() for line in set(given) - set(written)} == {"..."}


@each
def test_the_solution_passes_and_code_that_stops_is_quoted(exercise: Exercise) -> None:
    verdict = judge(exercise, exercise.build(exercise.solution_source))
    assert (verdict.status, verdict.hint, verdict.points) == ("solved", "", exercise.points)
    stops = judge(exercise, exercise.build(exercise.stub_source.replace("...\n", "raise KeyError('nowhere')\n")))
    assert stops.status == "wrong" and "KeyError: 'nowhere'" in stops.hint and "Traceback" not in stops.hint


@each
def test_each_usual_mistake_gets_its_own_hint(exercise: Exercise) -> None:
    hints = []
    for mistake in exercise.mistakes:
        verdict = judge(exercise, exercise.build(exercise.with_mistake(mistake)))
        hints.append(verdict.hint)
        assert (verdict.status, verdict.points) == ("wrong", 0), mistake
        assert all(words in verdict.hint for words in re.split(r"\{expected\}|\{found\}", mistake.hint)), verdict.hint
        assert "{" not in verdict.hint or not exercise.cases
    assert len(set(hints)) == len(hints) >= 3


OTHER_WAYS = {  # the same by other means: a check must not insist on the way, nor on the last digits
    "01-resting-point": """
w = 0.0
for _ in range(5000 if tau < 100 else 5):
    y = np.full(len(a), w)
    for _ in range(tau):
        y = y - eta * a * (y - b)
    w = float(sum(rho * y))
return w""",
    "04-systematic": """
row = np.lexsort((-np.arange(len(labels)), -labels))
return np.sort(row.reshape(num_drawn, -1)[:, start])""",
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_right_answer_passes(name: str) -> None:
    exercise = registry.get(name)
    way = textwrap.indent(OTHER_WAYS[name].strip(), "    ").strip()
    assert judge(exercise, exercise.build(exercise.stub_source.replace("...\n", f"{way}\n"))).hint == ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_exercises_and_imports_what_they_use(path: Path) -> None:
    notebook, registered = nbformat.read(path, as_version=4), registry.of_chapter(path.stem)
    assert cells.drift(notebook, registered) == []
    own = [one for one in registered if isinstance(one, Exercise)]
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    known = set(dir(builtins)).union(*(bound(ast.parse(source)) for source in code))
    for one in own:
        tree = ast.parse(one.solution_source)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert used - bound(tree) <= known and "exercises" in known


def bound(tree: ast.AST) -> set[str]:
    """All names that code gives a meaning, wherever it does."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


# What the framework itself promises, on small exercises of its own.
def half(x):
    """Half of ``x``."""
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION


def parts(x):
    """Parts of the array ``x``."""
    ### BEGIN SOLUTION
    word = "long" if len(x) > 2 else "short"
    return word, x / 2, list(x > 1), [k for k in range(len(x)) if x[k] > 1]
    ### END SOLUTION


class Halver:
    """Halves numbers."""

    def __init__(self, factor):
        self.factor = factor

    def once(self, x):
        """Half of ``x``."""
        ### BEGIN SOLUTION
        return x * self.factor
        ### END SOLUTION

    def twice(self, x):
        """A quarter of ``x``."""
        ### BEGIN SOLUTION
        return self.once(self.once(x))
        ### END SOLUTION


def check_halver(answer) -> None:
    require(close(call(answer(0.5).twice, 8), 2), "Twice halved, 8 is 2.")


WORDS = {"title": "Half", "task": "Halve.", "missing": "half of it"}
HALF = Exercise(
    id="99-half",
    solution=half,
    cases=(
        Case((0.0,), 0, "Half of nothing is nothing."),
        Case((4.0,), 2, "Half of 4 is 2."),
        Case((3.0,), 1.5, "Half of 3 is `1` < 2."),
    ),
    mistakes=(
        Mistake("x / 2", "x // 2", "Half of 3 is not {found}: do not round."),
        Mistake("x / 2", "2 / x", "Not on all cases."),
        Mistake("x / 2", "2 * x", "You double."),
        Mistake("x / 2", "int('half')", "A word is no number."),
    ),
    **WORDS,
)
PARTS = Exercise(
    id="99-parts",
    solution=parts,
    cases=(
        Case((np.array([1.0]),), ("short", [0.5], [False], set()), "One."),
        Case((np.array([2.0, 1.0, 4.0]),), ("long", [1.0, 0.5, 2.0], [True, False, True], {2, 0}), "Three."),
    ),
    mistakes=(),
    **WORDS,
)
HALVER = Exercise(id="99-halver", solution=Halver, check=check_halver, mistakes=(), **WORDS)


def test_a_class_is_an_answer_too() -> None:
    assert judge(HALVER, Halver).status == "solved"
    untouched = judge(HALVER, HALVER.build(HALVER.stub_source))
    assert untouched.status == "open"
    assert "method `once`" in untouched.hint
    partly = HALVER.stub_source.replace("...", "return x * self.factor", 1)
    assert "method `twice`" in judge(HALVER, HALVER.build(partly)).hint
    assert judge(HALVER, half).hint == "`Halver` must stay a class, and yours is of type function."


def endless(x):
    while True:
        with contextlib.suppress(Exception):  # what stops it is no Exception
            time.sleep(1)


def interrupted(x):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("answer", "status", "hint"),
    [
        (None, "open", "nothing called `half`"),
        (..., "open", "nothing called `half`"),
        (7, "wrong", "must stay a function, and yours is of type int"),
        (lambda x, y: x, "wrong", "The first line must stay `def half(x):`"),
        (lambda x: None, "open", "still empty"),
        (lambda x: print(), "wrong", "returns nothing"),
        (lambda x: "half", "wrong", "type str"),
        (lambda x: [x, x], "wrong", "The result must be one number, and yours is an array of 2 numbers"),
        (lambda x: 1 / x, "wrong", "ZeroDivisionError"),
        (lambda x: float("nan"), "wrong", "not finite"),
        (lambda x: exit(3), "wrong", "SystemExit: 3"),
        (endless, "wrong", "Your code was still running after 0.2 s."),
        (interrupted, "wrong", "You stopped your code"),
        (lambda x: x + 1, "wrong", "Half of nothing is nothing. Expected: 0. Your result: 1."),
        (lambda x: x, "wrong", "Half of 4 is 2. Expected: 2. Your result: 4."),
        (lambda x: 0.50000001 * x, "wrong", "Half of 4 is 2. Expected: 2. Your result: 2.00000004."),
        (lambda x: x // 2, "wrong", "Half of 3 is not 1: do not round."),
        (lambda x: 2.0 * x, "wrong", "You double."),
        (lambda x: int("half"), "wrong", "A word is no number."),
        (lambda x: x * 2 if x == 4 else x / 2, "wrong", "Half of 4 is 2. Expected: 2. Your result: 8."),
    ],
)
def test_whatever_comes_is_answered_in_words(answer, status: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "LIMIT", 0.2)
    verdict = judge(HALF, answer)
    assert verdict.status == status
    assert hint in verdict.hint
    assert "\n" not in verdict.hint


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({}, ""),
        ({0: "medium"}, "Return one of short, long. Yours is 'medium'."),
        ({1: [1.0]}, "The second result must be an array of 3 numbers, and yours is an array of 1 number."),
        ({1: np.array([1.0, 0.5, 3.0])}, "Three. Your result: ('long', [1, 0.5, 3], [True, False, True], [0, 2])."),
        ({2: [1, 0, 1]}, "The third result must be a list of 3 truth values, and yours is [1, 0, 1]."),
        ({2: np.array([True, False, True]), 3: np.array([2, 0])}, ""),
        ({3: [0, 1]}, "Your result: ('long', [1, 0.5, 2], [True, False, True], [0, 1])."),
        ({3: [0]}, "The fourth result must be an array of 2 numbers"),
        (None, "Return 4 results, separated by commas: half of it. Yours is of type tuple of 3."),
    ],
)
def test_the_expected_result_says_what_must_come_back(change, hint: str) -> None:
    def answer(x):
        result = list(parts(x))
        if len(x) == 3 and change is not None:
            result = [change.get(place, part) for place, part in enumerate(result)]
        return tuple(result) if change is not None else tuple(result[:3])

    verdict = judge(PARTS, answer)
    assert hint in verdict.hint and (verdict.status == "solved") == (hint == "")


def test_the_student_s_line_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "cell.py"
    path.write_text("def half(x):\n    return x / missing\n")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    quoted = "NameError: name 'missing' is not defined, in the line `return x / missing`"
    assert quoted in judge(HALF, namespace["half"]).hint


def test_the_verdict_is_shown_and_nothing_is_raised(monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    assert exercises.check("99-half", lambda x: x // 2 + (x == 3) / 4) is None
    assert capsys.readouterr().out == "✗ not yet: Half. Half of 3 is `1` < 2. Expected: 1.5. Your result: 1.25.\n"
    assert exercises.check("99-half", half) is None
    assert capsys.readouterr().out == "✓ solved: Half\n"


def test_the_verdict_as_html_is_escaped_and_a_title_that_is_a_question_needs_no_full_stop() -> None:
    verdict = judge(HALF, lambda x: x // 2 + (x == 3) / 4)
    assert "Half of 3 is <code>1</code> &lt; 2" in bundle(verdict)["text/html"]
    asked = replace(verdict, title="How much is half?")
    assert bundle(asked)["text/plain"].startswith("✗ not yet: How much is half? Half of 3")


@pytest.mark.parametrize("answer", [lambda x: x // 2, lambda x: None])
def test_under_nbgrader_what_is_not_solved_raises(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    monkeypatch.setattr(exercises, "UNDER_NBGRADER", True)
    exercises.check("99-half", half)
    with pytest.raises(exercises.NotSolved):
        exercises.check("99-half", answer)


def test_a_right_answer_may_warn_and_print_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder, capsys: pytest.CaptureFixture[str]
) -> None:
    """nbgrader takes anything there for a failure."""

    def loud(x):
        print("half of", x, file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return np.where(np.log(np.zeros(1)) < 0, x / 2, 0)[0]

    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    exercises.check("99-half", loud)
    printed = capsys.readouterr()
    assert "half of 3.0" in printed.out and "✓ solved" in printed.out
    assert printed.err == ""
    assert len(recwarn) == 0


def test_an_answer_that_changes_its_argument_is_told_so() -> None:
    def greedy(w):
        w -= 1
        return w

    given = np.zeros(2)
    with pytest.raises(Hint, match="changes `w` in place"):
        call(greedy, given)
    assert (given == 0).all()


def test_an_unknown_exercise_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"02-loal.*Did you mean '02-local'"):
        exercises.check("02-loal", None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"solution": check_halver}, "BEGIN SOLUTION"),
        ({"cases": ()}, "cases or a check"),
    ],
)
def test_a_badly_written_exercise_is_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(HALF, **changes)


def test_a_mistake_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold 'x / 3'"):
        HALF.with_mistake(Mistake("x / 3", "x", ""))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[exercise]]\nid = '99-half'\ntitel = 'Half'", "titel"),
        ("[[exercise]]\nid = '99-third'", "99-third"),
        ("[[exercise]]\nid = '99-proof'\ntitle = 'P'\ntask = 't'\nsolution = 's'", "no words for 99-half"),
        ("[[exercise]\n", "Decode"),
        ("[[exercise]]\nid = '99-half'\n[[exercise]]\nid = '98-proof'\nsolution = 's'", "id='98-proof': must be 99-"),
    ],
)
def test_words_that_do_not_match_the_code_are_refused(text, said: str, tmp_path, monkeypatch) -> None:
    (tmp_path / "exercises.toml").write_text(text)
    stands_for = type("Module", (), {"EXERCISES": (HALF,)})
    monkeypatch.setattr("importlib.import_module", lambda name: stands_for)
    with pytest.raises(ValueError, match=rf"exercises.toml: .*{said}"):
        registry._of(type("Chapter", (), {"folder": tmp_path, "stem": "99_planted", "number": "99"}))


def chapter():
    closing = new_markdown_cell(f"{cells.CLOSING}\n\n- it", id="seen")
    return new_notebook(cells=[new_markdown_cell("# T", id="t"), new_code_cell("1", id="one"), closing])


THIRD = replace(HALF, id="99-third")


def order(notebook) -> list[str]:
    """The cells of a notebook, with one name in place of the four cells of an exercise."""
    names = [re.sub("^ex-99-(.*)-task$", r"\1", cell.id) for cell in notebook.cells]
    return [name for name in names if not name.startswith("ex-")]


def test_cells_are_written_before_the_closing_and_renewed_in_place() -> None:
    notebook = chapter()
    cells.write(notebook, [HALF])
    wanted = ["t", "one", "exercises", *(cells.cell_id(HALF, part) for part in cells.PARTS), "seen"]
    assert [cell.id for cell in notebook.cells] == wanted
    nbformat.validate(notebook)
    notebook.cells[4].source = "def half(y): ..."
    notebook.cells[1:1] = [notebook.cells.pop(3), notebook.cells.pop(3)]  # the task and the answer, moved
    assert any("answer" in fault for fault in cells.drift(notebook, [HALF]))
    cells.write(notebook, [HALF, THIRD])
    assert cells.drift(notebook, [HALF, THIRD]) == []
    assert notebook.cells[2].source == HALF.stub_source.strip()
    assert order(notebook) == ["t", "half", "one", "exercises", "third", "seen"]
    cells.write(notebook, [])
    assert order(notebook) == ["t", "one", "exercises", "seen"]


def test_drift_is_found_in_every_part() -> None:
    for part in cells.PARTS:
        notebook = chapter()
        cells.write(notebook, [HALF])
        found = next(cell for cell in notebook.cells if cell.id == cells.cell_id(HALF, part))
        found.source += " "
        assert cells.drift(notebook, [HALF]) == [f"cell ex-99-half-{part} is not what the exercise says"]
        notebook.cells.remove(found)
        assert cells.drift(notebook, [HALF]) == [f"cell ex-99-half-{part} is missing"]
        assert len(cells.drift(notebook, [])) == 3
