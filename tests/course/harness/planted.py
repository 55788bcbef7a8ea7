"""Small notebooks with planted properties, and the command that runs them, for the tests of the
harness.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS = """\
profile = "quick"  # type: str quick or full
mu = 0.1  # type: float proximal strength
fast = True  # type: bool skip the slow part
seeds = [0, 1]  # type: list[int] one run per seed
dataset = "digits"  # type: str data set"""

GOOD = [
    """\
import json, os, sys
import fedlab_core
facts = {"mu": mu, "fast": fast, "seeds": seeds, "profile": profile, "dataset": dataset}
facts["headless"] = os.environ["FEDLAB_HEADLESS"]
facts["python"] = sys.executable
facts["library"] = fedlab_core.__file__
facts["folder"] = os.getcwd()
print("FACTS " + json.dumps(facts))""",
    """\
import plotly.graph_objects as go
squares = go.Scatter(x=[1, 2, 3], y=[1, 4, 9], name="squares")
fig = go.Figure(squares, layout_title="Squares </script>")
fig.update_layout(meta={"alt": "A curve that rises from 1 to 9"})
fig""",
    """\
from fedlab_course.check import claims
claims.check("Squares grow", 9 > 4, "4, then 9")
claims.check("Squares <shrink>", 9 < 4)
claims.stored("000-2")
claims.stored("000-2")""",
    """\
from ipywidgets import interact
@interact(x=(0, 3))
def show(x=2):
    print("inside the widget", x)""",
    """\
import pandas as pd
pd.DataFrame({"a": [1, 2]})""",
]
FAILING = {  # name → (cells, what the report says of it)
    "10_error": (
        ["total = 1\ntotal / 0", "print('never')"],
        "cell 2 (`total = 1`): ZeroDivisionError: division by zero",
    ),
    "11_interact": (
        [
            (
                "from ipywidgets import interact\n@interact(x=(0, 3))\ndef f(x):\n"
                "    raise KeyError('swallowed')"
            )
        ],
        "cell 2 (`from ipywidgets import interact`), inside a widget: KeyError: 'swallowed'",
    ),
    "12_output": (
        [
            (
                "import ipywidgets\nout = ipywidgets.Output()\nwith out:\n"
                "    raise OSError('hidden')\nout"
            )
        ],
        "cell 2 (`import ipywidgets`), inside a widget: OSError: hidden",
    ),
    "13_unshown": (
        ["import ipywidgets\nout = ipywidgets.Output()\nwith out:\n    raise OSError('hidden')"],
        "inside a widget that no cell shows: OSError: hidden",
    ),
    "14_thread": (
        [
            (
                "import threading\nthread = threading.Thread(target=lambda: [][0])\n"
                "thread.start()\nthread.join()"
            )
        ],
        "cell 2 (`import threading`): IndexError: list index out of range (traceback on stderr)",
    ),
    "15_timeout": (
        ["import time", "time.sleep(60)"],
        "cell 3 (`time.sleep(60)`): TimeoutError: the cell ran longer than",
    ),
    "16_dead": (["import os\nos._exit(9)"], "cell 2 (`import os`): KernelError"),
}


def notebook(
    folder: Path, name: str, *sources: str, text: str = "", parameters: str | None = None
) -> Path:
    """Write a notebook: a title with ``text`` below it, a parameters cell if asked for, and code
    cells.
    """
    cells: list[Any] = [new_markdown_cell(f"# Title of {name}\n\n{text}", id="title")]
    if parameters is not None:
        cells.append(new_code_cell(parameters, id="parameters", metadata={"tags": ["parameters"]}))
    cells += [new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources)]
    kernelspec = {"name": "no-such-kernel", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernelspec, "language_info": {"name": "python"}}
    path = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    return path


@dataclass(frozen=True)
class Run:
    """A finished command: its exit status, what it printed, and the folder it wrote."""

    status: int
    stdout: str
    stderr: str
    out: Path

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.out / "summary.json").read_text())

    def entry(self, name: str) -> dict[str, Any]:
        return next(entry for entry in self.summary["notebooks"] if entry["name"] == name)


def command(*arguments: str | Path, out: Path) -> Run:
    """``python -m fedlab_course run …`` as a person starts it: kernels do otherwise where they find
    pytest.
    """
    full = [sys.executable, "-m", "fedlab_course", "run", "--out", str(out), *map(str, arguments)]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    result = subprocess.run(full, capture_output=True, text=True, env=environment)
    return Run(result.returncode, result.stdout, result.stderr, out)


def start(*arguments: object) -> subprocess.Popen:
    """The command, begun in a session of its own, which ends at SIGINT wherever it runs."""
    return subprocess.Popen(
        [sys.executable, "-m", "fedlab_course", "run", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # tests in the background ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
