"""Find the files of a data set on disk, check them and unpack them. Nothing here writes into a data
folder.

A file is read for its checksum once. The user cache then holds a small record of it, and as long as
the size and the times of the file are those of its record, it counts as checked.
"""

import contextlib
import gzip
import hashlib
import itertools
import json
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


class Stamp(NamedTuple):
    """What changes with the content of a file: its size in bytes, and its times in nanoseconds.

    A program can set the time of the last modification. It cannot set ``changed``, where the system
    has this time.
    """

    size: int
    modified: int
    changed: int


class Location(NamedTuple):
    """The ``files`` of a data set that are in ``folder``, and the names of those that are
    ``missing`` there.
    """

    folder: Path
    files: dict[Member, Path]
    missing: list[str]


def cache_folder() -> Path:
    return user_cache_path("fedlab_core")


def search_roots(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the data folders to search: ``root`` if given, otherwise ``$FEDLAB_DATA`` (if set) and
    the user cache.

    New files go into the first folder.
    """
    if root is not None:
        return [Path(root).expanduser()]
    named = os.environ.get("FEDLAB_DATA")
    return [Path(named).expanduser(), cache_folder()] if named else [cache_folder()]


def locate(source: Source, roots: Iterable[Path]) -> Location:
    """Return the first complete copy of ``source`` below ``roots``, otherwise the first incomplete
    or empty place.
    """
    places = []
    for root, layout in itertools.product(roots, source.layouts):
        for folder in layout.folders:
            paths = {
                member: _present(root / folder / member.name, layout.packings)
                for member in layout.members
            }
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

    A file that has not changed since its last check is not checked again. The user cache keeps
    unpacked files. If it cannot be written, they are unpacked into a temporary folder. Raises
    :class:`DatasetCorrupt` if a file is damaged.
    """
    with tempfile.TemporaryDirectory() as temporary:
        yield [_plain(path, member, Path(temporary)) for member, path in location.files.items()]


def _plain(path: Path, member: Member, temporary: Path) -> Path:
    """The file ``path`` if it is plain, otherwise an unpacked copy in the user cache or in
    ``temporary``.
    """
    if path.name == member.name:
        _check_once(path, member)
        return path
    kept = cache_folder() / "unpacked" / member.md5
    plain = member._replace(name=kept.name)
    with contextlib.suppress(DatasetCorrupt):  # not unpacked yet, or damaged since
        _check_once(kept, plain)
        return kept
    data = content(path, member)
    try:
        with replacing(kept) as file:
            file.write(data)
        record(kept, plain, stamp(kept))
        return kept
    except OSError:
        unpacked = temporary / member.name
        unpacked.write_bytes(data)
        return unpacked


def _check_once(path: Path, member: Member) -> None:
    """Check a plain file, unless it has not changed since its last check. Raises as :func:`content`
    does.
    """
    try:
        before = stamp(path)  # a change while the file is read is found the next time
    except OSError as error:
        raise DatasetCorrupt(f"{path}: cannot be read ({error})") from error
    if not _is_recorded(path, member, before):
        content(path, member)
        record(path, member, before)


def stamp(path: Path) -> Stamp:
    """The present stamp of a file."""
    status = path.stat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def record(path: Path, member: Member, checked: Stamp) -> None:
    """Record in the user cache, if it can be written, that ``path`` was intact when it had the
    stamp ``checked``.
    """
    entry = _entry(path, member, checked)
    with contextlib.suppress(OSError), replacing(_record_path(path)) as file:
        file.write(json.dumps(entry).encode())


def _is_recorded(path: Path, member: Member, present: Stamp) -> bool:
    try:
        known = json.loads(_record_path(path).read_bytes())
    except (OSError, ValueError):
        return False
    return bool(known == _entry(path, member, present))


def _entry(path: Path, member: Member, checked: Stamp) -> dict[str, str | int]:
    return {"path": os.path.realpath(path), "md5": member.md5, **checked._asdict()}


def _record_path(path: Path) -> Path:
    """The record of a file: its name is a digest of the path."""
    digest = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()
    return cache_folder() / "checked" / f"{digest[:32]}.json"


def content(path: Path, member: Member) -> bytes:
    """Return the uncompressed bytes of ``path``.

    Raises :class:`DatasetCorrupt` if the file cannot be read or unpacked, or if its size or its MD5
    sum is not that of ``member``. The MD5 sum detects damage, not forgery.
    """
    opener = open if path.name == member.name else _OPENERS[path.suffix]
    try:
        with opener(path, "rb") as file:
            data: bytes = file.read(member.size + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DatasetCorrupt(f"{path}: cannot be read ({error})") from error
    if len(data) != member.size:
        size = f"more than {member.size}" if len(data) > member.size else f"only {len(data)}"
        raise DatasetCorrupt(
            f"{path}: must hold {member.size} bytes once unpacked, but holds {size}"
        )
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
