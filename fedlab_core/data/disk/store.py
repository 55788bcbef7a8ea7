"""Download data sets into the data folder, and check the files that are there.

torchvision downloads the image data sets, ``torch.hub`` the others. Here the files arrive in a
folder of their own, are checked and then moved into place: a reader never sees half a file, and
after an interruption the next command goes on.
"""

import contextlib
import http.client
import io
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch

from fedlab_core.data.disk.files import Location, check, locate, record, search_roots, stamp
from fedlab_core.data.disk.sources import SOURCES, Source
from fedlab_core.data.disk.vision import import_torchvision
from fedlab_core.files import locked
from fedlab_core.progress import watched

TIMEOUT = 30.0  # seconds without a byte


class FetchFailed(OSError):
    """A data set could not be fetched."""


def fetch(name: str, root: str | os.PathLike[str] | None = None) -> Path:
    """Download the set ``name`` from its official mirrors and return its folder. An intact set
    stays as it is.

    ``root``: the data folder; by default ``$FEDLAB_DATA`` if set, otherwise the user cache folder.
    Raises ``FetchFailed`` if the set cannot be downloaded or the data folder cannot be written, and
    ``ImportError`` if torchvision is needed and is not installed.
    """
    source = SOURCES[name]
    base = search_roots(root)[0]
    try:
        if present := _intact(source, base):
            return present
        with locked(base / f".{name}.lock"):
            if present := _intact(source, base):  # another process has written it meanwhile
                return present
            return _fetch(source, base)
    except FetchFailed:
        raise
    except OSError as error:
        raise FetchFailed(
            f"{base} cannot be written ({error}). Name another data folder with --root."
        ) from error


def verify(name: str, root: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Check every file of the set ``name``: path, or name if it is missing → state
    (:func:`files.check`).
    """
    return _states(locate(SOURCES[name], search_roots(root)))


def _states(location: Location) -> dict[str, str]:
    states = {str(path): check(path, member) for member, path in location.files.items()}
    return states | dict.fromkeys(location.missing, "missing")


def _intact(source: Source, root: Path) -> Path | None:
    """Return the folder of the set below ``root`` if each of its files is intact."""
    location = locate(source, [root])
    return location.folder if set(_states(location).values()) == {"ok"} else None


def _fetch(source: Source, base: Path) -> Path:
    """Download the set into a hidden folder in ``base``, check the files, and move them into their
    own folder.
    """
    download = _downloader(source)  # first, so that nothing is written where torchvision is missing
    layout = source.layouts[0]
    staging = base / f".{source.name}.download"
    arrived = staging / layout.folders[0]
    folder = base / layout.folders[0]
    arrived.mkdir(parents=True, exist_ok=True)
    # torchvision would keep a file that an interruption left half unpacked
    for member in layout.members:
        (arrived / member.name).unlink(missing_ok=True)
    try:
        with _time_limit(), _progress_bars():
            download(staging)
    except (OSError, RuntimeError, http.client.HTTPException) as error:
        raise _failed(source, " ".join(str(error).split()) or type(error).__name__) from error
    states = {member.name: check(arrived / member.name, member) for member in layout.members}
    if set(states.values()) != {"ok"}:
        raise _failed(
            source, "; ".join(f"{name}: {state}" for name, state in states.items() if state != "ok")
        )
    folder.mkdir(parents=True, exist_ok=True)
    for member in layout.members:
        path = folder / member.name
        os.replace(arrived / member.name, path)
        record(path, member, stamp(path))
    shutil.rmtree(staging)
    return folder


def _downloader(source: Source) -> Callable[[Path], object]:
    """Return the function that downloads the set into the first layout below a folder."""
    if source.torchvision:
        dataset = getattr(import_torchvision().datasets, source.torchvision)
        return partial(dataset, download=True)
    layout = source.layouts[0]
    file = Path(layout.folders[0], layout.members[0].name)
    return lambda folder: torch.hub.download_url_to_file(source.url, str(folder / file))


def _progress_bars() -> contextlib.AbstractContextManager[object]:
    """Let the bars of the downloads pass in a terminal or a live notebook, and hide them
    elsewhere.
    """
    return contextlib.nullcontext() if watched() else contextlib.redirect_stderr(io.StringIO())


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Let every connection inside the block fail after TIMEOUT seconds without a byte."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _failed(source: Source, reason: str) -> FetchFailed:
    return FetchFailed(
        f"{source.name} could not be downloaded: {reason}. Run the same command again, which keeps "
        "the files that have arrived, or put files that you already have into the data folder."
    )
