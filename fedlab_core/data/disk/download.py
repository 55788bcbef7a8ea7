"""Download one file over HTTP from several mirrors, with a checksum."""

import gzip
import http.client
import io
import shutil
import urllib.request
import zlib
from collections.abc import Sequence

from tqdm import tqdm

from fedlab_core.data.disk.files import md5_of
from fedlab_core.data.disk.sources import Member

TIMEOUT = 30.0  # seconds without a byte


class FetchFailed(OSError):
    """A data set could not be fetched."""


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
