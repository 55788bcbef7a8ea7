"""Execute a notebook in its own kernel, with the running interpreter and this copy of the
library.
"""

import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE

KERNEL = "python3"
THREADS = "OMP_NUM_THREADS"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (
    *(sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "--log-level=CRITICAL"),
    *("-f", "{connection_file}"),
)
# Without this, an interrupt between two messages prints a traceback of the messaging library.
_QUIET = (
    'import logging\nlogging.getLogger("tornado.general").setLevel(logging.CRITICAL)\ndel logging\n'
)


@contextmanager
def environment(jobs: int = 1) -> Iterator[Path]:
    """Make a temporary workspace, and set the environment variables for kernels that start inside
    the block.

    A kernelspec there points at this interpreter. Sockets, temporary files and all of Jupyter's
    folders are there too. So parallel runs cannot collide, the user's settings change nothing, and
    killed kernels leave nothing. The kernelspec is outside ``IPYTHONDIR``, because Jupyter copies
    kernels from there into its data folder.

    A kernel has one thread for its cells, because the last digits of sums depend on it, unless
    ``OMP_NUM_THREADS`` is set. Simulations do not: ``jobs`` kernels share the cores.
    """
    tempfile.gettempdir()  # cached now, so this process keeps its own folder
    # socket paths must stay below 104 bytes
    short = "/tmp" if os.name == "posix" and os.path.isdir("/tmp") else None
    # A killed kernel may still have a file open, which Windows does not delete.
    with tempfile.TemporaryDirectory(
        prefix="fedlab-", dir=short, ignore_cleanup_errors=os.name == "nt"
    ) as folder:
        spec = json.dumps({"argv": _COMMAND, "display_name": "Python 3", "language": "python"})
        jupyter = Path(folder, "jupyter")
        ipython = Path(folder, "ipython")
        kernelspec = jupyter / "kernels" / KERNEL / "kernel.json"
        for path, text in (
            (kernelspec, spec),
            (ipython / "profile_default" / "startup" / "quiet.py", _QUIET),
        ):
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        Path(folder, "tmp").mkdir()
        variables = {
            "FEDLAB_HEADLESS": "1",
            "IPYTHONDIR": str(ipython),
            "JUPYTER_CONFIG_DIR": os.path.join(folder, "config"),
            "JUPYTER_DATA_DIR": os.path.join(folder, "data"),
            "JUPYTER_PATH": _prepend(str(jupyter), "JUPYTER_PATH"),
            "JUPYTER_RUNTIME_DIR": os.path.join(folder, "runtime"),
            "PLOTLY_RENDERER": "plotly_mimetype",
            "PYTHONPATH": _prepend(str(PACKAGE_ROOT), "PYTHONPATH"),
            "TMPDIR": os.path.join(folder, "tmp"),
            THREADS: os.environ.get(THREADS, "1"),
            VARIABLE: os.environ.get(VARIABLE, str(max(1, cores.usable() // jobs))),
        }
        with patch.dict(os.environ, variables):  # restores all variables at the end
            yield Path(folder)


def _prepend(path: str, variable: str) -> str:
    return os.pathsep.join([path, *filter(None, [os.environ.get(variable)])])


def manager_config(workspace: Path) -> Any:
    """The connection settings for one kernel inside :func:`environment`; each kernel needs its own
    sockets.
    """
    from traitlets.config import Config

    transport = {"transport": "tcp"}
    if os.name == "posix":
        transport = {
            "transport": "ipc",
            "ip": os.path.join(tempfile.mkdtemp(prefix="k", dir=workspace), "socket"),
        }
    return Config(
        {
            "KernelManager": {
                **transport,
                "client_class": "fedlab_course.harness.kernel_client.PollingClient",
            }
        }
    )


def execute(
    path: Path,
    values: dict[str, Any],
    workspace: Path,
    timeout: int,
    progress: dict[str, Any] | None = None,
    before_cell: Callable[[], None] = lambda: None,
) -> Any:
    """Run a notebook in its own folder, and return it with its widget state, and an error as an
    output of its cell.

    ``timeout``: seconds for a cell; ``progress``: keywords of ``tqdm`` for a bar.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError

    # the harness reports each error once
    for library in ("papermill", "tornado.general", "asyncio"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    # the kernel works on the last one
    notebooks = [nbformat.read(path, as_version=4)]
    stopped = None
    try:
        papermill.execute_notebook(
            str(path.resolve()),
            None,
            values,
            kernel_name=KERNEL,
            progress_bar=progress or False,
            execution_timeout=timeout,
            store_widget_state=True,
            shutdown_kernel="immediate",  # PyTorch takes a second to say goodbye
            # cwd=… would move this process, with all its threads
            resources={"metadata": {"path": str(path.parent)}},
            config=manager_config(workspace),
            on_notebook_start=lambda notebook: notebooks.append(notebook),
            on_cell_start=lambda cell, cell_index: before_cell(),
        )
    except papermill.PapermillExecutionError:
        pass  # its traceback is already an output of the cell
    except CellTimeoutError:
        stopped = ("TimeoutError", f"the cell ran longer than {timeout} s")
    except RuntimeError as error:  # nbclient's DeadKernelError among them
        stopped = ("KernelError", f"{error} (out of memory?)")
    if stopped:
        _record(notebooks[-1], *stopped)
    return notebooks[-1]


def _record(notebook: Any, name: str, message: str) -> None:
    """Add an error output to the last code cell that was started, or else to the first."""
    from nbformat.v4 import new_output

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    started = [cell for cell in cells if cell.metadata.get("papermill", {}).get("start_time")]
    cell = started[-1] if started else cells[0]
    cell.outputs = [output for output in cell.outputs if output.output_type != "error"]
    cell.outputs.append(
        new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])
    )
