"""One-file archives of JSON and arrays, written atomically. No pickles: loading cannot execute anything."""

import json
import os
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

Arrays = Mapping[str, np.ndarray | torch.Tensor]


def write(path: str | Path, meta: Mapping[str, Any], arrays: Arrays) -> None:
    """Write ``meta`` (JSON) and named ``arrays`` to ``path`` (.npz): the old file stays until the new one is whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    named = {
        name: np.asarray(array.cpu() if isinstance(array, torch.Tensor) else array) for name, array in arrays.items()
    }
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            np.savez(file, allow_pickle=False, __meta__=text, **named)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The ``meta`` and the arrays of a file of that ``kind``; ``ValueError`` if it is another or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(arrays.pop("__meta__").tobytes())
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError) as error:
        raise ValueError(f"{path} is not a {kind} file of this library, or it is damaged: {error}") from error
    if meta.get("kind") != kind:
        raise ValueError(f"{path} holds a {meta.get('kind')!r}, not a {kind!r}")
    return meta, arrays
