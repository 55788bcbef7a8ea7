"""Find the files of a data set on disk, check them and unpack them. Nothing here writes into a data folder."""

import contextlib
import gzip
import hashlib
import itertools
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from fedlab_core.data.disk.sources import Member, Source
from fedlab_core.files import replacing

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
    places = []
    for root, layout in itertools.product(roots, source.layouts):
        for folder in layout.folders:
            paths = {member: _present(root / folder / member.name, layout.packings) for member in layout.members}
            files = {member: path for member, path in paths.items() if path}
            missing = [member.name for member, path in paths.items() if not path]
            places.append(Location(root / folder, files, missing))
    return min(places, key=lambda place: (not place.files, bool(place.missing)))


def _present(path: Path, packings: Iterable[str]) -> Path | None:
    """The file ``path`` with one of the suffixes ``packings``, if there is one."""
    paths = (path.with_name(path.name + suffix) for suffix in packings)
    return next(filter(Path.is_file, paths), None)


@contextlib.contextmanager
def plain_files(location: Location) -> Iterator[list[Path]]:
    """Yield the files of a data set, unpacked and checked, inside the block.

    The user cache keeps unpacked files. If it cannot be written, they are unpacked into a temporary folder.
    Raises :class:`DatasetCorrupt` if a file is damaged.
    """
    with tempfile.TemporaryDirectory() as temporary:
        yield [_plain(path, member, Path(temporary)) for member, path in location.files.items()]


def _plain(path: Path, member: Member, temporary: Path) -> Path:
    """The file ``path`` if it is plain, otherwise an unpacked copy in the user cache or in ``temporary``."""
    if path.name == member.name:
        content(path, member)
        return path
    kept = cache_folder() / "unpacked" / member.md5
    if check(kept, member._replace(name=kept.name)) == "ok":
        return kept
    data = content(path, member)
    try:
        with replacing(kept) as file:
            file.write(data)
        return kept
    except OSError:
        unpacked = temporary / member.name
        unpacked.write_bytes(data)
        return unpacked


def content(path: Path, member: Member) -> bytes:
    """Return the uncompressed bytes of ``path``.

    Raises :class:`DatasetCorrupt` if the file cannot be read or unpacked, or if its size or its MD5 sum is not that of
    ``member``. The MD5 sum detects damage, not forgery.
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
    if hashlib.md5(data, usedforsecurity=False).hexdigest() != member.md5:
        raise DatasetCorrupt(f"{path}: wrong checksum")
    return data


def check(path: Path, member: Member) -> str:
    """Return ``"ok"`` or the error of :func:`content`."""
    try:
        content(path, member)
    except DatasetCorrupt as error:
        return str(error).removeprefix(f"{path}: ")
    return "ok"
