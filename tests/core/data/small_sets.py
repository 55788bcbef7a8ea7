"""Small data sets in the layouts of the real ones, and a web server on this machine that publishes files."""

import gzip
import hashlib
import http.server
import io
import lzma
import struct
import tarfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.sources import SOURCES, Member, Source

PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
IDX_NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
ARCHIVE = "cifar-10-binary.tar.gz"
CIFAR_NAMES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def idx(array: np.ndarray) -> bytes:
    """The idx format: two zero bytes, the type (8 = unsigned byte), the number of axes, their lengths, the values."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def idx_arrays(train: int = 12, test: int = 5) -> list[np.ndarray]:
    """Train images and labels, test images and labels."""
    generator = np.random.default_rng(0)
    arrays = []
    for size in (train, test):
        arrays += [generator.integers(0, 256, (size, 28, 28)), generator.integers(0, 10, size)]
    return arrays


def idx_contents() -> dict[str, bytes]:
    return {name: idx(array) for name, array in zip(IDX_NAMES, idx_arrays(), strict=True)}


def cifar_contents(records: int = 3) -> dict[str, bytes]:
    generator = np.random.default_rng(1)
    contents = {}
    for name in CIFAR_NAMES:
        labels = generator.integers(0, 10, (records, 1))
        contents[name] = np.hstack([labels, generator.integers(0, 256, (records, 3072))]).astype(np.uint8).tobytes()
    return contents


def members_of(contents: dict[str, bytes]) -> tuple[Member, ...]:
    return tuple(Member(name, len(data), md5(data)) for name, data in contents.items())


def source(name: str, contents: dict[str, bytes], *mirrors: str, archive: bytes = b"") -> Source:
    """The set called ``name`` with other files: ``contents`` by member name. ``archive``: the published tar file."""
    packed = members_of({ARCHIVE: archive})[0] if SOURCES[name].archive else None
    return SOURCES[name]._replace(members=members_of(contents), mirrors=mirrors, archive=packed, subset=())


def fetch(given: Source, root: Path) -> Path:
    """Fetch ``given`` in the place of the set of the same name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOURCES, given.name, given)
        return store.fetch(given.name, root, progress=False)


def write(folder: Path, contents: dict[str, bytes], suffix: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / (name + suffix)).write_bytes(PACK[suffix](data))
    return folder


def tar_gz(contents: dict[str, bytes], prefix: str = "cifar-10-batches-bin/") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in contents.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below ``folder`` with what it holds (None for a folder)."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


class Mirror:
    """A web server on a free port. ``cuts[path]``: after how many bytes to drop the next answers, one after another."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = dict(files)
        self.cuts: dict[str, list[int]] = {}
        self.requests: list[str] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        mirror = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path[1:]
                mirror.requests.append(name)
                if name not in mirror.files:
                    return self.send_error(404)
                data = mirror.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: mirror.cuts[name].pop(0) if mirror.cuts.get(name) else len(data)])

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
