"""Read the errors and verdicts of an executed notebook, also those inside widgets, and save it for
a reader.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fedlab_course.check.claims import STORED, VERDICT

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
TRACEBACK = "Traceback (most recent call last)"
NOTE = "Interactive control: open this notebook in JupyterLab to use it."


def problems(notebook: Any) -> list[str]:
    """List all errors of a run with their cells: also those in
    widgets and in threads (on stderr).
    """
    state = _state(notebook)
    seen = set()
    errors = []
    for place, cell in _placed(notebook):
        widgets = [key for output in cell.get("outputs", []) for key in _family(state, output)]
        seen.update(widgets)
        inside = [
            output for key in dict.fromkeys(widgets) for output in state[key].get("outputs", [])
        ]
        errors += [f"{place}: {error}" for error in _errors(cell.get("outputs", []))]
        errors += [f"{place}, inside a widget: {error}" for error in _errors(inside)]
    models = [model for key, model in state.items() if key not in seen]
    unseen = [output for model in models for output in model.get("outputs", [])]
    return errors + [f"inside a widget that no cell shows: {error}" for error in _errors(unseen)]


def verdicts(notebook: Any, mime: str = VERDICT) -> list[dict[str, Any]]:
    """The verdicts in order, each with ``claim``, ``holds`` and ``evidence``."""
    outputs = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    entries = [data[mime] for data in outputs if mime in data]
    verdicts_shown = []
    for entry in entries:
        verdicts_shown += entry if isinstance(entry, list) else [entry]
    return [dict(verdict) for verdict in verdicts_shown]


def stored(notebook: Any) -> list[dict[str, Any]]:
    """The stored verdicts that cells show, each once, in the form of
    :func:`fedlab_course.evidence.shown.as_data`.
    """
    return list({entry["id"]: entry for entry in verdicts(notebook, STORED)}.values())


def write(notebook: Any, path: Path) -> None:
    """Write the notebook without widget state and machine-specific metadata; a shown widget becomes
    its outputs.
    """
    import nbformat

    state = _state(notebook)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.pop("papermill", None)
    notebook.cells = [
        c for c in notebook.cells if "papermill-error-cell-tag" not in c.metadata.get("tags", [])
    ]
    for cell in notebook.cells:
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = [
                plain for output in cell.outputs for plain in _without_widget(state, output)
            ]
    nbformat.write(notebook, path)


def _placed(notebook: Any) -> Iterator[tuple[str, Any]]:
    """Yield each cell with its place, such as "cell 3 (`first line`)", counted as in the source."""
    number = 0
    for cell in notebook.cells:
        added = {"injected-parameters", "papermill-error-cell-tag"} & set(
            cell.metadata.get("tags", [])
        )
        number += not added
        first = next(iter(cell.source.strip().splitlines()), "")
        yield f"{'the given parameters' if added else f'cell {number}'} (`{first}`)", cell


def _without_widget(state: dict[str, Any], output: Any) -> list[Any]:
    """``output`` itself; for a widget, a note and the content of its Output areas."""
    from nbformat import from_dict
    from nbformat.v4 import new_output

    if WIDGET_VIEW not in output.get("data", {}):
        return [output]
    note = new_output("display_data", {"text/plain": NOTE, "text/markdown": f"*{NOTE}*"})
    shown = [entry for key in _family(state, output) for entry in state[key].get("outputs", [])]
    return [note, *map(from_dict, shown)]


def _state(notebook: Any) -> dict[str, Any]:
    """Widget model id → state."""
    models = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    return {key: model.get("state", {}) for key, model in models.items()}


def _family(state: dict[str, Any], output: Any) -> list[str]:
    """The widget that an output shows and, breadth first, the widgets inside it, each once; empty
    for no widget.
    """
    view = output.get("data", {}).get(WIDGET_VIEW)
    family = [view["model_id"]] if view else []
    for key in family:
        children = (
            str(child).removeprefix("IPY_MODEL_")
            for child in state.get(key, {}).get("children", ())
        )
        family += [child for child in children if child not in family]
    return [key for key in family if key in state]


def _errors(outputs: Iterable[Any]) -> Iterator[str]:
    for output in outputs:
        if output["output_type"] == "error":
            yield f"{output['ename']}: {output['evalue']}"
        elif (
            output["output_type"] == "stream"
            and output["name"] == "stderr"
            and TRACEBACK in "".join(output["text"])
        ):
            yield "".join(output["text"]).strip().splitlines()[-1] + " (traceback on stderr)"
