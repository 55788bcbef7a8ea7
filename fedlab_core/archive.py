"""One-file archives of JSON and arrays, written atomically. No pickles: loading cannot execute anything."""

import contextlib
import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np
import torch

from fedlab_core import atomic
from fedlab_core.arguments import matches
from fedlab_core.description import digest

FORMAT = 1
T = TypeVar("T")


def write(path: str | Path, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray | torch.Tensor]) -> None:
    """Write ``meta`` (JSON) and named ``arrays`` to ``path`` (.npz), as :func:`atomic.replacing` does.

    Raises ``ValueError`` for a tensor of a dtype that NumPy does not have.
    """
    named: dict[str, Any] = {name: as_numpy(name, array) for name, array in arrays.items()}
    meta = {"format": FORMAT, **meta, "arrays": _describe(named)}
    text = json.dumps({**meta, "digest": digest(json.dumps(meta).encode())})
    with atomic.replacing(path) as file:
        np.savez(file, __meta__=np.frombuffer(text.encode(), dtype=np.uint8), **named)


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The ``meta`` and the arrays of a file of that ``kind``; ``ValueError`` if it is another, damaged or too new."""
    with open(path, "rb") as file:
        with reading(path, kind):
            archive = zipfile.ZipFile(file)
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
                raise ValueError("its description is not as it was written")
            return meta, _arrays(archive, entry(meta, "arrays", dict))


@contextlib.contextmanager
def reading(path: str | Path, kind: str) -> Iterator[None]:
    """Whatever is wrong inside with what was read from ``path`` becomes a ``ValueError`` that names the file."""
    try:
        yield
    except Exception as error:
        about = f"{path} is not a {kind} file of this version of the library, or it is damaged"
        missing = " is missing" if isinstance(error, KeyError) else ""
        raise ValueError(f"{about}: {error}{missing}") from error


def entry(meta: Any, name: str, kind: Any) -> Any:
    """``meta[name]``; ``ValueError`` unless ``meta`` is a dictionary that has it, of that ``kind``."""
    value = meta.get(name) if isinstance(meta, dict) else None
    if not matches(value, kind):
        raise ValueError(f"its {name!r} is {value!r:.80}, not of type {kind.__name__}")
    return value


def record(kind: type[T], row: Any) -> T:
    """The dataclass ``kind`` from a dictionary; ``ValueError`` unless it has just its fields, of their types."""
    kinds = get_type_hints(kind)
    values = {name: entry(row, name, kinds[name]) for name in kinds}
    if len(row) > len(values):
        raise ValueError(f"a {kind.__name__} has no {min(row.keys() - values.keys())!r}")
    return kind(**values)


def as_numpy(name: str, array: np.ndarray | torch.Tensor) -> np.ndarray:
    """``array`` for :func:`write`; ``ValueError`` for a tensor that NumPy cannot hold, such as bfloat16."""
    try:
        return array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: a tensor of {array.dtype} cannot be written: {error}") from error


def check_writable(path: str | Path) -> None:
    """``OSError`` unless :func:`write` could write ``path`` now. Leaves nothing behind, not even a missing folder."""
    folder = atomic.destination(path).parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"{path} cannot be written: no file can be made in {folder} ({error.strerror})") from error


def _describe(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    return {name: f"{array.dtype} {list(array.shape)}" for name, array in arrays.items()}


def _arrays(archive: zipfile.ZipFile, described: dict[str, Any]) -> dict[str, np.ndarray]:
    """All arrays but the meta; ``ValueError`` unless they are those that it describes."""
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
            raise ValueError(f"{name} is longer than it says")
    return array
