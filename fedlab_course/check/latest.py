"""Whether an answer is the one written last: after an error in its cell, its name still means the one before."""

import inspect
import linecache
import re
import sys
from typing import Any


def outdated(name: str, answer: Any) -> bool:
    """Whether a cell run later than the one ``answer`` is from defines ``name`` anew, and so must have failed.

    False outside IPython, and for an answer that is from no cell.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return False
    cells, sources = shell.user_ns.get("In", []), _cells_of(answer)
    definition = re.compile(rf"^(def|class)\s+{re.escape(name)}\b", flags=re.MULTILINE)
    own = [number for number, cell in enumerate(cells) if cell.strip() in sources]
    written = [number for number, cell in enumerate(cells) if definition.search(cell)]
    return bool(own and written) and written[-1] > own[-1]


def _cells_of(answer: Any) -> set[str]:
    """The whole source of each cell or file that a function, or a method of a class, was compiled from."""
    functions = vars(answer).values() if inspect.isclass(answer) else [answer]
    files = {function.__code__.co_filename for function in functions if inspect.isfunction(function)}
    return {"".join(linecache.getlines(file)).strip() for file in files} - {""}
