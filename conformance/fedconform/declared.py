"""What the file of an adapter says about itself, beside its function ``run``."""

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedconform.tasks.task import Task

SHIPPED = Path(__file__).with_name("adapters")


@dataclass(frozen=True)
class Declared:
    """``shuffles``: why the order of samples cannot be prescribed. ``changes``: what the adapter
    had to change from the defaults of the framework, a name and a sentence each.
    """

    shuffles: str = ""
    changes: Mapping[str, str] = field(default_factory=dict)


def declared_by(names: Mapping[str, Any]) -> Declared:
    """The declarations among the names of a module: ``SHUFFLES`` and ``CHANGES``."""
    changes = names.get("CHANGES", {})
    if not isinstance(changes, Mapping):
        raise ValueError(f"CHANGES={changes!r}: must be a dictionary from names to sentences")
    texts = {str(name): str(sentence) for name, sentence in changes.items()}
    return Declared(str(names.get("SHUFFLES", "")), texts)


def path_of(name: str) -> Path:
    """The file of an adapter, named by its path or, if it is shipped, by its name.

    Raises ``ValueError`` if there is none.
    """
    path = Path(name)
    if not path.is_file():
        path = SHIPPED / f"{name}.py"
    if not path.is_file():
        raise ValueError(f"{name}: is neither a file nor the name of a shipped adapter")
    return path


def load(name: str) -> Callable[[Task], Any]:
    """The function ``run`` of a file, or of a shipped adapter.

    Raises ``ValueError`` if there is none.
    """
    path = path_of(name)
    try:
        names = runpy.run_path(str(path), run_name="adapter")
    except SystemExit as error:
        raise ValueError(f"{path}: ended the program with status {error.code!r}") from error
    function = names.get("run")
    if not callable(function):
        raise ValueError(f"{path}: has no function run(task)")
    return function
