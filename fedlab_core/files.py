"""Files: the atomic writer, locks, and archives of JSON and arrays.

An archive cannot execute code: it has no pickle.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np
import torch
from filelock import FileLock, Timeout

from fedlab_core.aliases import Config, Given, Keywords

FORMAT = 1
LEFTOVER_SECONDS = 86_400
MOST_COMPRESSED = 2**28  # bytes: a small file must not fill the memory


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; wait while another process holds it. The file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        held = lock.acquire(timeout=0)
    except Timeout:
        print(f"waiting for another process that holds {path}", file=sys.stderr, flush=True)
        held = lock.acquire()
    with held:
        yield


def is_held(path: Path) -> bool:
    """Tell whether a process holds the lock file ``path``."""
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a new file that replaces ``path`` when the block ends; if the block fails, the old file
    stays.

    A link is followed. Temporary files for the same path that are a day old were left by killed
    processes: they go.
    """
    target = destination(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def destination(path: str | Path) -> Path:
    """Resolve the links in ``path``.

    Raises ``OSError`` if a folder or another special file is there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "not a regular file"
        raise OSError(f"{path} cannot be written: it is {kind}")
    return target


def _remove_leftovers(target: Path) -> None:
    pattern = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{32}")
    for file in target.parent.iterdir():
        if pattern.fullmatch(file.name):
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > LEFTOVER_SECONDS:
                    file.unlink()


def check_writable(path: str | Path) -> None:
    """Raise ``OSError`` unless ``path`` can be written now. Creates no file and no folder."""
    folder = destination(path).parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"{path} cannot be written: no file can be made in {folder} ({error.strerror})"
        ) from error


def write(path: str | Path, meta: Given, arrays: Mapping[str, np.ndarray | torch.Tensor]) -> None:
    """Write ``meta`` as JSON and the named ``arrays`` to the archive ``path`` (.npz), atomically.

    :func:`as_numpy` says which arrays can be written.
    """
    text = json.dumps({"format": FORMAT, **meta})
    entries: Keywords = {"__meta__": np.frombuffer(text.encode(), dtype=np.uint8)}
    for name, array in arrays.items():
        entries[name] = as_numpy(name, array)
    with replacing(path) as file:
        np.savez(file, **entries)


def read(path: str | Path, kind: str) -> tuple[Config, dict[str, np.ndarray]]:
    """Read the ``meta`` and the arrays of an archive of that ``kind``.

    Raises ``ValueError`` if the file is of another kind, damaged, or written by a newer version.
    """
    with open(path, "rb") as file, reading(path, kind):
        archive = np.load(file, allow_pickle=False)
        compressed = [entry for entry in archive.zip.infolist() if entry.compress_type]
        size = sum(entry.file_size for entry in compressed)
        if size > MOST_COMPRESSED:
            raise ValueError(
                f"its compressed arrays have {size:,} bytes; at most {MOST_COMPRESSED:,} are read"
            )
        arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(arrays.pop("__meta__").tobytes())
        version = meta["format"]
        kind_of_file = meta["kind"]
    if version != FORMAT:
        raise ValueError(
            f"{path}: written by another version of this library (format {version}, not {FORMAT})"
        )
    if kind_of_file != kind:
        raise ValueError(f"{path} holds a {kind_of_file!r}, not a {kind!r}")
    return meta, arrays


@contextlib.contextmanager
def reading(path: str | Path, kind: str) -> Iterator[None]:
    """Turn every error inside the block into a ``ValueError`` that names the file ``path``."""
    try:
        yield
    except Exception as error:
        about = f"{path} is not a {kind} file of this version of the library, or it is damaged"
        missing = " is missing" if isinstance(error, KeyError) else ""
        raise ValueError(f"{about}: {error}{missing}") from error


def as_numpy(name: str, array: np.ndarray | torch.Tensor) -> np.ndarray:
    """Convert ``array`` for :func:`write`.

    Raises ``ValueError`` for a dtype that NumPy does not have, such as bfloat16.
    """
    try:
        return array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: a tensor of {array.dtype} cannot be written: {error}") from error
