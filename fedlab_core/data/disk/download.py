"""Download one file over HTTP from several mirrors, with a checksum."""

import http.client
import shutil
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from fedlab_core.data.disk.files import check
from fedlab_core.data.disk.sources import Member
from fedlab_core.files import replacing

ATTEMPTS = 3  # at each mirror
PAUSE = 1.0  # seconds between two rounds of attempts
TIMEOUT = 30.0  # seconds without a byte


class FetchFailed(OSError):
    """A data set could not be fetched or imported."""


def download(mirrors: Sequence[str], target: Path, member: Member, *, progress: bool = True) -> None:
    """Write the published file of ``member`` to ``target``, from the first of ``mirrors`` that delivers it.

    A whole file that is there already is not downloaded again. Raises :class:`FetchFailed` if no mirror delivers it.
    """
    if check(target, member) == "ok":
        return
    failures = []
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * (attempt > 0))
        for url in (mirror + target.name for mirror in mirrors):
            try:
                request = urllib.request.Request(url, headers={"User-Agent": "fedlab_core"})
                with urllib.request.urlopen(request, timeout=TIMEOUT) as response, replacing(target) as file:
                    look = {"total": response.length, "desc": target.name, "disable": None if progress else True}
                    with tqdm.wrapattr(file, "write", **look) as counted:
                        shutil.copyfileobj(response, counted)
                if (state := check(target, member)) == "ok":
                    return
                target.unlink()
                failures.append(f"{url}: {state}")
            except (OSError, http.client.HTTPException) as error:
                failures.append(f"{url}: {error or type(error).__name__}")
    raise FetchFailed(
        f"{target.name} could not be downloaded. Tried: {'; '.join(dict.fromkeys(failures))}. Try again later, or "
        "import files that you already have with --from FOLDER."
    )
