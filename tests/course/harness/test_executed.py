"""Reading executed notebooks, without running any."""

from nbformat.v4 import new_code_cell, new_notebook, new_output

from fedlab_course.check.claims import VERDICT
from fedlab_course.harness import executed

ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": []}


def view(model: str):
    return new_output(
        "display_data", {executed.WIDGET_VIEW: {"model_id": model}, "text/plain": "VBox()"}
    )


def with_widgets(cells, **models):
    state = {key: {"model_name": "M", "state": model} for key, model in models.items()}
    return new_notebook(
        cells=cells, metadata={"widgets": {executed.WIDGET_STATE: {"state": state}}}
    )


def test_a_clean_notebook_has_no_problems() -> None:
    outputs = [
        new_output("stream", name="stderr", text="a warning"),
        new_output("display_data", {"text/plain": "x"}),
    ]
    assert executed.problems(new_notebook(cells=[new_code_cell("1", outputs=outputs)])) == []


def test_an_error_deep_inside_a_widget_is_found_once_and_placed() -> None:
    cells = [
        new_code_cell("a = 1"),
        new_code_cell("show(box)\nmore", outputs=[view("outer"), view("outer")]),
    ]
    notebook = with_widgets(
        cells,
        outer={"children": ["IPY_MODEL_inner"]},
        inner={"children": ["IPY_MODEL_out"]},
        out={"outputs": [ERROR]},
    )
    assert set(executed.problems(notebook)) == {
        "cell 2 (`show(box)`), inside a widget: KeyError: 'k'"
    }


def test_widgets_that_contain_each_other_end() -> None:
    notebook = with_widgets(
        [new_code_cell("x", outputs=[view("a")])],
        a={"children": ["IPY_MODEL_b"]},
        b={"children": ["IPY_MODEL_a"]},
    )
    assert executed.problems(notebook) == []


def test_the_cell_of_given_parameters_does_not_shift_the_count() -> None:
    given = new_code_cell("mu = 2", metadata={"tags": ["injected-parameters"]})
    notebook = new_notebook(cells=[new_code_cell("a"), given, new_code_cell("b", outputs=[ERROR])])
    assert executed.problems(notebook) == ["cell 2 (`b`): KeyError: 'k'"]


def test_an_error_of_a_given_parameter_is_placed_in_its_cell() -> None:
    given = new_code_cell("mu = nan", metadata={"tags": ["injected-parameters"]}, outputs=[ERROR])
    assert executed.problems(new_notebook(cells=[given])) == [
        "the given parameters (`mu = nan`): KeyError: 'k'"
    ]


def test_verdicts_come_in_order() -> None:
    verdicts = [{"claim": str(number), "holds": number > 0, "evidence": ""} for number in range(2)]
    cells = [
        new_code_cell("x", outputs=[new_output("display_data", {VERDICT: verdict})])
        for verdict in verdicts
    ]
    assert executed.verdicts(new_notebook(cells=cells)) == verdicts
