"""Put data sets into the data folder, and check what is there.

A set is first made complete, and every file of it checked, in the hidden folder ``.NAME.new``; then it is moved to its
place. What a broken download has left is kept in ``.NAME.partial``, where the next fetch goes on from it. One process
at a time writes a set: it holds ``.NAME.lock``. All three lie in the data folder and go when the set is there; what a
killed process leaves of them, the next one takes over.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fedlab_core.data.disk import files
from fedlab_core.data.disk.download import FetchFailed, WrongChecksum, download
from fedlab_core.data.disk.files import DatasetCorrupt, Location, locate, look_in, search_roots
from fedlab_core.data.disk.lock import locked
from fedlab_core.data.disk.sources import Source, find_source
from fedlab_core.data.disk.unpack import unpack

_NOT_HERE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


class FileReport(NamedTuple):
    """The state of one file: ``"ok"``, ``"missing"``, ``"wrong checksum"`` or what else there is to say of it."""

    name: str
    path: Path | None
    state: str


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. A set that is intact stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder.
    Raises ``FetchFailed`` if no mirror delivers it or the data folder cannot be written, ``ValueError`` for an unknown
    name, ``ImportError`` without torchvision, which knows the mirrors.
    """
    source, target = find_source(name), search_roots(root)[0]
    with _writing(source, target) as present:
        return present or _fetch(source, target, progress)


def import_from(name: str, folder: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Path:
    """Copy the set ``name`` from ``folder``, where a person already has it, and return its new folder.

    ``folder`` may hold the files themselves, plain or as ``.gz`` or ``.xz``, or the folder they usually lie in, or the
    published archive. What checksums are published, the files must have. ``root`` and errors as for :func:`fetch`.
    """
    source, given, target = find_source(name), files.user_path("folder", folder), search_roots(root)[0]
    if not given.is_dir():
        raise FetchFailed(f"{given} is not a folder.")
    with _writing(source, target) as present:
        return present or _install(source, given, target)


def verify(name: str, root: str | os.PathLike[str] | None = None) -> list[FileReport]:
    """Check every file of the set ``name`` against its size and checksum. ``root`` as for ``load_dataset``."""
    source = find_source(name)
    return _report(source, locate(source, search_roots(root)))


def _report(source: Source, location: Location | None) -> list[FileReport]:
    found, members = (location.files, location.members) if location else ({}, source.members)
    return [FileReport(m.name, found.get(m.name), files.check(found.get(m.name), m)) for m in members]


def _intact(source: Source, root: Path) -> Path | None:
    """The folder below ``root`` where every file of ``source`` is there and has the right checksum, or None."""
    present = locate(source, [root])
    if present is not None and all(report.state in files.INTACT for report in _report(source, present)):
        return present.folder
    return None


def _fetch(source: Source, root: Path, progress: bool) -> Path:
    partial = root / f".{source.name}.partial"
    try:
        for item in source.downloads():
            download(item.urls, partial / item.filename, item.md5, progress=progress)
        return _install(source, partial, root)
    except (WrongChecksum, DatasetCorrupt):
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except FetchFailed as error:
        kept = f"What did arrive is kept in {partial}; the same command goes on from there."
        raise FetchFailed(
            f"{error} {kept if partial.exists() else 'Nothing was written.'} Files that you have already can be "
            f"imported with `python -m fedlab_core data fetch {source.name} --from FOLDER`."
        ) from error


def _install(source: Source, folder: Path, root: Path) -> Path:
    """Copy the set from ``folder`` into a hidden folder, check it there, and move it to its place below ``root``."""
    given = look_in(folder, source)
    if given.missing:
        given = locate(source, [folder]) or given
    archive = folder / source.archive if source.archive else None
    if given.missing and (archive is None or not archive.is_file()):
        found = f"only {', '.join(given.files)}" if given.files else "none of its files"
        names = "; or ".join(", ".join(m.name for m in members) for members in (source.members, *source.others))
        packed = f", or the archive {source.archive}" if source.archive else ""
        raise FetchFailed(
            f"{folder} holds {found} of {source.name}. Needed are {names}, each plain or as .gz or .xz{packed}. "
            "Pickled files are never opened. Nothing was written."
        )
    ready = root / f".{source.name}.new"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir()
    try:
        if given.missing and archive is not None:
            unpack(archive, ready, [member.name for member in source.members])
        else:
            for path in given.files.values():
                shutil.copyfile(path, ready / path.name)
        bad = [report for report in _report(source, look_in(ready, source)) if report.state not in files.INTACT]
        if bad:
            states = "; ".join(f"{report.name}: {report.state}" for report in bad)
            raise WrongChecksum(f"{folder} does not hold {source.name} as published ({states}). Nothing was written.")
        return _move_into_place(source, ready, root / source.folders[0])
    finally:
        shutil.rmtree(ready, ignore_errors=True)


def _move_into_place(source: Source, ready: Path, target: Path) -> Path:
    """One rename if the place is free. Otherwise file by file, so that what else a person keeps there stays."""
    if not target.exists():
        ready.rename(target)
        return target
    for name, new in look_in(ready, source).files.items():
        os.replace(new, target / new.name)
        for suffix in files.SUFFIXES:
            if name + suffix != new.name:
                (target / (name + suffix)).unlink(missing_ok=True)  # the damaged copy in another form
    return target


@contextmanager
def _writing(source: Source, root: Path) -> Iterator[Path | None]:
    """Be the only process that writes ``source`` below ``root``; where an intact copy of it is, if there is one.

    Where all goes well, nothing hidden is left. A folder that may only be read is good enough for an intact set.
    """
    partial, new, lock = (root / f".{source.name}.{end}" for end in ("partial", "new", "lock"))
    present = _intact(source, root)
    left_over = any(path.exists() for path in (partial, new, lock)) and os.access(root, os.W_OK)
    if present is not None and not left_over:
        yield present
        return
    with _writing_below(root), locked(lock, f"{source.name} in {root}"):
        yield _intact(source, root)
        for folder in (partial, new):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writing_below(root: Path) -> Iterator[None]:
    """Turn "may not write here" into plain words, and remove the folders that were made for nothing."""
    absent = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        yield
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
        raise FetchFailed(
            f"{error.filename or root}: {error.strerror}. If the data folder {root} cannot be written or has no "
            f"file locks, name another with --root; the user cache folder {files.cache_folder()} is always searched."
        ) from error
    finally:
        for folder in absent:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
