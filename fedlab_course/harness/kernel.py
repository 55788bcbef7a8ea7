"""One notebook, one kernel: execution with this very interpreter and this very library, whatever else is installed."""

import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE
from fedlab_course.harness import executed
from fedlab_course.harness.kernels import Kernels

KERNEL = "python3"
THREADS = "OMP_NUM_THREADS"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def environment(jobs: int = 1) -> Iterator[Path]:
    """A temporary workspace, and the environment variables that kernels started inside the ``with`` block inherit.

    A kernelspec in the workspace points at this interpreter and goes before any that is registered. Kernels speak over
    sockets in the workspace, so runs side by side cannot collide on ports, and what a killed one leaves in its folder
    for temporary files goes with the workspace. Each has one thread for the operations of its cells, unless
    ``OMP_NUM_THREADS`` says otherwise: sums depend on it in their last digits. Simulations, which do not, share the
    cores among the kernels, of which ``jobs`` run at once, unless ``FEDLAB_THREADS`` says otherwise.
    """
    tempfile.gettempdir()  # found now and kept: this process goes on with its own
    short = "/tmp" if os.name == "posix" and os.path.isdir("/tmp") else None  # socket paths must stay below 104 bytes
    # A kernel that was killed may still hold a file, which Windows then does not delete.
    on_windows = os.name == "nt"
    with tempfile.TemporaryDirectory(prefix="fedlab-", dir=short, ignore_cleanup_errors=on_windows) as folder:
        _write_kernelspec(Path(folder, "kernels", KERNEL))
        _write_startup(Path(folder, "ipython", "profile_default", "startup"))
        Path(folder, "tmp").mkdir()
        changes = {
            "FEDLAB_HEADLESS": "1",
            "IPYTHONDIR": os.path.join(folder, "ipython"),
            "JUPYTER_PATH": _prepend(folder, "JUPYTER_PATH"),
            "JUPYTER_RUNTIME_DIR": folder,
            "PLOTLY_RENDERER": "plotly_mimetype",
            "PYTHONPATH": _prepend(str(PACKAGE_ROOT), "PYTHONPATH"),
            "TMPDIR": os.path.join(folder, "tmp"),
            THREADS: os.environ.get(THREADS, "1"),
            VARIABLE: os.environ.get(VARIABLE, str(max(1, cores.usable() // jobs))),
        }
        before = {name: os.environ.get(name) for name in changes}
        os.environ.update(changes)
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _write_kernelspec(folder: Path) -> None:
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "--log-level=CRITICAL"]
    spec = {"argv": [*command, "-f", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def _write_startup(folder: Path) -> None:
    """A kernel that is interrupted between two messages would log a traceback of the library that carries them."""
    folder.mkdir(parents=True)
    quiet = 'import logging\nlogging.getLogger("tornado.general").setLevel(logging.CRITICAL)\ndel logging\n'
    (folder / "quiet.py").write_text(quiet, encoding="utf-8")


def manager_config(workspace: Path) -> Any:
    """How to speak with one kernel started inside :func:`environment`; another one needs sockets of its own."""
    from traitlets.config import Config

    transport = {"transport": "tcp"}
    if os.name == "posix":
        transport = {"transport": "ipc", "ip": os.path.join(tempfile.mkdtemp(prefix="k", dir=workspace), "socket")}
    return Config({"KernelManager": {**transport, "client_class": "fedlab_course.harness.kernel_client.PollingClient"}})


def execute(
    path: Path,
    values: dict[str, Any],
    workspace: Path,
    timeout: int,
    kernels: Kernels | None = None,
    reached: Callable[[int], None] = lambda number: None,
) -> Any:
    """Run the notebook at ``path`` with parameter ``values``, in its own folder, at most ``timeout`` seconds a cell.

    Returns the executed notebook, widget state included. Whatever stopped it stands in the outputs of its cell. Its
    kernel is one of ``kernels``; ``reached`` gets the number of each cell that begins, as in the source.
    """
    import papermill
    from nbclient.exceptions import CellTimeoutError

    for library in ("papermill", "tornado.general", "asyncio"):  # what goes wrong is reported by the harness, once
        logging.getLogger(library).setLevel(logging.CRITICAL)
    notebooks, stopped = [_without_outputs(path)], None  # the last is the one that the kernel works on
    try:
        papermill.execute_notebook(
            str(path.resolve()),
            None,
            values,
            kernel_name=KERNEL,
            progress_bar=False,
            execution_timeout=timeout,
            store_widget_state=True,
            resources={"metadata": {"path": str(path.parent)}},  # cwd=… would move this process, with all its threads
            config=manager_config(workspace),
            kernel_manager_class=(kernels or Kernels()).manager(),
            on_notebook_start=lambda notebook: notebooks.append(notebook),
            on_cell_start=lambda cell, cell_index: reached(executed.source_number(notebooks[-1], cell_index)),
        )
    except papermill.PapermillExecutionError:
        pass  # its traceback is an output of the cell already
    except CellTimeoutError:
        stopped = ("TimeoutError", f"the cell ran longer than {timeout} s")
    except RuntimeError as error:  # nbclient's DeadKernelError among them
        stopped = ("KernelError", f"{error} (out of memory?)")
    if stopped:
        _record(notebooks[-1], *stopped)
    return notebooks[-1]


def _without_outputs(path: Path) -> Any:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return notebook


def _record(notebook: Any, name: str, message: str) -> None:
    """Add an error output to the cell that was running: the last code cell that was started, or else the first."""
    from nbformat.v4 import new_output

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    started = [cell for cell in cells if cell.metadata.get("papermill", {}).get("start_time")]
    cell = started[-1] if started else cells[0]
    where = [line for output in cell.outputs if output.output_type == "error" for line in output.traceback]
    cell.outputs = [output for output in cell.outputs if output.output_type != "error"]
    cell.outputs.append(new_output("error", ename=name, evalue=message, traceback=[*where, f"{name}: {message}"]))


def _prepend(path: str, variable: str) -> str:
    return os.pathsep.join([path, *filter(None, [os.environ.get(variable)])])
