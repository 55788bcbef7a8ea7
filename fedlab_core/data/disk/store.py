"""Put data sets into the data folder, and check the files that are there.

A set is completed and checked in the hidden folder ``.NAME.new`` and then moved to its place. After a broken download
the next fetch keeps the files that arrived there. One process at a time writes a set: it holds ``.NAME.lock``.
"""

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from fedlab_core.data.disk import files
from fedlab_core.data.disk.download import FetchFailed, download
from fedlab_core.data.disk.files import DatasetCorrupt, Location, look_in
from fedlab_core.data.disk.sources import SOURCES, Source
from fedlab_core.files import locked
from fedlab_core.validation import choice


class FileReport(NamedTuple):
    """The state of one file, in the words of :func:`~fedlab_core.data.disk.files.check`."""

    name: str
    path: Path | None
    state: str


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. An intact set stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder.
    Raises ``FetchFailed`` if no mirror delivers the set or the data folder cannot be written, ``ValueError`` for an
    unknown name.
    """
    source = SOURCES[choice("name", name, SOURCES)]
    get = partial(download, source.mirrors, progress=progress)
    members = [source.archive] if source.archive else source.members
    return _put(source, root, {m.name + source.packing: partial(get, member=m) for m in members})


def import_from(name: str, folder: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Path:
    """Copy the set ``name`` from ``folder`` into the data folder and return its new folder.

    ``folder`` holds the files themselves, plain or as ``.gz`` or ``.xz``, or their usual folder, or the published
    archive. Files with a published checksum must match it. ``root`` and errors as for :func:`fetch`.
    """
    source, given = SOURCES[choice("name", name, SOURCES)], files.user_path("folder", folder)
    forms = (source.members, *source.others, *([(source.archive,)] if source.archive else []))
    found = files.locate(source._replace(folders=(".", *source.folders), others=forms[1:]), [given])
    if found is None or found.missing:
        has = f"holds only {', '.join(found.files)}" if found else "holds none of its files"
        needed = "; or ".join(", ".join(member.name for member in form) for form in forms)
        raise FetchFailed(f"{given} {has}. The set {name} needs {needed}, each plain or as .gz or .xz.")
    return _put(source, root, {path.name: partial(shutil.copyfile, path) for path in found.files.values()})


def verify(name: str, root: str | os.PathLike[str] | None = None) -> list[FileReport]:
    """Check every file of the set ``name`` against its size and checksum. ``root`` as for ``load_dataset``."""
    source = SOURCES[choice("name", name, SOURCES)]
    return _report(source, files.locate(source, files.search_roots(root)))


def _report(source: Source, location: Location | None) -> list[FileReport]:
    found, members = (location.files, location.members) if location else ({}, source.members)
    return [FileReport(m.name, found.get(m.name), files.check(found.get(m.name), m)) for m in members]


def _intact(source: Source, root: Path) -> Path | None:
    """Return the folder of the set below ``root`` if each of its files is intact."""
    location = files.locate(source, [root])
    return location.folder if location and all(one.state in files.INTACT for one in _report(source, location)) else None


def _put(source: Source, given: str | os.PathLike[str] | None, writers: Mapping[str, Callable[[Path], Any]]) -> Path:
    """Let ``writers`` (by file name) write the set into the work folder, and make it a folder of the data folder.

    If the set is there and intact, nothing is written, so that the data folder may be read-only.
    """
    root = files.search_roots(given)[0]
    if present := _intact(source, root):
        return present
    try:
        with locked(root / f".{source.name}.lock"):
            if present := _intact(source, root):  # another process has written it meanwhile
                return present
            work = root / f".{source.name}.new"
            work.mkdir(exist_ok=True)
            for left in set(os.listdir(work)) - set(writers):
                (work / left).unlink()
            for name, write in writers.items():
                write(work / name)
            return _install(source, work, root / source.folders[0])
    except (FetchFailed, DatasetCorrupt):
        raise
    except OSError as error:
        raise FetchFailed(f"{root} cannot be written ({error}). Name another data folder with --root.") from error


def _install(source: Source, work: Path, target: Path) -> Path:
    """Unpack and check the files in ``work``, and make it the folder ``target``; a wrong set is deleted."""
    try:
        if source.archive and (archive := work / source.archive.name).is_file():
            _unpack(archive, source)
            archive.unlink()
        states = {report.name: report.state for report in _report(source, look_in(work, source))}
        if bad := [f"{name}: {state}" for name, state in states.items() if state not in files.INTACT]:
            raise FetchFailed(f"These are not the published files of {source.name}: {'; '.join(bad)}.")
        if not target.exists():
            return work.rename(target)
        for name, path in look_in(work, source).files.items():  # other files in the folder stay
            for suffix in files.SUFFIXES:
                (target / (name + suffix)).unlink(missing_ok=True)
            path.replace(target / path.name)
        return target
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _unpack(archive: Path, source: Source) -> None:
    """Write the members of ``source`` from a tar file into its folder, under their bare names, and nothing else.

    Members of another size are left out, so that no archive can do harm.
    """
    sizes = {member.name: member.size for member in source.members}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for packed in tar:
                name = PurePosixPath(packed.name).name
                if packed.size == sizes.get(name) and (stream := tar.extractfile(packed)):
                    with stream, (archive.parent / name).open("wb") as file:
                        shutil.copyfileobj(stream, file)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DatasetCorrupt(f"{archive}: cannot be unpacked ({error})") from error
