"""The files of a data set on disk: where they are, what they hold, whether they are intact. Nothing here writes."""

import gzip
import hashlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from fedlab_core.data.disk.sources import MOST_BYTES, Member, Source

_OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".xz": lzma.open}
SUFFIXES = tuple(_OPENERS)
UNPUBLISHED = "readable, but no checksum is published"  # the best that can be said of such a file
INTACT = ("ok", UNPUBLISHED)


class DatasetCorrupt(OSError):
    """A file of a data set does not hold what it should."""


class Location(NamedTuple):
    """The files of a data set in ``folder``, by member name, and which of its ``members`` are missing."""

    folder: Path
    files: dict[str, Path]
    missing: tuple[str, ...]
    members: tuple[Member, ...]


def cache_folder() -> Path:
    """The user's cache folder, which is the data folder unless another is named."""
    return user_cache_path("fedlab_core")


def search_roots(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """The data folders to look in: ``root`` if given, otherwise ``$FEDLAB_DATA`` (if set), then the user cache folder.

    New files go into the first of them.
    """
    if root is not None:
        return [user_path("root", root)]
    named = os.environ.get("FEDLAB_DATA")
    return [user_path("FEDLAB_DATA", named), cache_folder()] if named else [cache_folder()]


def user_path(name: str, value: str | os.PathLike[str]) -> Path:
    """``value`` as a path, ``~`` being a home folder. Raises ``ValueError`` if there is no such home folder."""
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{name}={os.fspath(value)!r}: there is no home folder {Path(value).parts[0]}") from error


def locate(source: Source, roots: Iterable[Path]) -> Location | None:
    """The first complete copy of ``source`` below ``roots``; failing that, the first incomplete one; or None."""
    return _best(look_in(root / folder, source) for root in roots for folder in source.folders)


def look_in(folder: Path, source: Source) -> Location:
    """What ``folder`` itself holds of ``source``, plain or compressed (plain first), in its first complete form."""
    found = [_members_in(folder, members) for members in (source.members, *source.others)]
    return _best(found) or found[0]


def _best(found: Iterable[Location]) -> Location | None:
    begun = [location for location in found if location.files]
    return min(begun, key=lambda location: bool(location.missing), default=None)


def _members_in(folder: Path, members: tuple[Member, ...]) -> Location:
    files = {}
    for member in members:
        forms = [folder / (member.name + suffix) for suffix in SUFFIXES]
        if present := [form for form in forms if form.is_file()]:
            files[member.name] = present[0]
    return Location(folder, files, tuple(member.name for member in members if member.name not in files), members)


def content(path: Path, member: Member) -> bytes:
    """The uncompressed bytes of ``path``, which must be as many as ``member`` has, if that is known.

    Raises :class:`DatasetCorrupt` if the file cannot be read or unpacked, or has another size.
    """
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as file:
            data: bytes = file.read(member.size + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DatasetCorrupt(f"{path}: cannot be read ({error})") from error
    if len(data) > member.size or len(data) < member.size != MOST_BYTES:
        size = f"more than {member.size}" if len(data) > member.size else f"only {len(data)}"
        limit = "at most " * (member.size == MOST_BYTES) + str(member.size)
        raise DatasetCorrupt(f"{path}: must hold {limit} bytes once unpacked, but holds {size}")
    return data


def check(path: Path | None, member: Member) -> str:
    """``"ok"``, ``"missing"``, ``"wrong checksum"``, ``UNPUBLISHED``, or what :func:`content` has against ``path``."""
    if path is None:
        return "missing"
    try:
        states = {"": UNPUBLISHED, md5_of(content(path, member)): "ok"}
        return states.get(member.md5, "wrong checksum")
    except DatasetCorrupt as error:
        return str(error).removeprefix(f"{path}: ")


def md5_of(data: bytes) -> str:
    """The MD5 sum in hexadecimal. It guards against damage, not against forgery."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
