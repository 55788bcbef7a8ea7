"""Download one file over HTTP: several mirrors, a checksum, and resumption where a connection broke off."""

import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from fedlab_core.data.disk.files import md5_of

ATTEMPTS = 3
PAUSE = 1.0  # seconds before the second attempt at a mirror; twice that before the third
TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 16
# What can go wrong on the way. Errors of the local disk are not among them: trying again would not help.
_NETWORK_ERRORS = (urllib.error.URLError, ConnectionError, TimeoutError, ssl.SSLError, http.client.HTTPException)


class FetchFailed(OSError):
    """A data set could not be fetched or imported."""


class WrongChecksum(FetchFailed):
    """What arrived is not the published file."""


def download(urls: Sequence[str], target: Path, md5: str, *, progress: bool = True) -> None:
    """Write the file with checksum ``md5`` to ``target``, from the first of ``urls`` that delivers it.

    What has arrived is kept in ``target`` + ".part", so that the next attempt, also in a later call, goes on from
    there; a file with the wrong checksum is deleted. Until a first byte arrives nothing is made, not even the folder.

    Raises :class:`WrongChecksum` if the last answer was another file, :class:`FetchFailed` if there was none.
    """
    part = target.with_name(target.name + ".part")
    if _complete(target, md5):
        return
    failures, wrong = [], False
    for url in urls:
        for attempt in range(ATTEMPTS):
            time.sleep(PAUSE * attempt)
            resumed = part.exists()
            try:
                _transfer(url, part, progress)
            except _NETWORK_ERRORS as error:
                failures.append(f"{url}: {error or type(error).__name__}")
                status = getattr(error, "code", 500)
                if status == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    _discard(part)  # longer than the file: start afresh
                elif status < 500:
                    break  # the server knows the answer, and it is no
                continue
            if _complete(part, md5):
                os.replace(part, target)
                return
            _discard(part)
            wrong = True
            failures.append(f"{url}: wrong checksum, discarded")
            if not resumed:
                break
    problem = WrongChecksum if wrong and not part.exists() else FetchFailed
    raise problem(f"{target.name} could not be downloaded. Tried: " + "; ".join(dict.fromkeys(failures)) + ".")


def _complete(path: Path, md5: str) -> bool:
    return path.is_file() and md5_of(path.read_bytes()) == md5


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    if not any(part.parent.iterdir()):
        part.parent.rmdir()


def _transfer(url: str, part: Path, progress: bool) -> None:
    """Append to ``part`` what it lacks of ``url``, or start afresh if the server cannot resume."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "fedlab_core"} | ({"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as response:
        start = have if response.status == http.HTTPStatus.PARTIAL_CONTENT else 0
        total = None if response.length is None else start + response.length
        chunk = response.read(_CHUNK)
        if not chunk:
            raise ConnectionError("the server sent nothing")
        part.parent.mkdir(parents=True, exist_ok=True)
        look = {"desc": part.stem, "unit": "B", "unit_scale": True, "disable": None if progress else True}
        with tqdm(total=total, initial=start, **look) as bar, part.open("ab" if start else "wb") as file:
            while chunk:
                file.write(chunk)
                bar.update(len(chunk))
                chunk = response.read(_CHUNK)
    arrived = part.stat().st_size
    if total is not None and arrived < total:
        raise ConnectionError(f"cut off after {arrived} of {total} bytes")
