"""What an answer is, without calling it, whether it is the latest, and which line of it stopped
with an error.
"""

import dis
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

Code = list[list[str]]
_LIBRARY = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True)
class Described:
    """An answer: ``kind`` is "nothing", "function", "class" or another type's name; ``parameters``
    are names.

    ``form`` of a function: "async", "generator" or ""; ``code``: its steps; ``methods``: those of a
    class.
    """

    kind: str
    form: str = ""
    parameters: list[str] = field(default_factory=list)
    code: Code | None = None
    methods: dict[str, Code] = field(default_factory=dict)


def describe(answer: Any) -> Described:
    """What ``answer`` is."""
    if answer is None or answer is ...:
        return Described("nothing")
    if inspect.isclass(answer):
        methods = {name: code(method) for name, method in vars(answer).items()}
        return Described(
            "class", methods={name: steps for name, steps in methods.items() if steps is not None}
        )
    if not inspect.isfunction(answer):
        return Described(type(answer).__name__, code=code(answer))
    parameters = list(inspect.signature(answer, follow_wrapped=False).parameters)
    return Described("function", _form(answer), parameters, code(answer))


def _form(function: Callable[..., object]) -> str:
    """Return "async", "generator", or "" for a plain function."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return "async"
    if inspect.isgeneratorfunction(function):
        return "generator"
    return ""


def code(function: Any) -> Code | None:
    """The steps of a function, without its docstring; None for anything else."""
    compiled = getattr(function, "__code__", None)
    return _steps(compiled) if inspect.iscode(compiled) else None


def _steps(compiled: CodeType) -> Code:
    """Name and argument of each step. An inner function, such as a comprehension, stands there with
    its own steps, because its address differs from one compilation to the next.
    """
    return [
        [step.opname, repr(_steps(step.argval)) if inspect.iscode(step.argval) else step.argrepr]
        for step in dis.get_instructions(compiled)
    ]


def describe_global(answer: Callable[..., Any], name: str) -> dict[str, Any]:
    """What the function ``answer`` finds when it calls ``name``, described in plain values."""
    return asdict(describe(answer.__globals__.get(name)))


def call_global(answer: Callable[..., Any], name: str, *arguments: Any) -> Any:
    """Call the function that ``answer`` finds when it calls ``name``."""
    return answer.__globals__[name](*arguments)


def line_of(error: BaseException) -> str:
    """The line of the student's code, the innermost one, that an error comes from; "" if none is
    known.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_LIBRARY) and "site-packages" not in frame.filename:
            return linecache.getline(frame.filename, frame.lineno or 0).strip()
    return ""


def outdated(name: str, answer: Any) -> bool:
    """Whether a cell run later than the one ``answer`` is from defines ``name`` anew, and so must
    have failed.

    False outside IPython, and for an answer that is from no cell.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return False
    functions = vars(answer).values() if inspect.isclass(answer) else [answer]
    files = {
        function.__code__.co_filename for function in functions if inspect.isfunction(function)
    }
    sources = {"".join(linecache.getlines(file)).strip() for file in files} - {""}
    cells = shell.user_ns.get("In", [])
    definition = re.compile(rf"^(def|class)\s+{re.escape(name)}\b", flags=re.MULTILINE)
    own = [number for number, cell in enumerate(cells) if cell.strip() in sources]
    written = [number for number, cell in enumerate(cells) if definition.search(cell)]
    return bool(own and written) and written[-1] > own[-1]
