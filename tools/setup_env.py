"""Make the virtual environment .venv hold what the named extras need: ``python tools/setup_env.py course test``.

Does nothing if it already does. An environment that was left half made, that lost packages or whose interpreter is gone
is deleted and built again; one that is sound but was made for other requirements is brought up to date.
Standard library only: this file runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "fedlab-stamp.json"  # written last: its absence means half made
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST = (3, 11)

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


def main(extras: list[str]) -> int:
    """Set up ``.venv`` for ``extras`` and return the exit status."""
    try:
        check_interpreter()
        ensure(sorted(set(extras)))
    except SetupError as error:
        print("set-up: " + str(error), file=sys.stderr)
        return 1
    return 0


def check_interpreter() -> None:
    """Raise ``SetupError`` unless this interpreter is new enough and can make virtual environments."""
    if sys.version_info < OLDEST:
        found = "{}.{}".format(*sys.version_info)
        raise SetupError(
            f"Python 3.11 or newer is needed, {sys.executable} is {found}. Name another one: make PYTHON=python3.12 …"
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SetupError(
            f"{sys.executable} cannot make virtual environments: its module {error.name} is missing. "
            "On Debian and Ubuntu: apt install python3-venv"
        ) from error


def ensure(extras: list[str]) -> None:
    """Bring ``.venv`` into the state that ``extras`` ask for."""
    wanted = fingerprint()
    stamp = read_stamp()
    if VENV.exists() and not sound(stamp):
        print("set-up: .venv is incomplete, building it again", flush=True)
        shutil.rmtree(VENV)
        stamp = {}
    if stamp.get("fingerprint") == wanted and set(extras) <= set(stamp["extras"]):
        return
    extras = sorted({*extras, *stamp.get("extras", [])})
    if not VENV.exists():
        print("set-up: making .venv; this takes a few minutes the first time", flush=True)
        make_venv()
    install(extras)
    STAMP.write_text(json.dumps({"fingerprint": wanted, "extras": extras, "packages": packages()}, indent=1))


def fingerprint() -> str:
    """A digest of all that decides what belongs into the environment."""
    sources = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    parts = [source.read_bytes() for source in sources] + [str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_stamp() -> dict[str, Any]:
    """The stamp of a finished environment, or an empty one."""
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def sound(stamp: dict[str, Any]) -> bool:
    """True if the environment was finished and still has every package with which it was finished."""
    listed = packages() if stamp else None
    return listed is not None and set(stamp["packages"]) <= set(listed)


def packages() -> list[str] | None:
    """What is installed, as sorted ``name==version`` lines; None if the interpreter does not run."""
    try:
        result = subprocess.run([str(PYTHON), "-I", "-c", LIST_PACKAGES], capture_output=True, text=True)
    except OSError:
        return None
    return sorted(set(result.stdout.splitlines())) if result.returncode == 0 else None


def make_venv() -> None:
    """An empty ``.venv`` with pip."""
    call([sys.executable, "-m", "venv", str(VENV)])


def install(extras: list[str]) -> None:
    """Install the project, editable, with ``extras``. PyTorch comes first, so that nothing else chooses its build."""
    STAMP.unlink(missing_ok=True)
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split("\n") if "==" in line)
    print("set-up: installing " + ", ".join(["PyTorch", *extras]), flush=True)
    pip("torch==" + pins["torch"], "setuptools==" + pins["setuptools"])
    pip("--no-build-isolation", "--editable", f"{ROOT}[{','.join(extras)}]")


def pip(*arguments: str) -> None:
    """Run pip in the environment, held to constraints.txt."""
    common = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    extra = shlex.split(os.environ.get("PIP_ARGS", ""))
    call([*common, "--constraint", str(ROOT / "constraints.txt"), *extra, *arguments])


def call(command: list[str]) -> None:
    """Run ``command``; ``SetupError`` if it fails."""
    result = subprocess.run(command)
    if result.returncode:
        raise SetupError(f"this command failed (exit status {result.returncode}): {shlex.join(command)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
