"""Make the virtual environment .venv hold what the named extras need: ``python tools/setup_env.py course test``.

With ``--oldest`` the environment is .venv-oldest, and what the library itself needs comes in the oldest versions that
pyproject.toml allows. Only PyTorch does not: its older releases on PyPI bring gigabytes of CUDA libraries each.
With ``--flower`` it is .venv-flower, where Flower's own pins come before those of constraints.txt.
With ``TORCH=cpu`` in the environment, PyTorch and torchvision come from PyTorch's own index of builds without CUDA,
which on Linux saves gigabytes; ``TORCH=cu130`` names another of its builds. By default they come from where pip finds
everything else. A build once chosen stays.

Does nothing if the environment already does. One that was left half made, that lost packages or whose interpreter is
gone is deleted and built again; one that is sound but was made for other requirements is brought up to date.
Standard library only: this file runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
PYTORCH_INDEX = "https://download.pytorch.org/whl/"  # its own page of installation; a build has an index of its own
OF_PYTORCH = ("torch", "torchvision")  # built for one another
CONSTRAINTS = "constraints.txt"  # what an environment was held to, inside its folder
# Settings of JupyterLab in the environment, below those that its user chooses: no question about news at the start.
LAB_SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
# What an instructor sees of nbgrader is no student's business; docs/teaching/nbgrader.md says how to see it.
LAB_PAGE = {"disabledExtensions": {"@jupyter/nbgrader": True}}

# One line per installed distribution: name==version, and "missing" if a file or folder it put there is gone.
LIST_PACKAGES = """
import importlib.metadata as metadata
for dist in metadata.distributions():
    tops = {file.parts[0] for file in dist.files or () if file.parts[0] not in ("..", "__pycache__")}
    state = "" if all(dist.locate_file(top).exists() for top in tops) else " missing"
    print(f"{dist.name}=={dist.version}{state}")
"""


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def main(arguments: list[str]) -> int:
    """Set up the environment for the extras among ``arguments`` and return the exit status."""
    kinds = [name for name in KINDS if f"--{name}" in arguments]
    kind = kinds[0] if kinds else ""
    try:
        check_interpreter()
        environment = Environment(ROOT / (f".venv-{kind}" if kind else ".venv"), kind, asked_build())
        environment.ensure(sorted(set(arguments) - {f"--{kind}"}))
    except SetupError as error:
        print("set-up: " + str(error), file=sys.stderr)
        return 1
    return 0


def check_interpreter() -> None:
    """Raise ``SetupError`` unless this interpreter is new enough and can make virtual environments."""
    if sys.version_info < OLDEST_PYTHON:
        found = "{}.{}".format(*sys.version_info)
        other = "py -3.12 tools\\setup_env.py" if os.name == "nt" else "make PYTHON=python3.12"
        raise SetupError(f"Python 3.11 or newer is needed, {sys.executable} is {found}. Name another one: {other} …")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f"{sys.executable} cannot make virtual environments: its module {error.name} is missing. "
            "On Debian and Ubuntu: apt install python3-venv"
        ) from error


class Environment:
    """The virtual environment in ``folder``, with the pinned versions, or others of a ``kind`` in KINDS.

    ``build``: which of PyTorch's builds is asked for; "" for none in particular, and then the one that is there stays.
    """

    def __init__(self, folder: Path, kind: str = "", build: str = "") -> None:
        self.folder = folder
        self.kind = kind
        self.build = build
        self.stamp = folder / "fedlab-stamp.json"  # written last: its absence means half made
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def ensure(self, extras: list[str]) -> None:
        """Bring the environment into the state that ``extras`` ask for."""
        wanted = fingerprint()
        stamp = self.read_stamp()
        if self.folder.exists() and not self.sound(stamp):
            print(f"set-up: {self.folder.name} is incomplete, building it again", flush=True)
            self.remove()
            stamp = {}
        if self.build and stamp and stamp.get("torch", "") != self.build:
            print(f"set-up: {self.folder.name} has another build of PyTorch, building it again", flush=True)
            self.remove()
            stamp = {}
        self.build = self.build or stamp.get("torch", "")
        if stamp.get("fingerprint") == wanted and set(extras) <= set(stamp["extras"]):
            return
        extras = sorted({*extras, *stamp.get("extras", [])})
        if not self.folder.exists():
            print(f"set-up: making {self.folder.name}; this takes a few minutes the first time", flush=True)
            self.make()
        self.install(extras)
        self.settle_lab()
        state = {"fingerprint": wanted, "extras": extras, "torch": self.build, "packages": self.packages()}
        self.stamp.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def read_stamp(self) -> dict[str, Any]:
        """The stamp of a finished environment, or an empty one."""
        try:
            return json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def sound(self, stamp: dict[str, Any]) -> bool:
        """True if the environment was finished and still has every package with which it was finished."""
        listed = self.packages() if stamp else None
        return listed is not None and set(stamp["packages"]) <= set(listed)

    def packages(self) -> list[str] | None:
        """What is installed, as sorted ``name==version`` lines; None if the interpreter does not run."""
        try:
            command = [str(self.python), "-I", "-c", LIST_PACKAGES]
            result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        except OSError:
            return None
        return sorted(set(result.stdout.splitlines())) if result.returncode == 0 else None

    def make(self) -> None:
        """An empty environment with pip."""
        call([sys.executable, "-m", "venv", str(self.folder)])

    def remove(self) -> None:
        """Delete the environment. ``SetupError`` if a program runs from it, which Windows does not let go."""
        self.stamp.unlink(missing_ok=True)  # if the rest fails, the next run starts over
        try:
            shutil.rmtree(self.folder)
        except OSError as error:
            raise SetupError(f"{self.folder} cannot be deleted ({error}). Close what runs from it first.") from error

    def install(self, extras: list[str]) -> None:
        """Install the project, editable, with ``extras``; PyTorch first, so that nothing else chooses its build."""
        self.stamp.unlink(missing_ok=True)
        versions = pins() | (KINDS[self.kind]() if self.kind else {})
        held = "".join(f"{name}=={version}\n" for name, version in versions.items())
        (self.folder / CONSTRAINTS).write_text(held, encoding="utf-8")
        build = f" ({self.build})" if self.build else ""
        print("set-up: installing " + ", ".join([f"PyTorch {versions['torch']}{build}", *extras]), flush=True)
        if self.build:  # from an index that has not all that they need: what follows brings that
            wanted = [f"{name}=={versions[name]}" for name in OF_PYTORCH if name in versions]
            self.pip("--no-deps", "--index-url", PYTORCH_INDEX + self.build, *wanted)
        self.pip("torch==" + versions["torch"], "setuptools==" + versions["setuptools"])
        self.pip("--no-build-isolation", "--editable", f"{ROOT}[{','.join(extras)}]")

    def settle_lab(self) -> None:
        """Write what JupyterLab starts with."""
        written: dict[str, Any] = {"share/jupyter/lab/settings/overrides.json": LAB_SETTINGS}
        written["etc/jupyter/labconfig/page_config.json"] = LAB_PAGE
        for name, content in written.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content, indent=1), encoding="utf-8")

    def pip(self, *arguments: str) -> None:
        """Run pip in the environment, held to its constraints."""
        common = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        call([*common, "--constraint", str(self.folder / CONSTRAINTS), *options(), *arguments])


def asked_build() -> str:
    """The build of PyTorch that the variable ``TORCH`` names, "" for none. ``SetupError`` for what cannot be one."""
    build = os.environ.get("TORCH", "")
    if build and not re.fullmatch(r"cpu|cu\d+|rocm[\d.]+|xpu", build):
        raise SetupError(f"TORCH={build!r}: must be cpu, or another build that pytorch.org lists: cu130, rocm7.1, xpu")
    return build


def options() -> list[str]:
    """The options for every pip install in the variable ``PIP_ARGS``, where Windows has \\ between folders."""
    given = os.environ.get("PIP_ARGS", "")
    if os.name == "nt":
        return [option.strip('"') for option in shlex.split(given, posix=False)]
    return shlex.split(given)


def fingerprint() -> str:
    """A digest of all that decides what belongs into an environment."""
    sources = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    others = [str(ROOT), json.dumps([LAB_SETTINGS, LAB_PAGE])]
    parts = [source.read_bytes() for source in sources] + [other.encode() for other in others]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def pins() -> dict[str, str]:
    """Distribution → version in constraints.txt, names in lower case."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def lower_bounds() -> dict[str, str]:
    """Distribution → oldest version that pyproject.toml allows, for what the library itself needs except PyTorch."""
    import tomllib  # not at the top, where an older Python would stop before it is told so

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {}
    for requirement in project["dependencies"]:
        match = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement)
        if match is None:
            raise SetupError(f"pyproject.toml: {requirement!r} is not of the form name>=version")
        bounds[match[1].lower()] = match[2]
    return {name: version for name, version in bounds.items() if name != "torch"}


FLOWER = {"flwr": "1.41.0", "packaging": "25.0"}
KINDS: dict[str, Callable[[], dict[str, str]]] = {"oldest": lower_bounds, "flower": FLOWER.copy}  # other versions


def call(command: list[str]) -> None:
    """Run ``command``; ``SetupError`` if it fails."""
    result = subprocess.run(command)
    if result.returncode:
        raise SetupError(f"this command failed (exit status {result.returncode}): {shlex.join(command)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
