"""One notebook, one kernel: execution with this very interpreter and this very library, whatever else is installed."""

import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KERNEL = "python3"
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def environment() -> Iterator[Path]:
    """A temporary workspace, and the environment variables that kernels started inside the ``with`` block inherit.

    A kernelspec in the workspace points at this interpreter and goes before any that is registered. Kernels speak over
    sockets in the workspace, so runs side by side cannot collide on ports.
    """
    short = "/tmp" if os.name == "posix" and os.path.isdir("/tmp") else None  # socket paths must stay below 104 bytes
    with tempfile.TemporaryDirectory(prefix="fedlab-", dir=short) as folder:
        _write_kernelspec(Path(folder, "kernels", KERNEL))
        _write_startup(Path(folder, "ipython", "profile_default", "startup"))
        changes = {
            "FEDLAB_HEADLESS": "1",
            "IPYTHONDIR": os.path.join(folder, "ipython"),
            "JUPYTER_PATH": _prepend(folder, "JUPYTER_PATH"),
            "JUPYTER_RUNTIME_DIR": folder,
            "PLOTLY_RENDERER": "plotly_mimetype",
            "PYTHONPATH": _prepend(str(PACKAGE_ROOT), "PYTHONPATH"),
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
    """How to speak with a kernel started inside :func:`environment`."""
    from traitlets.config import Config

    transport = {"transport": "ipc", "ip": str(workspace / "socket")} if os.name == "posix" else {"transport": "tcp"}
    return Config({"KernelManager": {**transport, "client_class": "fedlab_course.harness.kernel_client.PollingClient"}})


def execute(path: Path, values: dict[str, Any], workspace: Path, timeout: int) -> Any:
    """Run the notebook at ``path`` with parameter ``values``, in its own folder, at most ``timeout`` seconds a cell.

    Returns the executed notebook, widget state included. Whatever stopped it stands in the outputs of its cell.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError

    for library in ("papermill", "tornado.general", "asyncio"):  # what goes wrong is reported by the harness, once
        logging.getLogger(library).setLevel(logging.CRITICAL)
    target = workspace / path.name
    stopped = None
    try:
        papermill.execute_notebook(
            path,
            target,
            values,
            kernel_name=KERNEL,
            cwd=path.parent,
            progress_bar=False,
            execution_timeout=timeout,
            store_widget_state=True,
            config=manager_config(workspace),
        )
    except papermill.PapermillExecutionError:
        pass  # its traceback is an output of the cell already
    except CellTimeoutError:
        stopped = ("TimeoutError", f"the cell ran longer than {timeout} s")
    except RuntimeError as error:  # nbclient's DeadKernelError among them
        stopped = ("KernelError", f"{error} (out of memory?)")
    notebook = nbformat.read(target, as_version=4)
    if stopped:
        _record(notebook, *stopped)
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
