"""Files of another kind, another version or another maker are refused in words; so is a model that
does not fit.
"""

import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.checkpoints import Checkpoint
from tests.core.test_checkpoints import simulation
from tests.support import blobs

KINDS = ("checkpoint", "history")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished run's checkpoint and its history."""
    paths = {kind: tmp_path_factory.mktemp("files") / f"{kind}.npz" for kind in KINDS}
    simulation(checkpoint=paths["checkpoint"]).run().save(paths["history"])
    return paths


@pytest.fixture(scope="module")
def loaders() -> dict[str, Callable[[Path], str]]:
    """Functions from a file to all that is read from it, as text; floats and arrays to the last
    bit.
    """
    config = simulation().history.config

    def history(path: Path) -> str:
        loaded = fl.History.load(path)
        return exactly([loaded.config, loaded.rows(), loaded.params, vars(loaded.clients)])

    return {"checkpoint": lambda path: exactly(Checkpoint(path).begin(config)), "history": history}


def exactly(value: Any) -> str:
    if isinstance(value, dict):
        return str({key: exactly(part) for key, part in value.items()})
    if isinstance(value, list):
        return str([exactly(part) for part in value])
    if isinstance(value, (torch.Tensor, np.ndarray)):
        array = np.asarray(value)
        return f"{array.dtype} {array.shape} {array.tobytes().hex()}"
    return exactly(list(value.stored())) if hasattr(value, "stored") else repr(value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_or_a_cut_is_refused_or_the_same(tmp_path, files, loaders, kind: str) -> None:
    whole = files[kind].read_bytes()
    rng = random.Random(0)
    path = tmp_path / "changed.npz"
    expected = loaders[kind](files[kind])
    different = 0
    changed = [whole[:length] for length in (0, 1, 21, 22, *rng.sample(range(len(whole)), 20))]
    for bit in rng.sample(range(8 * len(whole)), 150):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        changed.append(bytes(flipped))
    for content in changed:
        path.write_bytes(content)
        try:
            assert loaders[kind](path) == expected
        except ValueError as error:
            assert str(path) in str(error)
            different += 1
    assert different > 100


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_that_is_missing_is_named(tmp_path, files, loaders, kind: str) -> None:
    with np.load(files[kind]) as file:
        arrays = {name: file[name] for name in file.files if name != "params"}
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(
        ValueError, match=r"changed.npz is not a .* or it is damaged: 'params' is missing"
    ):
        loaders[kind](tmp_path / "changed.npz")


@pytest.mark.parametrize("text", [b"", b"null", b"{}", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_description_that_is_none_is_refused(tmp_path, text: bytes) -> None:
    path = tmp_path / "h.npz"
    np.savez(path, __meta__=np.frombuffer(text, dtype=np.uint8), params=np.zeros(3))
    with pytest.raises(ValueError, match=r"h.npz is not a history file"):
        fl.History.load(path)


def test_a_small_compressed_file_cannot_fill_the_memory(tmp_path) -> None:
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("__meta__.npy", "w") as member,
    ):
        for _ in range(300):
            member.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(
        ValueError, match=r"bomb.npz is not a history file .* compressed arrays have 314,572,800"
    ):
        fl.History.load(path)
    assert path.stat().st_size < 2**20 and tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_no_code_in_a_file_is_run(tmp_path) -> None:
    np.savez(tmp_path / "h.npz", params=np.array([print], dtype=object))
    with pytest.raises(ValueError, match=r"h.npz is not a history file .* allow_pickle=False"):
        fl.History.load(tmp_path / "h.npz")


def test_another_version_or_kind_is_named(tmp_path, files) -> None:
    newer = json.dumps({"format": 2, "kind": "of tomorrow"}).encode()
    np.savez(tmp_path / "new.npz", __meta__=np.frombuffer(newer, dtype=np.uint8))
    with pytest.raises(
        ValueError, match=r"new.npz: written by another version of this library \(format 2, not 1\)"
    ):
        fl.History.load(tmp_path / "new.npz")
    with pytest.raises(ValueError, match=r"checkpoint.npz holds a 'checkpoint', not a 'history'"):
        fl.History.load(files["checkpoint"])


@pytest.mark.parametrize(
    ("hidden", "dtype", "words"),
    [
        (
            5,
            torch.float32,
            r"model: has 43 parameters of float32, but .*history.npz holds 51 of float32",
        ),
        (
            6,
            torch.float64,
            r"model: has 51 parameters of float64, but .*history.npz holds 51 of float32",
        ),
    ],
)
def test_a_model_that_does_not_take_all_parameters_is_refused(
    files, hidden: int, dtype, words: str
) -> None:
    fed = blobs((7, 12), dtype=dtype)
    with pytest.raises(ValueError, match=words):
        fl.History.load(files["history"], model=fl.models.mlp(fed, (hidden,)))
    with pytest.raises(ValueError, match="model=7: must be"):
        fl.History.load(files["history"], model=7)


def test_a_history_before_the_first_round_comes_back(tmp_path) -> None:
    simulation().history.save(tmp_path / "h.npz")
    loaded = fl.History.load(tmp_path / "h.npz")
    assert loaded.records == [] and loaded.params is None and loaded.clients is None
