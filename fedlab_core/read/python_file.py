"""Load a user's function, named FILE.py:FUNCTION on the command line."""

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedlab_core.reproduce.description import digest


def function(option: str, text: str, *kinds: type) -> Callable[..., Any] | None:
    """Return the function that ``text`` names, or None if ``text`` is not of the form FILE.py:FUNCTION.

    The function must return one of the ``kinds``. Its result gets an attribute ``fedlab_source``: ``text`` and a digest
    of the file. Raises ``OSError`` if the file does not exist, and ``ValueError`` with the line for any error in it.
    """
    file, _, name = text.rpartition(":")
    path, about = Path(file).resolve(), f"{option} {text}"
    if not file.endswith(".py"):
        return None

    def called(what: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return what(*arguments)
        except Exception as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
            lines += [error.lineno] if isinstance(error, SyntaxError) else []
            where = f"line {lines[-1]}: " if lines else ""
            raise ValueError(f"{about}: {where}{type(error).__name__}: {error}") from error

    def checked(*arguments: Any) -> Any:
        result = called(own, *arguments)
        if not isinstance(result, kinds):
            names = " or a ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{about}: must return a {names}, got {type(result).__name__} (is a `return` missing?)")
        vars(getattr(result, "dataset", result))["fedlab_source"] = {"source": source}
        return result

    source = f"{text}, digest {digest(path.read_bytes())}"
    sys.path.insert(0, str(path.parent))  # the file may import its neighbours
    spec: Any = importlib.util.spec_from_file_location(f"own_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    called(spec.loader.exec_module, module)
    own: Any = getattr(module, name, None)
    if not callable(own):
        raise ValueError(f"{about}: {file} has no function {name!r}")
    return checked
