"""Put data sets into the data folder, and check what is there.

A set is first made complete, and every file of it checked, in a hidden folder beside its place; then it is moved there.
What a broken download has left is kept in ``.NAME.partial`` in the data folder, where the next fetch goes on from it.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fedlab_core.data.disk.download import FetchFailed, WrongChecksum, download
from fedlab_core.data.disk.files import (
    DatasetCorrupt,
    Location,
    cache_folder,
    check,
    forms,
    locate,
    look_in,
    search_roots,
)
from fedlab_core.data.disk.sources import Source, find_source
from fedlab_core.data.disk.unpack import unpack


@dataclass(frozen=True)
class FileReport:
    """The state of one file: ``"ok"``, ``"missing"``, ``"wrong checksum"`` or what is wrong with it."""

    name: str
    path: Path | None
    state: str


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. A set that is intact stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder.
    Raises ``FetchFailed`` if no mirror delivers it or the data folder cannot be written, ``ValueError`` for an unknown
    name, ``ImportError`` without torchvision, which knows the mirrors.
    """
    return fetch_source(find_source(name), search_roots(root)[0], progress=progress)


def import_from(name: str, folder: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Path:
    """Copy the set ``name`` from ``folder``, where a person already has it, and return its new folder.

    ``folder`` may hold the files themselves, plain or as ``.gz`` or ``.xz``, or the folder they usually lie in, or the
    published archive. Every file must have the right checksum. ``root`` and errors as for :func:`fetch`.
    """
    return import_source(find_source(name), Path(folder).expanduser(), search_roots(root)[0])


def verify(name: str, root: str | os.PathLike[str] | None = None) -> list[FileReport]:
    """Check every file of the set ``name`` against its size and checksum. ``root`` as for ``load_dataset``."""
    source = find_source(name)
    return _report(source, locate(source, search_roots(root)))


def intact(source: Source, location: Location | None) -> bool:
    """Whether every file of ``source`` is there and has the right checksum."""
    return all(report.state == "ok" for report in _report(source, location))


def fetch_source(source: Source, root: Path, *, progress: bool = True) -> Path:
    """:func:`fetch` for any :class:`Source`."""
    present = locate(source, [root])
    if present is not None and intact(source, present):
        return present.folder
    partial = root / f".{source.name}.partial"
    with _writing_below(root):
        try:
            for item in source.downloads():
                download(item.urls, partial / item.filename, item.md5, progress=progress)
            folder = _install(source, partial, root)
        except (WrongChecksum, DatasetCorrupt):
            shutil.rmtree(partial, ignore_errors=True)
            raise
        except FetchFailed as error:
            kept = f"What did arrive is kept in {partial}; the same command goes on from there."
            raise FetchFailed(
                f"{error} {kept if partial.exists() else 'Nothing was written.'} Files that you have already can be "
                f"imported with `python data_scripts/fetch.py {source.name} --from FOLDER`."
            ) from error
        shutil.rmtree(partial)
    return folder


def import_source(source: Source, folder: Path, root: Path) -> Path:
    """:func:`import_from` for any :class:`Source`."""
    if not folder.is_dir():
        raise FetchFailed(f"{folder} is not a folder.")
    present = locate(source, [root])
    if present is not None and intact(source, present):
        return present.folder
    with _writing_below(root):
        return _install(source, folder, root)


def _report(source: Source, location: Location | None) -> list[FileReport]:
    files = location.files if location else {}
    return [
        FileReport(member.name, files.get(member.name), check(files.get(member.name), member))
        for member in source.members
    ]


def _install(source: Source, folder: Path, root: Path) -> Path:
    """Copy the set from ``folder`` into a hidden folder, check it there, and move it to its place below ``root``."""
    given = look_in(folder, source)
    if given.missing:
        given = locate(source, [folder]) or given
    archive = folder / source.archive if source.archive else None
    if given.missing and (archive is None or not archive.is_file()):
        raise FetchFailed(_not_recognised(source, folder, given))
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{source.name}.", dir=root) as hidden:
        ready = Path(hidden) / "set"
        ready.mkdir()
        if given.missing and archive is not None:
            unpack(archive, ready, [member.name for member in source.members])
        else:
            for path in given.files.values():
                shutil.copyfile(path, ready / path.name)
        bad = [report for report in _report(source, look_in(ready, source)) if report.state != "ok"]
        if bad:
            states = "; ".join(f"{report.name}: {report.state}" for report in bad)
            raise WrongChecksum(f"{folder} does not hold {source.name} as published ({states}). Nothing was written.")
        return _move_into_place(source, ready, root / source.folders[0])


def _move_into_place(source: Source, ready: Path, target: Path) -> Path:
    """One rename if the place is free. Otherwise file by file, so that what else a person keeps there stays."""
    if not target.exists():
        ready.rename(target)
        return target
    for member in source.members:
        new = look_in(ready, source).files[member.name]
        os.replace(new, target / new.name)
        for form in forms(member):
            if form != new.name:
                (target / form).unlink(missing_ok=True)  # the damaged copy in another form
    return target


@contextmanager
def _writing_below(root: Path) -> Iterator[None]:
    """Turn "may not write here" into plain words, and remove the folders that were made for nothing."""
    absent = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise FetchFailed(
                f"{error.filename or root}: {error.strerror}. If the data folder {root} cannot be written, name "
                f"another with --root; the user cache folder {cache_folder()} is always searched."
            ) from error
        raise
    finally:
        for folder in absent:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _not_recognised(source: Source, folder: Path, given: Location) -> str:
    archive = f", or the archive {source.archive}" if source.archive else ""
    names = ", ".join(member.name for member in source.members)
    found = f"only {', '.join(given.files)}" if given.files else "none of its files"
    return (
        f"{folder} holds {found} of {source.name}. Needed are {names}, each plain or as .gz or .xz{archive}. "
        "Pickled files are never opened. Nothing was written."
    )
