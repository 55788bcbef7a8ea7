"""A host in the cloud, played by the environment whose interpreter ``FEDLAB_HOSTED_PYTHON`` names."""

import json
import os
import subprocess
from pathlib import Path

PYTHON = os.environ.get("FEDLAB_HOSTED_PYTHON", "")
CLOUD = Path(__file__).with_name("cloud")
LIST = """\
import importlib.metadata, json
print(json.dumps({one.name.lower(): one.version for one in importlib.metadata.distributions()}))"""


def environment(folder: Path) -> dict[str, str]:
    """Variables for programs of the host, with its own kernel, and with nothing that leads to this checkout."""
    command = [PYTHON, "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
    command += ["--IPKernelApp.kernel_class=cloud_kernel.Kernel", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python", "env": {"PYTHONPATH": str(CLOUD)}}
    path = folder / "jupyter" / "kernels" / "python3" / "kernel.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(spec), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", "FEDLAB_HEADLESS", "PYTHONPATH")}
    return clean | {"JUPYTER_PATH": str(folder / "jupyter"), "IPYTHONDIR": str(folder / "ipython")}


def run(*arguments: str | Path) -> str:
    """The standard output of the host's Python."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([PYTHON, *map(str, arguments)], capture_output=True, text=True, env=clean, cwd="/")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def installed() -> dict[str, str]:
    """Distribution → version."""
    return json.loads(run("-c", LIST))
