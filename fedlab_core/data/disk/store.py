"""Put data sets into the data folder, and check the files that are there.

Each file is checked and then written as a whole, so an interrupted command leaves an incomplete set without damaged
files, and the next one completes it. One process at a time writes a set: it holds the lock ``.NAME.lock``.
"""

import io
import os
import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fedlab_core.data.disk.download import FetchFailed, download
from fedlab_core.data.disk.files import DatasetCorrupt, check, content, find, locate, md5_of, search_roots
from fedlab_core.data.disk.sources import SOURCES, Member, Source
from fedlab_core.files import locked, replacing
from fedlab_core.validation import choice


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. An intact set stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder.
    Raises ``FetchFailed`` if no mirror delivers the set or the data folder cannot be written, ``ValueError`` for an
    unknown name.
    """
    source = SOURCES[choice("name", name, SOURCES)]
    members = [source.archive] if source.archive else source.members
    get = partial(download, source.mirrors, packing=source.packing, progress=progress)
    return _put(source, root, {member: partial(get, member) for member in members})


def import_from(name: str, folder: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Path:
    """Copy the set ``name`` from ``folder`` into the data folder and return its new folder.

    ``folder`` holds the files themselves, plain or as ``.gz`` or ``.xz``, or their usual folder, or the published
    archive. ``root`` and errors as for :func:`fetch`.
    """
    source, given = SOURCES[choice("name", name, SOURCES)], Path(folder).expanduser()
    forms = [*source.forms, *([(source.archive,)] if source.archive else [])]
    found = find([given, *(given / usual for usual in source.folders)], forms)
    if found is None or found.missing:
        has = f"holds only {', '.join(found.files)}" if found else "holds none of its files"
        needed = "; or ".join(", ".join(member.name for member in form) for form in forms)
        raise FetchFailed(f"{given} {has}. The set {name} needs {needed}, each plain or as .gz or .xz.")
    return _put(source, root, {one: partial(content, found.files[one.name], one) for one in found.members})


def verify(name: str, root: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Check every file of the set ``name``: path, or name if it is missing → state (:func:`files.check`)."""
    source = SOURCES[choice("name", name, SOURCES)]
    location = locate(source, search_roots(root))
    files, members = (location.files, location.members) if location else ({}, source.members)
    return {str(files.get(one.name, one.name)): check(files.get(one.name), one) for one in members}


def _put(source: Source, given: str | os.PathLike[str] | None, contents: Mapping[Member, Callable[[], bytes]]) -> Path:
    """Write the set into its folder. If it is there and intact, write nothing, not even a lock."""
    root = search_roots(given)[0]
    try:
        if present := _intact(source, root):
            return present
        with locked(root / f".{source.name}.lock"):
            if present := _intact(source, root):  # another process has written it meanwhile
                return present
            folder = root / source.folders[0]
            for member, get in contents.items():
                if check(folder / member.name, member) == "ok":
                    continue
                for name, data in _published(source, member, get()).items():
                    with replacing(folder / name) as file:
                        file.write(data)
            return folder
    except (FetchFailed, DatasetCorrupt):
        raise
    except OSError as error:
        raise FetchFailed(f"{root} cannot be written ({error}). Name another data folder with --root.") from error


def _intact(source: Source, root: Path) -> Path | None:
    """Return the folder of the set below ``root`` if each of its files is intact."""
    location = locate(source, [root])
    intact = location and all(check(location.files.get(m.name), m) == "ok" for m in location.members)
    return location.folder if location and intact else None


def _published(source: Source, member: Member, data: bytes) -> dict[str, bytes]:
    """The files in ``data``, the content of ``member``, by name. ``FetchFailed`` for a wrong checksum."""
    if md5_of(data) != member.md5:
        raise FetchFailed(f"{member.name}: wrong checksum, so this is not the published file of {source.name}.")
    if member != source.archive:
        return {member.name: data}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        packed: dict[str, Any] = {Path(one.name).name: tar.extractfile(one) for one in tar}
        return {one.name: packed[one.name].read() for one in source.members}
