"""Find the files of a data set on disk and check them. Nothing here writes."""

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
UNPUBLISHED = "readable, but no checksum is published"
INTACT = ("ok", UNPUBLISHED)


class DatasetCorrupt(OSError):
    """A file of a data set has wrong content."""


class Location(NamedTuple):
    """The files of a data set in ``folder``, by member name, and the names of the ``members`` that are missing."""

    folder: Path
    files: dict[str, Path]
    missing: tuple[str, ...]
    members: tuple[Member, ...]


def cache_folder() -> Path:
    """Return the user's cache folder, the default data folder."""
    return user_cache_path("fedlab_core")


def search_roots(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the data folders to search: ``root`` if given, otherwise ``$FEDLAB_DATA`` (if set) and the user cache.

    New files go into the first folder.
    """
    if root is not None:
        return [user_path("root", root)]
    named = os.environ.get("FEDLAB_DATA")
    return [user_path("FEDLAB_DATA", named), cache_folder()] if named else [cache_folder()]


def user_path(name: str, value: str | os.PathLike[str]) -> Path:
    """Convert ``value`` to a path and expand ``~``. Raises ``ValueError`` if that home folder does not exist."""
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{name}={os.fspath(value)!r}: there is no home folder {Path(value).parts[0]}") from error


def locate(source: Source, roots: Iterable[Path]) -> Location | None:
    """Return the first complete copy of ``source`` below ``roots``, otherwise the first incomplete copy, or None."""
    found = [look_in(root / folder, source) for root in roots for folder in source.folders]
    return min((one for one in found if one.files), key=lambda one: bool(one.missing), default=None)


def look_in(folder: Path, source: Source) -> Location:
    """Find the members of ``source`` in ``folder`` itself, plain (preferred) or compressed, in any complete form."""
    locations = []
    for members in (source.members, *source.others):
        paths = {m.name: [folder / (m.name + suffix) for suffix in SUFFIXES] for m in members}
        files = {name: next(filter(Path.is_file, forms), None) for name, forms in paths.items()}
        found = {name: path for name, path in files.items() if path}
        locations.append(Location(folder, found, tuple(name for name in files if name not in found), members))
    return min(locations, key=lambda location: (not location.files, bool(location.missing)))


def content(path: Path, member: Member) -> bytes:
    """Return the uncompressed bytes of ``path``.

    Raises :class:`DatasetCorrupt` if the file cannot be read or unpacked, or if its size is not that of ``member``.
    """
    packed = path.suffix in SUFFIXES and not member.name.endswith(path.suffix)
    try:
        with (_OPENERS[path.suffix] if packed else open)(path, "rb") as file:
            data: bytes = file.read(member.size + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DatasetCorrupt(f"{path}: cannot be read ({error})") from error
    if len(data) > member.size or len(data) < member.size != MOST_BYTES:
        size = f"more than {member.size}" if len(data) > member.size else f"only {len(data)}"
        limit = "at most " * (member.size == MOST_BYTES) + str(member.size)
        raise DatasetCorrupt(f"{path}: must hold {limit} bytes once unpacked, but holds {size}")
    return data


def check(path: Path | None, member: Member) -> str:
    """Return ``"ok"``, ``"missing"``, ``"wrong checksum"``, ``UNPUBLISHED``, or the error of :func:`content`."""
    if path is None:
        return "missing"
    try:
        data = content(path, member)
    except DatasetCorrupt as error:
        return str(error).removeprefix(f"{path}: ")
    if not member.md5:
        return UNPUBLISHED
    return "ok" if md5_of(data) == member.md5 else "wrong checksum"


def md5_of(data: bytes) -> str:
    """Compute the MD5 sum in hexadecimal. It detects damage, not forgery."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
