"""Reads the Dockerfile, and carries it out without Docker: in a bare Debian below a folder, entered with chroot.

``FROM python:3.11-slim-bookworm`` is Debian bookworm from debootstrap, with Python at /usr/local as it is there.
Everything that is started lives in namespaces of its own, so that nothing of it runs on afterwards. It takes root on
Linux.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
BUNDLE = Path("etc/ssl/certs/ca-certificates.crt")
OUTSIDE = ("debootstrap", "chroot", "unshare", "ip", "mount")


@dataclass(frozen=True)
class Instruction:
    """One instruction: its keyword, and the rest in one line."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The rest as words; a JSON list is one, too."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)


def read(path: Path) -> list[Instruction]:
    """The instructions of a Dockerfile, in order."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = [line.strip().partition(" ") for line in joined.splitlines() if line.strip()]
    return [Instruction(name.upper(), text.strip()) for name, _, text in pairs]


def missing() -> str | None:
    """What this machine lacks to carry a Dockerfile out, or None."""
    if os.name != "posix" or os.geteuid() != 0:
        return "needs root on Linux"
    absent = [name for name in OUTSIDE if shutil.which(name) is None]
    return f"no {', '.join(absent)}" if absent else None


@dataclass
class Image:
    """What a Dockerfile makes, below the folder ``root``."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def inside(self, path: str) -> Path:
        """Where a path of the image lies on this machine."""
        return self.root / os.path.normpath(os.path.join(self.folder, path)).lstrip("/")

    def run(self, *command: str, alone: bool = False, limit: float = 900, **variables: str) -> str:
        """The standard output of a command that must succeed; ``alone``: in a network that is only its own loopback."""
        given = [f"{name}={value}" for name, value in (self.environment | self.arguments | variables).items()]
        enter = ["chroot", f"--userspec={self.user}", str(self.root), "/usr/bin/env", "-i", "-C", self.folder, *given]
        steps = ["ip link set lo up"] if alone else []
        steps += [f"mount -t proc proc {shlex.quote(str(self.root / 'proc'))}"]
        steps += [f"mount -t tmpfs tmpfs {shlex.quote(str(self.root / 'dev/shm'))}"]
        steps += ["exec " + shlex.join([*enter, *command])]
        spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if alone else [])]
        result = subprocess.run(
            [*spaces, "sh", "-ec", "\n".join(steps)], capture_output=True, text=True, timeout=limit, errors="replace"
        )
        said = f"{shlex.join(command)}\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}"
        assert result.returncode == 0, said
        return result.stdout

    def start(self, *command: str, **options: str) -> str:
        """As ``docker run IMAGE COMMAND``."""
        return self.run(*self.entrypoint, *(command or self.command), **options)


def build(root: Path, dockerfile: Path, **arguments: str) -> Image:
    """Carry out every instruction, with build ``arguments`` in place of the defaults."""
    image = Image(root)
    context = dockerfile.parent
    for step in read(dockerfile):
        match step.name:
            case "FROM":
                base(image, step.text)
            case "ARG":
                name, _, default = step.words[0].partition("=")
                image.arguments[name] = arguments.get(name, default)
            case "ENV":
                image.environment |= dict(word.split("=", 1) for word in step.words)
            case "WORKDIR":
                image.folder = os.path.normpath(os.path.join(image.folder, step.text))
                image.inside(".").mkdir(parents=True, exist_ok=True)
            case "COPY":
                copy(image, context, step.words)
            case "RUN":
                image.run("/bin/sh", "-c", step.text)
            case "USER":
                image.user = f"{step.text}:{group_of(image.root, step.text)}"
            case "ENTRYPOINT":
                image.entrypoint = step.words
            case "CMD":
                image.command = step.words
            case "EXPOSE":
                pass
            case _:
                raise ValueError(f"{dockerfile}: no way to carry out {step.name}")
    image.arguments.clear()  # they hold while the image is built
    return image


def base(image: Image, name: str) -> None:
    """Debian with a Python at /usr/local, and with this machine's ways to its network."""
    match = re.fullmatch(r"python:(3\.\d+)-slim-(\w+)", name)
    assert match, f"FROM {name}"
    version, release = match.groups()
    wanted = "--include=python3,python3-venv,ca-certificates"
    bootstrap = ["unshare", "--mount", "debootstrap", "--variant=minbase", wanted, release, str(image.root)]
    subprocess.run(bootstrap, check=True, capture_output=True)
    for path in (Path("etc/resolv.conf"), Path("etc/hosts"), BUNDLE):
        if ("/" / path).is_file():
            shutil.copy("/" / path, image.root / path)
    image.run("/bin/sh", "-c", "python3 -m venv /usr/local")
    assert image.run("python", "--version").startswith(f"Python {version}.")


def copy(image: Image, context: Path, words: list[str]) -> None:
    """COPY: files under their names into a folder, or one file or the contents of one folder to a new name."""
    *sources, target = words
    for source in sources:
        place = image.inside(target)
        if (context / source).is_dir():
            shutil.copytree(context / source, place, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
            continue
        place = place / Path(source).name if target.endswith("/") else place
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(context / source, place)


def group_of(root: Path, user: str) -> str:
    """The group of a user by number."""
    fields = [line.split(":") for line in (root / "etc/passwd").read_text().splitlines()]
    return next(entry[3] for entry in fields if entry[2] == user)
