"""Every registered exercise, three ways: the stub is told what is missing, the solution passes, mistakes get hints."""

import ast
import re
import sys
import textwrap
import warnings
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import folders
from fedlab_course.check import cells, exercises
from fedlab_course.check.exercises import Exercise, Hint, Mistake, judge
from fedlab_course.check.tools import call, close, number, require
from fedlab_course.check.verdicts import bundle

EVERY = exercises.every()
NOTEBOOKS = {path.stem[:2]: path for path in sorted(folders.NOTEBOOKS.glob("*.ipynb"))}
MISTAKES = [pytest.param(e, m, id=f"{e.id}: {m.new or 'nothing'}") for e in EVERY for m in e.mistakes]
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.id)


@pytest.mark.parametrize("chapter", [f"{number:02}" for number in range(1, 9)])
def test_a_chapter_has_at_least_two(chapter: str) -> None:
    assert len(exercises.of_chapter(chapter)) >= 2


@each
def test_the_stub_is_told_what_is_missing(exercise: Exercise) -> None:
    verdict = judge(exercise, exercise.build(exercise.stub_source))
    assert (verdict.status, verdict.points, verdict.of) == ("open", 0, exercise.points)
    assert exercise.missing in verdict.hint
    assert exercise.name in verdict.hint


@each
def test_the_stub_of_nbgrader_is_told_the_same(exercise: Exercise) -> None:
    source = exercise.stub_source.replace("...\n", "raise NotImplementedError()\n")
    verdict = judge(exercise, exercise.build(source))
    assert verdict.status == "open"
    assert exercise.missing in verdict.hint


@each
def test_the_solution_passes(exercise: Exercise) -> None:
    verdict = judge(exercise, exercise.build(exercise.solution_source))
    assert (verdict.status, verdict.hint, verdict.points) == ("solved", "", exercise.points)


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_a_usual_mistake_gets_its_hint(exercise: Exercise, mistake: Mistake) -> None:
    verdict = judge(exercise, exercise.build(exercise.with_mistake(mistake)))
    assert (verdict.status, verdict.points) == ("wrong", 0)
    assert all(words in verdict.hint for words in re.split(r"\{expected\}|\{found\}", mistake.hint))


@each
def test_mistakes_are_told_apart(exercise: Exercise) -> None:
    hints = [judge(exercise, exercise.build(exercise.with_mistake(mistake))).hint for mistake in exercise.mistakes]
    assert len(hints) >= 3
    assert len(set(hints)) == len(hints)


OTHER_WAYS = {  # the same by other means: a check must not insist on the way
    "01-emd": """
mix = np.array([np.mean(np.asarray(client_labels) == label) for label in range(num_classes)])
whole = [float(sum(all_labels == label)) / len(all_labels) for label in range(num_classes)]
return sum(abs(p - q) for p, q in zip(mix, whole))""",
    "01-resting-point": """
w = 0.0
for _ in range(5000 if tau < 100 else 5):
    y = np.full(len(a), w)
    for _ in range(tau):
        y = y - eta * a * (y - b)
    w = float(sum(rho * y))
return w""",
    "02-prox-step": "return (1 - lr * mu) * y + lr * mu * w - lr * gradient",
    "02-local-training": """
move = 0 * w
for _ in range(num_steps):
    move = (1 - lr * mu) * move - lr * gradient(w + move)
return w + move""",
    "02-proximal-point": "return w + (b - w) * a / (a + mu)",
    "11-work-lost": """
lost = share * (num_epochs - 1) / 2
return lost / (num_epochs - lost)""",
    "11-fednova": """
total, steps = sum(num_samples), sum(n * t for n, t in zip(num_samples, num_steps)) / sum(num_samples)
return w + steps * sum(n / total * (y - w) / t for n, t, y in zip(num_samples, num_steps, local))""",
    "03-step": "return y - lr * gradient + lr * c_k - lr * c",
    "03-control": "return (w - y) / num_steps / lr - (c - c_k)",
    "03-server": """
changes = [after[k] - before[k] for k in range(len(local))]
return [np.mean(local, axis=0), c + sum(changes) / num_clients]""",
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_right_answer_passes(name: str) -> None:
    exercise = exercises.get(name)
    first = exercise.solution_source.splitlines()[0]
    assert judge(exercise, exercise.build(f"{first}\n{textwrap.indent(OTHER_WAYS[name], '    ')}")).hint == ""


@each
def test_code_that_stops_is_quoted(exercise: Exercise) -> None:
    source = exercise.stub_source.replace("...\n", "raise KeyError('nowhere')\n")
    verdict = judge(exercise, exercise.build(source))
    assert verdict.status == "wrong"
    assert "KeyError: 'nowhere'" in verdict.hint
    assert "Traceback" not in verdict.hint


@each
def test_the_stub_keeps_the_first_lines_and_nothing_of_the_solution(exercise: Exercise) -> None:
    stub, solution = ast.parse(exercise.stub_source).body[0], ast.parse(exercise.solution_source).body[0]
    assert stub.name == solution.name
    assert ast.get_docstring(stub) == ast.get_docstring(solution) is not None
    assert exercise.stub_source.splitlines()[0] == exercise.solution_source.splitlines()[0]
    assert "SOLUTION" not in exercise.stub_source + exercise.solution_source
    if isinstance(stub, ast.FunctionDef):
        assert ast.dump(stub.args) == ast.dump(solution.args)
        assert [type(line) for line in stub.body] == [ast.Expr, ast.Expr]


@each
def test_the_notebook_says_what_the_registry_says(exercise: Exercise) -> None:
    notebook = nbformat.read(NOTEBOOKS[exercise.chapter], as_version=4)
    assert cells.drift(notebook, exercises.of_chapter(exercise.chapter)) == []


@each
def test_the_notebook_imports_what_the_solution_uses(exercise: Exercise) -> None:
    code = [c.source for c in nbformat.read(NOTEBOOKS[exercise.chapter], as_version=4).cells if c.cell_type == "code"]
    imports = [node for source in code for node in ast.walk(ast.parse(source)) if hasattr(node, "names")]
    known = {alias.asname or alias.name for node in imports for alias in node.names if hasattr(alias, "asname")}
    used = {node.id for node in ast.walk(ast.parse(exercise.solution_source)) if isinstance(node, ast.Name)}
    assert used & {"np", "pd", "torch", "fl", "math", "copy"} <= known
    assert "exercises" in known


# What the framework itself promises, on a small exercise of its own.
def half(x):
    """Half of ``x``."""
    ### BEGIN SOLUTION
    return x / 2
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


def check_half(answer) -> None:
    require(close(number(call(answer, 3.0)), 1.5), "Half of 3 is `1.5` < 2.")


def check_halver(answer) -> None:
    require(close(answer(0.5).twice(8), 2), "Twice halved, 8 is 2.")


COMMON = {"title": "Half", "task": "Halve.", "missing": "half of it", "mistakes": ()}
HALF = Exercise(id="99-half", solution=half, check=check_half, **COMMON)
HALVER = Exercise(id="99-halver", solution=Halver, check=check_halver, **COMMON)


def test_a_class_is_an_answer_too() -> None:
    assert judge(HALVER, Halver).status == "solved"
    untouched = judge(HALVER, HALVER.build(HALVER.stub_source))
    assert untouched.status == "open"
    assert "method `once`" in untouched.hint
    partly = HALVER.stub_source.replace("...", "return x * self.factor", 1)
    assert "method `twice`" in judge(HALVER, HALVER.build(partly)).hint
    assert judge(HALVER, half).hint == "`Halver` must stay a class, and yours is of type function."


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
        (lambda x: x / 0, "wrong", "ZeroDivisionError"),
        (lambda x: float("nan"), "wrong", "not finite"),
        (lambda x: x // 2, "wrong", "Half of 3"),
        (lambda x: exit(3), "wrong", "SystemExit: 3"),
    ],
)
def test_whatever_comes_is_answered_in_words(answer, status: str, hint: str) -> None:
    verdict = judge(HALF, answer)
    assert verdict.status == status
    assert hint in verdict.hint


def test_the_student_s_line_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "cell.py"
    path.write_text("def half(x):\n    return x / missing\n")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    assert (
        "NameError: name 'missing' is not defined, in the line `return x / missing`"
        in judge(HALF, namespace["half"]).hint
    )


def test_the_verdict_is_shown_and_nothing_is_raised(monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("fedlab_course.check.verdicts.get", lambda name: HALF)
    assert exercises.check("99-half", lambda x: x // 2) is None
    assert capsys.readouterr().out == "✗ not yet: Half. Half of 3 is `1.5` < 2.\n"
    assert exercises.check("99-half", half) is None
    assert capsys.readouterr().out == "✓ solved: Half\n"


def test_a_title_that_is_a_question_needs_no_full_stop() -> None:
    asked = replace(judge(HALF, lambda x: x // 2), title="How much is half?")
    assert bundle(asked)["text/plain"] == "✗ not yet: How much is half? Half of 3 is `1.5` < 2."


def test_the_verdict_as_html_is_escaped_and_shows_code() -> None:
    assert "Half of 3 is <code>1.5</code> &lt; 2." in bundle(judge(HALF, lambda x: x // 2))["text/html"]


@pytest.mark.parametrize("answer", [lambda x: x // 2, lambda x: None])
def test_under_nbgrader_what_is_not_solved_raises(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedlab_course.check.verdicts.get", lambda name: HALF)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    exercises.check("99-half", half)
    with pytest.raises(exercises.NotSolved):
        exercises.check("99-half", answer)


def test_a_right_answer_may_print_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """nbgrader takes anything there for a failure."""

    def loud(x):
        print("half of", x, file=sys.stderr)
        return x / 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fedlab_course.check.verdicts.get", lambda name: HALF)
        exercises.check("99-half", loud)
    printed = capsys.readouterr()
    assert "half of 3.0" in printed.out
    assert "✓ solved" in printed.out
    assert printed.err == ""


def test_warnings_stay_silent(recwarn: pytest.WarningsRecorder, capsys: pytest.CaptureFixture[str]) -> None:
    """nbgrader takes anything on standard error for a failure."""

    def noisy(x):
        warnings.warn("careful", stacklevel=1)
        return np.where(np.log(np.zeros(1)) < 0, x / 2, 0)[0]

    assert judge(HALF, noisy).status == "solved"
    assert len(recwarn) == 0
    assert capsys.readouterr().err == ""


def test_an_answer_that_changes_its_argument_is_told_so() -> None:
    def greedy(w):
        w -= 1
        return w

    given = np.zeros(2)
    with pytest.raises(Hint, match="changes `w` in place"):
        call(greedy, given)
    assert (given == 0).all()


def test_an_unknown_exercise_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"02-prox-stp.*Did you mean '02-prox-step'"):
        exercises.check("02-prox-stp", None)


@pytest.mark.parametrize(
    ("changes", "said"), [({"id": "half"}, "two digits"), ({"solution": check_half}, "BEGIN SOLUTION")]
)
def test_a_badly_written_exercise_is_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Exercise(**{"id": "99-half", "solution": half, "check": check_half, **COMMON, **changes})


def test_a_mistake_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold 'x / 3'"):
        HALF.with_mistake(Mistake("x / 3", "x", ""))


def chapter():
    closing = new_markdown_cell(f"{cells.CLOSING}\n\n- it", id="seen")
    return new_notebook(cells=[new_markdown_cell("# T", id="t"), new_code_cell("1", id="one"), closing])


def test_cells_are_written_before_the_closing_and_renewed_in_place() -> None:
    notebook = chapter()
    cells.write(notebook, [HALF])
    wanted = ["t", "one", "exercises", *(cells.cell_id(HALF, part) for part in cells.PARTS), "seen"]
    assert [cell.id for cell in notebook.cells] == wanted
    nbformat.validate(notebook)
    notebook.cells.insert(1, notebook.cells.pop(4))  # the answer, moved and edited
    notebook.cells[1].source = "def half(y): ..."
    assert any("answer" in fault for fault in cells.drift(notebook, [HALF]))
    cells.write(notebook, [HALF])
    assert cells.drift(notebook, [HALF]) == []
    assert notebook.cells[2].source == HALF.stub_source.strip()
    assert [cell.id for cell in notebook.cells] == ["t", *wanted[3:7], "one", "exercises", "seen"]
    cells.write(notebook, [])
    assert [cell.id for cell in notebook.cells] == ["t", "one", "exercises", "seen"]


THIRD, FOURTH, FIFTH = (replace(HALF, id=f"99-{name}") for name in ("third", "fourth", "fifth"))


def order(notebook) -> list[str]:
    """The cells of a notebook, with one name in place of the four cells of an exercise."""
    names = [re.sub("^ex-99-(.*)-task$", r"\1", cell.id) for cell in notebook.cells]
    return [name for name in names if not name.startswith("ex-")]


def test_exercises_are_put_into_their_order_where_exercises_stand() -> None:
    notebook = chapter()
    cells.write(notebook, [FOURTH])
    notebook.cells[1:1] = cells.make(FIFTH, 1) + cells.make(HALF, 2)
    notebook.cells.insert(0, cells.make(THIRD, 3)[2])  # one cell of four, before all others
    assert cells.drift(notebook, [HALF, THIRD, FOURTH, FIFTH])
    cells.write(notebook, [HALF, THIRD, FOURTH, FIFTH])
    assert cells.drift(notebook, [HALF, THIRD, FOURTH, FIFTH]) == []
    assert order(notebook) == ["half", "t", "third", "fourth", "one", "exercises", "fifth", "seen"]
    nbformat.validate(notebook)


@pytest.mark.parametrize(
    ("registered", "wanted"),
    [
        ([THIRD, HALF, FOURTH], ["t", "third", "half", "one", "exercises", "fourth", "seen"]),
        ([HALF, THIRD, FOURTH], ["t", "half", "third", "one", "exercises", "fourth", "seen"]),
        ([HALF, FOURTH, THIRD], ["t", "half", "one", "exercises", "fourth", "third", "seen"]),
        ([FIFTH, THIRD], ["t", "one", "exercises", "fifth", "third", "seen"]),
    ],
)
def test_a_new_exercise_goes_beside_its_neighbour(registered: list[Exercise], wanted: list[str]) -> None:
    notebook = chapter()
    cells.write(notebook, [FOURTH])
    notebook.cells[1:1] = cells.make(HALF, 1)
    cells.write(notebook, registered)
    assert order(notebook) == wanted
    assert cells.drift(notebook, registered) == []


@pytest.mark.parametrize("part", cells.PARTS)
def test_drift_is_found_in_every_part(part: str) -> None:
    notebook = chapter()
    cells.write(notebook, [HALF])
    assert cells.drift(notebook, [HALF]) == []
    found = next(cell for cell in notebook.cells if cell.id == cells.cell_id(HALF, part))
    found.source += " "
    assert cells.drift(notebook, [HALF]) == [f"cell ex-99-half-{part} is not what the exercise says"]
    notebook.cells.remove(found)
    assert cells.drift(notebook, [HALF]) == [f"cell ex-99-half-{part} is missing"]
    assert len(cells.drift(notebook, [])) == 3
