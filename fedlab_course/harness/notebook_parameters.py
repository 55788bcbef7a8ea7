"""The parameters of notebooks: names, types, defaults, and the values for a run.

A notebook declares them in one cell with the tag ``parameters``, one literal a line, with the type
in a comment::

    seeds = [0, 1]  # type: list[int] one run per seed
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlab_core import validation

OPTIONS = ("profile", "dataset")
_SCALARS = {"bool": bool, "int": int, "float": float, "str": str}
_LISTS = {
    "list[bool]": list[bool],
    "list[int]": list[int],
    "list[float]": list[float],
    "list[str]": list[str],
}
_GIVEN: dict[str, Any] = {**_SCALARS, **_LISTS}
_TYPES = {**_GIVEN, **{f"{name}|None": kind | None for name, kind in _GIVEN.items()}}


@dataclass(frozen=True)
class NotebookParameter:
    """The type, the default value and the meaning of a parameter."""

    kind: Any
    default: Any
    help: str


def declared(notebook: Path) -> dict[str, NotebookParameter]:
    """Read the parameters of a notebook. Raises ``ValueError`` for an unknown type or a wrong
    default.
    """
    import papermill

    return {
        name: _parameter(notebook.stem, entry)
        for name, entry in papermill.inspect_notebook(notebook).items()
    }


def resolve(
    notebooks: Mapping[str, Mapping[str, NotebookParameter]],
    common: Mapping[str, Any],
    given: Mapping[str, Any],
) -> dict[str, dict[str, Any]]:
    """Choose the values of ``common`` and ``given`` that each notebook declares, converted to the
    declared types.

    ``notebooks``: name → declared parameters. A value may be a text. Raises ``ValueError`` for a
    value of the wrong type, and for a name in ``given`` that no notebook has or that belongs in
    ``common``.
    """
    known = {name for parameters in notebooks.values() for name in parameters}
    for name in given:
        if name in OPTIONS:
            raise ValueError(f"parameter {name}: cannot be set here; use its option --{name}")
        validation.choice("parameter", name, sorted(known))
    values: dict[str, dict[str, Any]] = {}
    for notebook, parameters in notebooks.items():
        values[notebook] = {}
        for name, value in {**common, **given}.items():
            if name in parameters:
                kind = parameters[name].kind
                values[notebook][name] = validation.typed(f"{notebook}: {name}", value, kind)
    return values


def _parameter(notebook: str, entry: Mapping[str, str]) -> NotebookParameter:
    about = f"{notebook}: parameter {entry['name']} = {entry['default']}"
    given = entry["inferred_type_name"]
    kind = _TYPES.get(given.replace(" ", ""))
    if kind is None:
        raise ValueError(
            f"{about}: needs a comment such as `# type: float meaning`; types: {', '.join(_TYPES)}"
        )
    try:
        default = ast.literal_eval(entry["default"])
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"{about}: is not a literal") from error
    if not validation.matches(default, kind):
        raise ValueError(f"{about}: is declared as {given}: it must be {validation.describe(kind)}")
    return NotebookParameter(kind, default, entry["help"])
