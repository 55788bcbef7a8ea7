"""Download data sets into the data folder, and check the files that are there.

Each file is checked and then written as a whole: after an interruption, the next command completes the set.
"""

import gzip
import http.client
import io
import os
import shutil
import tarfile
import urllib.request
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from fedlab_core.data.disk.files import Location, check, locate, md5_of, search_roots
from fedlab_core.data.disk.sources import SOURCES, Member, Source
from fedlab_core.files import locked, replacing

TIMEOUT = 30.0  # seconds without a byte


class FetchFailed(OSError):
    """A data set could not be fetched."""


def fetch(name: str, root: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. An intact set stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder. Raises
    ``FetchFailed`` if no mirror delivers the set or the data folder cannot be written.
    """
    source, base = SOURCES[name], search_roots(root)[0]
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
    return _states(locate(SOURCES[name], search_roots(root)))


def _states(location: Location) -> dict[str, str]:
    states = {str(path): check(path, member) for member, path in location.files.items()}
    return states | dict.fromkeys(location.missing, "missing")


def _intact(source: Source, root: Path) -> Path | None:
    """Return the folder of the set below ``root`` if each of its files is intact."""
    location = locate(source, [root])
    return location.folder if set(_states(location).values()) == {"ok"} else None


def _unpacked(source: Source, member: Member, data: bytes) -> dict[str, bytes]:
    """The files in ``data``, the content of ``member``, by name."""
    if member != source.archive:
        return {member.name: data}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        packed: dict[str, Any] = {Path(one.name).name: tar.extractfile(one) for one in tar}
        return {one.name: packed[one.name].read() for one in source.members}


def download(mirrors: Sequence[str], member: Member, packing: str = "", *, progress: bool = True) -> bytes:
    """Return the content of ``member`` from the first of ``mirrors`` that delivers it, packed as ".gz" or plain.

    Raises :class:`FetchFailed` if no mirror delivers it.
    """
    failures = []
    for url in (mirror + member.name + packing for mirror in mirrors):
        try:
            data = _received(url, progress)
            data = gzip.decompress(data) if packing else data
            if md5_of(data) == member.md5:
                return data
            failures.append(f"{url}: wrong checksum of {len(data)} bytes")
        except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
            failures.append(f"{url}: {error or type(error).__name__}")
    raise FetchFailed(
        f"{member.name}{packing} could not be downloaded. Tried: {'; '.join(failures)}. Run the same command again, "
        "which keeps the files that have arrived, or put files that you already have into the data folder."
    )


def _received(url: str, progress: bool) -> bytes:
    request, data = urllib.request.Request(url, headers={"User-Agent": "fedlab_core"}), io.BytesIO()
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        look = {"total": response.length, "desc": url.rpartition("/")[2], "disable": None if progress else True}
        with tqdm.wrapattr(data, "write", **look) as counted:
            shutil.copyfileobj(response, counted)
    return data.getvalue()
