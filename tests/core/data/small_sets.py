"""Small data sets in the layouts of the real ones, and a web server on this machine that publishes
files.
"""

import contextlib
import gzip
import hashlib
import http.server
import io
import lzma
import pickle
import struct
import tarfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlab_core.data.disk.readers import CIFAR10_CLASSES
from fedlab_core.data.disk.sources import SOURCES, Member, Source
from fedlab_core.data.disk.vision import import_torchvision

PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
CIFAR_NAMES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def idx(array: np.ndarray) -> bytes:
    """The idx format: two zero bytes, the type (8 = unsigned byte), the number of axes, their
    lengths, the values.
    """
    return (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        + array.astype(np.uint8).tobytes()
    )


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
        contents[name] = (
            np.hstack([labels, generator.integers(0, 256, (records, 3072))])
            .astype(np.uint8)
            .tobytes()
        )
    return contents


def cifar_pickles() -> dict[str, bytes]:
    return as_pickles(cifar_contents())


def as_pickles(contents: dict[str, bytes]) -> dict[str, bytes]:
    """The images and labels of the binary layout of CIFAR-10,
    in the layout that torchvision reads.
    """
    pickles = {}
    for name, data in contents.items():
        records = np.frombuffer(data, np.uint8).reshape(-1, 3073)
        entry = {"labels": records[:, 0].tolist(), "data": records[:, 1:].copy()}
        pickles[name.removesuffix(".bin")] = pickle.dumps(entry, protocol=2)
    return pickles | {
        "batches.meta": pickle.dumps({"label_names": list(CIFAR10_CLASSES)}, protocol=2)
    }


def members_of(contents: dict[str, bytes]) -> tuple[Member, ...]:
    return tuple(Member(name, len(data), md5(data)) for name, data in contents.items())


def source(name: str, *contents: dict[str, bytes]) -> Source:
    """The set called ``name`` with other files: ``contents`` of each layout by file name."""
    layouts = zip(SOURCES[name].layouts, contents, strict=True)
    return SOURCES[name]._replace(
        layouts=tuple(layout._replace(members=members_of(files)) for layout, files in layouts)
    )


def small_sources() -> dict[str, Source]:
    """Small sets in the place of those that torchvision fetches."""
    return {
        "mnist": source("mnist", idx_contents()),
        "fashion-mnist": source("fashion-mnist", idx_contents()),
        "cifar10": source("cifar10", cifar_pickles(), cifar_contents()),
    }


def publish(patch: pytest.MonkeyPatch, url: str, packed: dict[str, bytes], archive: bytes) -> None:
    """Let torchvision fetch small sets from ``url``: the ``packed`` idx files, and the ``archive``
    of CIFAR-10.
    """
    datasets = import_torchvision().datasets
    patch.setattr(datasets.MNIST, "mirrors", [url])
    patch.setattr(datasets.MNIST, "resources", [(name, md5(data)) for name, data in packed.items()])
    expect_pickles(patch, cifar_pickles())
    patch.setattr(datasets.CIFAR10, "url", url + datasets.CIFAR10.filename)
    patch.setattr(datasets.CIFAR10, "tgz_md5", md5(archive))


def expect_pickles(patch: pytest.MonkeyPatch, pickles: dict[str, bytes]) -> None:
    """Let torchvision take ``pickles`` for the files of CIFAR-10."""
    cifar10 = import_torchvision().datasets.CIFAR10
    *train, test, meta = ([name, md5(data)] for name, data in pickles.items())
    patch.setattr(cifar10, "train_list", train)
    patch.setattr(cifar10, "test_list", [test])
    patch.setattr(cifar10, "meta", {"filename": meta[0], "key": "label_names", "md5": meta[1]})


def write(folder: Path, contents: dict[str, bytes], suffix: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / (name + suffix)).write_bytes(PACK[suffix](data))
    return folder


def tar_gz(contents: dict[str, bytes], prefix: str = "cifar-10-batches-py/") -> bytes:
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
    """A web server on a free port. ``cuts[path]``: after how many bytes to drop the next answers,
    one after another.
    """

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
                # torchvision asks twice and reads the second answer
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(
                        data[: mirror.cuts[name].pop(0) if mirror.cuts.get(name) else len(data)]
                    )

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
