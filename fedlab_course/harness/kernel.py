"""Execute a notebook in its own kernel, with the running interpreter and this copy of the library."""

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from fedlab_core.engines import cores
from fedlab_core.engines.threads import VARIABLE
from fedlab_course.harness import executed

KERNEL = "python3"
THREADS = "OMP_NUM_THREADS"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (
    *(sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "--log-level=CRITICAL"),
    *("-f", "{connection_file}"),
)


@contextmanager
def environment(jobs: int = 1) -> Iterator[Path]:
    """Make a temporary workspace, and set the environment variables for kernels that start inside the block.

    A kernelspec in the workspace points at this interpreter and precedes any registered one. Sockets and temporary
    files of kernels are in the workspace, so parallel runs cannot collide on ports and killed kernels leave nothing.
    A kernel has one thread for its cells, because the last digits of sums depend on it, and ``OMP_NUM_THREADS``
    overrides that. Simulations do not depend on threads: ``jobs`` kernels share the cores, unless ``FEDLAB_THREADS``
    is set.
    """
    tempfile.gettempdir()  # cached now, so this process keeps its own folder
    short = "/tmp" if os.name == "posix" and os.path.isdir("/tmp") else None  # socket paths must stay below 104 bytes
    # A killed kernel may still have a file open, which Windows does not delete.
    with tempfile.TemporaryDirectory(prefix="fedlab-", dir=short, ignore_cleanup_errors=os.name == "nt") as folder:
        _write(
            Path(folder, "kernels", KERNEL, "kernel.json"),
            json.dumps({"argv": _COMMAND, "display_name": "Python 3", "language": "python"}),
        )
        # Without this, an interrupt between two messages prints a traceback of the messaging library.
        quiet = 'import logging\nlogging.getLogger("tornado.general").setLevel(logging.CRITICAL)\ndel logging\n'
        _write(Path(folder, "ipython", "profile_default", "startup", "quiet.py"), quiet)
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


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


class Kernels:
    """The kernels of one run: any thread can stop them all. A kernel that starts after that ends at once."""

    def __init__(self) -> None:
        self.stopped = False
        self._processes: list[subprocess.Popen] = []
        self._lock = Lock()

    def manager(self) -> type:
        """Make a manager class for a notebook client; its kernels belong to these."""
        from jupyter_client.manager import AsyncKernelManager

        launched = self._launched

        class Manager(AsyncKernelManager):
            async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
                await super()._async_launch_kernel(kernel_cmd, **kw)
                launched(self.provisioner.process)  # type: ignore[union-attr]

            _launch_kernel = _async_launch_kernel

        return Manager

    def stop(self) -> None:
        """Kill all kernels and the processes they have started."""
        with self._lock:
            self.stopped = True
            for process in self._processes:
                _kill(process)

    def _launched(self, process: subprocess.Popen) -> None:
        with self._lock:
            self._processes = [one for one in self._processes if one.poll() is None] + [process]
            if self.stopped:
                _kill(process)


def _kill(process: subprocess.Popen) -> None:
    """Kill a kernel and the processes it has started; on POSIX systems it leads its own process group."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        if sys.platform == "win32":  # the kernel alone would leave its child processes running
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True)
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def manager_config(workspace: Path) -> Any:
    """The connection settings for one kernel inside :func:`environment`; each kernel needs its own sockets."""
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

    Returns the executed notebook with its widget state. An error that stopped it is an output of its cell. The kernel
    joins ``kernels``; ``reached`` gets the number of each cell that begins, counted as in the source.
    """
    import papermill
    from nbclient.exceptions import CellTimeoutError

    for library in ("papermill", "tornado.general", "asyncio"):  # the harness reports each error once
        logging.getLogger(library).setLevel(logging.CRITICAL)
    notebooks, stopped = [_without_outputs(path)], None  # the kernel works on the last one
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
        pass  # its traceback is already an output of the cell
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
    """Add an error output to the last code cell that was started, or else to the first."""
    from nbformat.v4 import new_output

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    started = [cell for cell in cells if cell.metadata.get("papermill", {}).get("start_time")]
    cell = started[-1] if started else cells[0]
    where = [line for output in cell.outputs if output.output_type == "error" for line in output.traceback]
    cell.outputs = [output for output in cell.outputs if output.output_type != "error"]
    cell.outputs.append(new_output("error", ename=name, evalue=message, traceback=[*where, f"{name}: {message}"]))


def _prepend(path: str, variable: str) -> str:
    return os.pathsep.join([path, *filter(None, [os.environ.get(variable)])])
