"""Find the files of a data set on disk and check them. Nothing here writes."""

import gzip
import hashlib
import itertools
import lzma
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from fedlab_core.data.disk.sources import Member, Source

_OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".xz": lzma.open}


class DatasetCorrupt(OSError):
    """A file of a data set has wrong content."""


class Location(NamedTuple):
    """The ``files`` of a data set that are in ``folder``, and the names of those that are ``missing`` there."""

    folder: Path
    files: dict[Member, Path]
    missing: list[str]


def cache_folder() -> Path:
    return user_cache_path("fedlab_core")


def search_roots(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the data folders to search: ``root`` if given, otherwise ``$FEDLAB_DATA`` (if set) and the user cache.

    New files go into the first folder.
    """
    if root is not None:
        return [Path(root).expanduser()]
    named = os.environ.get("FEDLAB_DATA")
    return [Path(named).expanduser(), cache_folder()] if named else [cache_folder()]


def locate(source: Source, roots: Iterable[Path]) -> Location:
    """Return the first complete copy of ``source`` below ``roots``, otherwise the first incomplete or empty place."""
    places, forms = [], [source.members, source.subset] if source.subset else [source.members]
    for root, folder, members in itertools.product(roots, source.folders, forms):
        paths = {member: _packed(root / folder / member.name) for member in members}
        files = {member: path for member, path in paths.items() if path}
        places.append(Location(root / folder, files, [member.name for member, path in paths.items() if not path]))
    return min(places, key=lambda place: (not place.files, bool(place.missing)))


def _packed(path: Path) -> Path | None:
    """The file ``path``, plain or packed, if there is one."""
    paths = (path.with_name(path.name + suffix) for suffix in _OPENERS)
    return next(filter(Path.is_file, paths), None)


def content(path: Path, member: Member) -> bytes:
    """Return the uncompressed bytes of ``path``.

    Raises :class:`DatasetCorrupt` if the file cannot be read or unpacked, or if its size is not that of ``member``.
    """
    opener = open if path.name == member.name else _OPENERS[path.suffix]
    try:
        with opener(path, "rb") as file:
            data: bytes = file.read(member.size + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DatasetCorrupt(f"{path}: cannot be read ({error})") from error
    if len(data) != member.size:
        size = f"more than {member.size}" if len(data) > member.size else f"only {len(data)}"
        raise DatasetCorrupt(f"{path}: must hold {member.size} bytes once unpacked, but holds {size}")
    return data


def check(path: Path, member: Member) -> str:
    """Return ``"ok"``, ``"wrong checksum"``, or the error of :func:`content`."""
    try:
        return "ok" if md5_of(content(path, member)) == member.md5 else "wrong checksum"
    except DatasetCorrupt as error:
        return str(error).removeprefix(f"{path}: ")


def md5_of(data: bytes) -> str:
    """Compute the MD5 sum in hexadecimal. It detects damage, not forgery."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
