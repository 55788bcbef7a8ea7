"""Explain a NameError in a notebook: most come from a cell above that has not run since the kernel
started.
"""

import sys
from types import TracebackType
from typing import Any

from fedlab_core.language import translator

_ = translator(__name__)

ADVICE = _(
    "If a cell above defines {name}, run the cells above first: menu Run → Run All Above Selected "
    "Cell. Then run this cell again."
)


def install() -> None:
    """Add the advice to each NameError of the running IPython; nothing happens outside IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.set_custom_exc((NameError,), _show)


def _show(
    shell: Any,
    kind: type[NameError],
    error: NameError,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Show the traceback of ``error`` as IPython does, with the advice as its note."""
    advice = ADVICE.format(name=error.name or _("the name"))
    if advice not in getattr(error, "__notes__", ()):
        error.add_note(advice)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)
