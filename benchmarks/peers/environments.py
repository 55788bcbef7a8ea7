"""Make a virtual environment for each peer, with the exact versions in ``requirements/NAME.txt``.

A file of requirements lists all packages that the peer imports, and pip resolves nothing. So every
peer has the same PyTorch, even one that pins another PyTorch or asks for a newer Python. The
variables ``TORCH`` (``cpu``: PyTorch without CUDA) and ``PIP_ARGS`` mean what they mean for
tools/setup_env.py.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"
PYTORCH_INDEX = "https://download.pytorch.org/whl/"
STAMP = "requirements.sha256"


class EnvironmentFailed(RuntimeError):
    """An environment could not be made; the message has the last words of pip."""


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(folder: Path, requirements: Path) -> bool:
    """Whether the environment was made to its end, from the same requirements."""
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == digest(requirements)


def digest(requirements: Path) -> str:
    """A digest of the versions in a file of requirements."""
    return hashlib.sha256("\n".join(pinned(requirements)).encode()).hexdigest()


def pinned(requirements: Path) -> list[str]:
    """The lines name==version of a file of requirements."""
    lines = [
        line.partition("#")[0].strip()
        for line in requirements.read_text(encoding="utf-8").splitlines()
    ]
    return [line for line in lines if line]


def pip_commands(python: Path, requirements: Path) -> list[list[str]]:
    """The calls of pip: PyTorch from its own index if
    ``TORCH`` names a build, then all the rest.
    """
    more = shlex.split(os.environ.get("PIP_ARGS", ""))
    pip = [str(python), "-m", "pip", "install", "--quiet", *more]
    commands = []
    for line in pinned(requirements):
        if line.startswith("torch=="):
            build = os.environ.get("TORCH", "")
            index = ["--index-url", PYTORCH_INDEX + build] if build else []
            commands.append([*pip, *index, "--constraint", str(requirements), line])
    commands.append(
        [*pip, "--no-deps", "--ignore-requires-python", "--requirement", str(requirements)]
    )
    return commands


def make(name: str, root: Path) -> Path:
    """Make the environment ``name`` in ``root`` unless it is there, and return its interpreter."""
    folder = root / name
    requirements = REQUIREMENTS / f"{name}.txt"
    python = python_of(folder)
    if is_ready(folder, requirements):
        return python
    print(f"making the environment {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    commands = [[sys.executable, "-m", "venv", str(folder)], *pip_commands(python, requirements)]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            words = done.stderr.strip().splitlines() or ["no message"]
            raise EnvironmentFailed(f"no environment: {words[-1]}")
    (folder / STAMP).write_text(digest(requirements))
    return python
