"""The command ``fedconform environment``: make all that an adapter needs.

An adapter says it in its file, in literals, so that nothing has to be imported to read them:
``REQUIRES``, the packages for pip; ``SOURCE``, "repository @ commit" of code that is no package;
``ON_PATH``, the folders of that repository that Python must find.
"""

import argparse
import ast
import os
import shlex
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from fedconform.declared import path_of

NAME = "environment"


@dataclass(frozen=True)
class Needs:
    """What an adapter needs: ``requires`` for pip, a repository ``source`` at ``commit``, and the
    folders ``on_path`` of it.
    """

    requires: tuple[str, ...] = ()
    source: str = ""
    commit: str = ""
    on_path: tuple[str, ...] = ()
    working: bool = False  # the repository must be the working directory


def needs_of(path: Path) -> Needs:
    """The needs that the file of an adapter names. Raises ``ValueError`` if it names none."""
    values = dict[str, object]()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("REQUIRES", "SOURCE", "ON_PATH", "WORKING"):
                values[name] = ast.literal_eval(node.value)
    if "REQUIRES" not in values:
        raise ValueError(f"{path}: has no REQUIRES, the list of packages that it needs")
    source, _, commit = str(values.get("SOURCE", "")).partition(" @ ")
    return Needs(
        _texts(values["REQUIRES"]),
        source,
        commit,
        _texts(values.get("ON_PATH", ())),
        bool(values.get("WORKING")),
    )


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{value!r}: must be a list of texts")
    return tuple(str(text) for text in value)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to ``parser`` and set ``run``."""
    parser.description = "Make a virtual environment with all that an adapter needs."
    parser.add_argument("adapter", metavar="ADAPTER", help="its file, or its name if it is shipped")
    parser.add_argument(
        "--folder", type=Path, metavar="FOLDER", help="where (default: build/environments/NAME)"
    )
    parser.add_argument("--show", action="store_true", help="show the commands, and run none")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    adapter = path_of(arguments.adapter)
    needs = needs_of(adapter)
    folder = arguments.folder or Path("build") / "environments" / adapter.stem
    folder = folder.resolve()
    for command in commands(needs, folder):
        print(shlex.join(command), flush=True)
        if not arguments.show and subprocess.run(command).returncode:
            print(f"error: this command failed: {shlex.join(command)}", file=sys.stderr)
            return 1
    print("\nNow run:\n" + check_command(needs, folder, adapter.resolve()))
    return 0


def python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def own_requirement() -> str:
    """This package for pip: its source if it runs from there, else its version."""
    source = Path(__file__).parents[1]
    if (source / "pyproject.toml").is_file():
        return str(source)
    from fedconform import __version__

    return f"fedconform=={__version__}"


def commands(needs: Needs, folder: Path) -> list[list[str]]:
    """The commands that make the environment in ``folder``."""
    python = str(python_of(folder))
    made = [
        [sys.executable, "-m", venv.__name__, str(folder)],
        [python, "-m", "pip", "install", own_requirement(), *needs.requires],
    ]
    if needs.source:
        clone = str(folder / "source")
        made += [
            ["git", "clone", "--quiet", needs.source, clone],
            ["git", "-C", clone, "checkout", "--quiet", needs.commit],
        ]
    return made


def check_command(needs: Needs, folder: Path, adapter: Path) -> str:
    """The command that checks in the environment."""
    source = folder / "source"
    paths = os.pathsep.join(str(source / one) for one in needs.on_path)
    start = f"cd {shlex.quote(str(source))} && " if needs.working else ""
    variable = f"PYTHONPATH={shlex.quote(paths)} " if paths else ""
    run = shlex.join([str(python_of(folder)), "-m", "fedconform", str(adapter)])
    return f"{start}{variable}{run}"
