"""Files: the atomic writer of the project, and archives of JSON and arrays that cannot execute code (no pickle)."""

import contextlib
import json
import os
import re
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar, get_type_hints

import numpy as np
import torch
from filelock import FileLock, Timeout

from fedlab_core.reproduce.description import digest
from fedlab_core.validation import matches

if sys.platform != "win32":
    import fcntl

FORMAT = 1
MOST_COMPRESSED = 2**28  # bytes: a small file must not fill the memory
T = TypeVar("T")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``. While another process holds it, say so on stderr and wait. The file stays."""
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
    """Open a new file that replaces ``path`` when the block ends; if the block fails, the old file stays.

    A link is followed. Temporary files that killed processes left for the same path are removed first.
    """
    target = destination(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    temporary, file = _create_beside(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":
                os.replace(temporary, target)  # still locked, so no other process removes it as a leftover
        if sys.platform == "win32":
            os.replace(temporary, target)  # Windows cannot move an open file
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # Windows opens no folders
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # the new name survives a crash of the machine
        finally:
            os.close(descriptor)


def destination(path: str | Path) -> Path:
    """Resolve the links in ``path``. Raises ``OSError`` if a folder or another special file is there."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{path} cannot be written: it is {'a folder' if target.is_dir() else 'not a regular file'}")
    return target


def remove_leftovers(path: str | Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote ``path``."""
    target = destination(path)
    pattern = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{32}")
    for file in target.parent.iterdir() if target.parent.is_dir() else ():
        if not pattern.fullmatch(file.name):
            continue
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                file.unlink()  # fails while a process has the file open
            else:
                with file.open("r+b") as found:
                    fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while a process writes the file
                    file.unlink()


def _create_beside(target: Path) -> tuple[Path, IO[bytes]]:
    """Create a temporary file in the same folder, locked until it is closed or its process ends."""
    while True:
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        file = temporary.open("xb")
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # on a file system without locks nothing is removed either
                fcntl.flock(file, fcntl.LOCK_EX)
        if temporary.exists():  # another process may have removed it before it was locked
            return temporary, file
        file.close()


def check_writable(path: str | Path) -> None:
    """Raise ``OSError`` unless ``path`` can be written now. Creates no file and no folder."""
    folder = destination(path).parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"{path} cannot be written: no file can be made in {folder} ({error.strerror})") from error


def write(path: str | Path, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray | torch.Tensor]) -> None:
    """Write ``meta`` (JSON) and named ``arrays`` to the archive ``path`` (.npz), atomically.

    Raises ``ValueError`` for a tensor of a dtype that NumPy does not have.
    """
    named: dict[str, Any] = {name: as_numpy(name, array) for name, array in arrays.items()}
    meta = {"format": FORMAT, **meta, "arrays": _describe(named)}
    text = json.dumps({**meta, "digest": digest(json.dumps(meta).encode())})
    with replacing(path) as file:
        np.savez(file, __meta__=np.frombuffer(text.encode(), dtype=np.uint8), **named)


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the ``meta`` and the arrays of an archive of that ``kind``.

    Raises ``ValueError`` if the file is of another kind, damaged, or written by a newer version.
    """
    with open(path, "rb") as file:
        with reading(path, kind):
            archive = zipfile.ZipFile(file)
            if (size := sum(one.file_size for one in archive.infolist() if one.compress_type)) > MOST_COMPRESSED:
                raise ValueError(f"its compressed arrays have {size:,} bytes; at most {MOST_COMPRESSED:,} are read")
            meta = json.loads(_array(archive, "__meta__.npy").tobytes())
            version = entry(meta, "format", int)
            if version < FORMAT:
                raise ValueError(f"its 'format' is {version}, not {FORMAT}")
        if version > FORMAT:
            raise ValueError(f"{path}: written by a newer version of this library (format {version}, not {FORMAT})")
        if meta.get("kind") != kind:
            raise ValueError(f"{path} holds a {meta.get('kind')!r}, not a {kind!r}")
        with reading(path, kind):
            if meta.pop("digest", None) != digest(json.dumps(meta).encode()):
                raise ValueError("its description was changed after it was written")
            return meta, _arrays(archive, entry(meta, "arrays", dict))


@contextlib.contextmanager
def reading(path: str | Path, kind: str) -> Iterator[None]:
    """Turn every error inside the block into a ``ValueError`` that names the file ``path``."""
    try:
        yield
    except Exception as error:
        about = f"{path} is not a {kind} file of this version of the library, or it is damaged"
        missing = " is missing" if isinstance(error, KeyError) else ""
        raise ValueError(f"{about}: {error}{missing}") from error


def entry(meta: Any, name: str, kind: Any) -> Any:
    """Get ``meta[name]``; ``ValueError`` unless ``meta`` is a dictionary that has it, of type ``kind``."""
    value = meta.get(name) if isinstance(meta, dict) else None
    if not matches(value, kind):
        raise ValueError(f"its {name!r} is {value!r:.80}, not of type {kind.__name__}")
    return value


def record(kind: type[T], row: Any) -> T:
    """Make the dataclass ``kind`` from a dictionary; ``ValueError`` unless names and types are exactly its fields."""
    kinds = get_type_hints(kind)
    values = {name: entry(row, name, kinds[name]) for name in kinds}
    if len(row) > len(values):
        raise ValueError(f"a {kind.__name__} has no {min(row.keys() - values.keys())!r}")
    return kind(**values)


def as_numpy(name: str, array: np.ndarray | torch.Tensor) -> np.ndarray:
    """Convert ``array`` for :func:`write`; ``ValueError`` for a dtype that NumPy does not have, such as bfloat16."""
    try:
        return array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: a tensor of {array.dtype} cannot be written: {error}") from error


def _describe(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    return {name: f"{array.dtype} {list(array.shape)}" for name, array in arrays.items()}


def _arrays(archive: zipfile.ZipFile, described: dict[str, Any]) -> dict[str, np.ndarray]:
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    if len(set(names)) < len(names):
        raise ValueError("it holds two arrays of one name")
    arrays = {name: _array(archive, f"{name}.npy") for name in names if name != "__meta__"}
    found = _describe(arrays)
    for name in [*described, *found]:
        one, other = found.get(name, "missing"), described.get(name, "missing")
        if one != other:
            raise ValueError(f"array {name!r} is {one}, but should be {other!s:.80}")
    return arrays


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(archive.NameToInfo[name]) as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
        if member.read(1):  # reading to the end verifies the checksum
            raise ValueError(f"{name} is longer than its header says")
        return array
