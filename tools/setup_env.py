"""Make the virtual environment .venv hold what the named extras need: ``python tools/setup_env.py
course test``.

With ``--oldest`` the environment is .venv-oldest, and what the library itself needs comes in the
oldest versions that pyproject.toml allows. Only PyTorch does not: its older releases on PyPI bring
gigabytes of CUDA libraries each. With ``--flower`` it is .venv-flower, where Flower's own pins come
before those of constraints.txt. On Linux without an NVIDIA driver, PyTorch and torchvision come
from PyTorch's own index of builds without CUDA, which saves gigabytes. Elsewhere, and if that index
cannot be reached, they come from where pip finds everything else. ``TORCH=cpu`` or ``TORCH=cu130``
in the environment asks for one of PyTorch's builds, and ``TORCH=default`` for the one that pip
finds. An environment keeps its build until another one is asked for.

Does nothing if the environment already does. One that was left half made, that lost packages or
whose interpreter is gone is deleted and built again; one that is sound but was made for other
requirements is brought up to date. Standard library only: this file runs before anything is
installed.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
# its own page of installation; a build has an index of its own
PYTORCH_INDEX = "https://download.pytorch.org/whl/"
DEFAULT = "default"  # as a value of TORCH: the build that pip finds
PATIENCE = 5.0  # seconds for an answer of PyTorch's index
# What the NVIDIA driver brings on Linux; the last one is of
# Windows, below the Windows subsystem for Linux.
NVIDIA = (
    "/proc/driver/nvidia/version",
    "/dev/nvidia0",
    "/dev/nvidiactl",
    "/usr/lib/wsl/lib/libcuda.so.1",
)
OF_PYTORCH = ("torch", "torchvision")  # built for one another
CONSTRAINTS = "constraints.txt"  # what an environment was held to, inside its folder
# Settings of JupyterLab in the environment, below those that its user
# chooses: no question about news at the start.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}
# What an instructor sees of nbgrader is no student's business;
# docs/teaching/nbgrader.md says how to see it.
LAB_PAGE = {"disabledExtensions": {"@jupyter/nbgrader": True}}

# One line per installed distribution: name==version, and "missing"
# if a file or folder it put there is gone.
LIST_PACKAGES = """
import importlib.metadata as metadata
for dist in metadata.distributions():
    tops = {file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}
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
        environment = Environment(
            ROOT / (f".venv-{kind}" if kind else ".venv"), kind, asked_build()
        )
        environment.ensure(sorted(set(arguments) - {f"--{kind}"}))
    except SetupError as error:
        print("set-up: " + str(error), file=sys.stderr)
        return 1
    return 0


def check_interpreter() -> None:
    """Raise ``SetupError`` unless this interpreter is new
    enough and can make virtual environments.
    """
    if sys.version_info < OLDEST_PYTHON:
        found = "{}.{}".format(*sys.version_info)
        other = "py -3.12 tools\\setup_env.py" if os.name == "nt" else "make PYTHON=python3.12"
        raise SetupError(
            f"Python 3.11 or newer is needed, {sys.executable} is {found}. Name another one: "
            f"{other} …"
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f"{sys.executable} cannot make virtual environments: its module {error.name} is "
            "missing. On Debian and Ubuntu: apt install python3-venv"
        ) from error


class Build(NamedTuple):
    """One of PyTorch's builds: "cpu", "cu130", …; "" is the one that pip finds. ``asked``: a person
    named it.
    """

    name: str = ""
    asked: bool = False

    @property
    def index_address(self) -> str:
        """The address of its index."""
        return PYTORCH_INDEX + self.name


class Environment:
    """The virtual environment in ``folder``, with the pinned versions, or others of a ``kind`` in
    KINDS.

    ``build``: the build of PyTorch that is asked for. Without one, the build that is there stays,
    and a new environment gets what :func:`chosen` says.
    """

    def __init__(self, folder: Path, kind: str = "", build: Build | None = None) -> None:
        self.folder = folder
        self.kind = kind
        self.build = build
        self.stamp = folder / "fedlab-stamp.json"  # written last: its absence means half made
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def ensure(self, extras: list[str]) -> None:
        """Bring the environment into the state that ``extras`` ask for."""
        wanted = fingerprint()
        stamp = self.read_stamp()
        kept = stamp.get("torch")
        # earlier stamps do not say it, and then each build was asked for
        asked = stamp.get("asked", bool(kept))
        if self.folder.exists() and not self.sound(stamp):
            print(f"set-up: {self.folder.name} is incomplete, building it again", flush=True)
            self.remove()
            stamp = {}
        if self.build and stamp and kept != self.build.name:
            print(
                f"set-up: {self.folder.name} has another build of PyTorch, building it again",
                flush=True,
            )
            self.remove()
            stamp = {}
        if stamp.get("fingerprint") == wanted and set(extras) <= set(stamp["extras"]):
            return
        extras = sorted({*extras, *stamp.get("extras", [])})
        if not self.folder.exists():
            print(
                f"set-up: making {self.folder.name}; this takes a few minutes the first time",
                flush=True,
            )
            self.make()
        build = self.build or (chosen() if kept is None else Build(kept, asked))
        build = self.install(extras, build)
        self.settle_lab()
        state: dict[str, Any] = {
            "fingerprint": wanted,
            "extras": extras,
            "packages": self.packages(),
            "torch": build.name,
            "asked": build.asked,
        }
        self.stamp.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def read_stamp(self) -> dict[str, Any]:
        """The stamp of a finished environment, or an empty one."""
        try:
            return json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def sound(self, stamp: dict[str, Any]) -> bool:
        """True if the environment was finished and still has every package with which it was
        finished.
        """
        listed = self.packages() if stamp else None
        return listed is not None and set(stamp["packages"]) <= set(listed)

    def packages(self) -> list[str] | None:
        """What is installed, as sorted ``name==version`` lines; None if the interpreter does not
        run.
        """
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
        """Delete the environment. ``SetupError`` if a program runs from it, which Windows does not
        let go.
        """
        self.stamp.unlink(missing_ok=True)  # if the rest fails, the next run starts over
        try:
            shutil.rmtree(self.folder)
        except OSError as error:
            raise SetupError(
                f"{self.folder} cannot be deleted ({error}). Close what runs from it first."
            ) from error

    def install(self, extras: list[str], build: Build) -> Build:
        """Install the project, editable, with ``extras``. Return the build of PyTorch that the
        environment has.

        PyTorch comes first, so that nothing else chooses its build. A build that no person named is
        replaced by the one that pip finds if its index cannot be reached.
        """
        self.stamp.unlink(missing_ok=True)
        versions = pins() | (KINDS[self.kind]() if self.kind else {})
        held = "".join(f"{name}=={version}\n" for name, version in versions.items())
        (self.folder / CONSTRAINTS).write_text(held, encoding="utf-8")
        there = bool(build.name) and reached(build.index_address)
        if build.name and not there:
            then = (
                f"looking for PyTorch's build {build.name} elsewhere"
                if build.asked
                else "pip chooses the build"
            )
            print(f"set-up: {build.index_address} cannot be reached, {then}", flush=True)
            build = build if build.asked else Build()
        name = f" ({build.name})" if build.name else ""
        print(
            "set-up: installing " + ", ".join([f"PyTorch {versions['torch']}{name}", *extras]),
            flush=True,
        )
        if there:  # from an index that has not all that they need: what follows brings that
            wanted = [f"{one}=={versions[one]}" for one in OF_PYTORCH if one in versions]
            self.pip("--no-deps", "--index-url", build.index_address, *wanted)
        elif build.name:
            self.find(build, versions["torch"])
        self.pip("torch==" + versions["torch"], "setuptools==" + versions["setuptools"])
        self.pip("--no-build-isolation", "--editable", f"{ROOT}[{','.join(extras)}]")
        return build

    def find(self, build: Build, version: str) -> None:
        """Install a build of PyTorch from where pip finds everything else, such as a folder of
        wheels.
        """
        try:
            self.pip("--no-deps", f"torch=={version}+{build.name}")
        except SetupError as error:
            advice = f"check the network, or use TORCH={DEFAULT} for the build that pip finds"
            raise SetupError(f"{error}\nTORCH={build.name}: {advice}") from error

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
        common = [
            str(self.python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        call([*common, "--constraint", str(self.folder / CONSTRAINTS), *options(), *arguments])


def asked_build() -> Build | None:
    """The build of PyTorch that the variable ``TORCH`` names, or None. ``SetupError`` for what
    cannot be one.
    """
    name = os.environ.get("TORCH", "")
    if not name:
        return None
    if not re.fullmatch(rf"{DEFAULT}|cpu|cu\d+|rocm[\d.]+|xpu", name):
        builds = (
            f"must be cpu, {DEFAULT}, or another build that pytorch.org lists: cu130, rocm7.1, xpu"
        )
        raise SetupError(f"TORCH={name!r}: {builds}")
    return Build("" if name == DEFAULT else name, asked=True)


def chosen() -> Build:
    """The build for a new environment: without CUDA on Linux without an NVIDIA driver, else the one
    that pip finds.
    """
    if sys.platform != "linux" or has_nvidia():
        return Build()
    print(
        (
            f"set-up: no NVIDIA driver found, choosing PyTorch without CUDA (TORCH={DEFAULT} "
            "leaves it to pip)"
        ),
        flush=True,
    )
    return Build("cpu")


def has_nvidia() -> bool:
    """True if this machine has an NVIDIA driver."""
    return shutil.which("nvidia-smi") is not None or any(os.path.exists(path) for path in NVIDIA)


def reached(index: str) -> bool:
    """True if the server of an index answers soon: pip itself
    would try for minutes, with warnings.
    """
    try:
        urllib.request.urlopen(index + "/torch/", timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return True  # pip will say what is wrong
    except urllib.error.URLError as error:
        # pip has certificates of its own
        return isinstance(error.reason, ssl.SSLCertVerificationError)
    except (OSError, http.client.HTTPException):
        return False
    return True


def options() -> list[str]:
    """The options for every pip install in the variable ``PIP_ARGS``, where Windows has \\ between
    folders.
    """
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
    """Distribution → oldest version that pyproject.toml allows, for what the library itself needs
    except PyTorch.
    """
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
# other versions
KINDS: dict[str, Callable[[], dict[str, str]]] = {"oldest": lower_bounds, "flower": FLOWER.copy}


def call(command: list[str]) -> None:
    """Run ``command``; ``SetupError`` if it fails."""
    result = subprocess.run(command)
    if result.returncode:
        raise SetupError(
            f"this command failed (exit status {result.returncode}): {shlex.join(command)}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
