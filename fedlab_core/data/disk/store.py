"""Put data sets into the data folder, and check the files that are there.

Each file is checked and then written as a whole: after an interruption, the next command completes the set.
"""

import io
import os
import tarfile
from pathlib import Path
from typing import Any

from fedlab_core.data.disk.download import FetchFailed, download
from fedlab_core.data.disk.files import check, locate, search_roots
from fedlab_core.data.disk.sources import SOURCES, Member, Source
from fedlab_core.files import locked, replacing
from fedlab_core.validation import choice


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. An intact set stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder. Raises
    ``FetchFailed`` if no mirror delivers the set or the data folder cannot be written.
    """
    source, base = SOURCES[choice("name", name, SOURCES)], search_roots(root)[0]
    try:
        if present := _intact(source, base):
            return present
        with locked(base / f".{name}.lock"):
            if present := _intact(source, base):  # another process has written it meanwhile
                return present
            folder = base / source.folders[0]
            for member in [source.archive] if source.archive else source.members:
                if check(folder / member.name, member) != "ok":
                    data = download(source.mirrors, member, source.packing, progress=progress)
                    for file, content in _unpacked(source, member, data).items():
                        with replacing(folder / file) as written:
                            written.write(content)
            return folder
    except FetchFailed:
        raise
    except OSError as error:
        raise FetchFailed(f"{base} cannot be written ({error}). Name another data folder with --root.") from error


def verify(name: str, root: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Check every file of the set ``name``: path, or name if it is missing → state (:func:`files.check`)."""
    source = SOURCES[choice("name", name, SOURCES)]
    location = locate(source, search_roots(root))
    files, members = (location.files, location.members) if location else ({}, source.members)
    return {str(files.get(one.name, one.name)): check(files.get(one.name), one) for one in members}


def _intact(source: Source, root: Path) -> Path | None:
    """Return the folder of the set below ``root`` if each of its files is intact."""
    location = locate(source, [root])
    intact = location and all(check(location.files.get(m.name), m) == "ok" for m in location.members)
    return location.folder if location and intact else None


def _unpacked(source: Source, member: Member, data: bytes) -> dict[str, bytes]:
    """The files in ``data``, the content of ``member``, by name."""
    if member != source.archive:
        return {member.name: data}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        packed: dict[str, Any] = {Path(one.name).name: tar.extractfile(one) for one in tar}
        return {one.name: packed[one.name].read() for one in source.members}
