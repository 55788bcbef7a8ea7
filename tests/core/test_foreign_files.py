"""Files of another kind, another version or another maker are refused in words; so is a model that does not fit."""

import io
import shutil
import tracemalloc
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.core.archives import Counting, loaders, must_refuse, pack, unpack, write_files
from tests.core.test_checkpoints import simulation
from tests.support import blobs


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_files(tmp_path_factory.mktemp("files"))


def npy(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value, allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("text", [b"", b"null", b"7", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_description_that_is_none_is_refused(tmp_path, files, text: bytes) -> None:
    arrays = unpack(files["history"])[1]
    path = tmp_path / "h.npz"
    np.savez(path, __meta__=np.frombuffer(text, dtype=np.uint8), **arrays)
    with pytest.raises(ValueError, match=r"h.npz is not a history file"):
        fl.History.load(path)


@pytest.mark.parametrize("kind", ["checkpoint", "history"])
def test_members_that_do_not_belong_there_are_refused(tmp_path, files, kind: str) -> None:
    members = {
        "params.npy": npy(np.zeros(51, dtype=np.float32)),  # a second one
        "params": npy(np.zeros(51, dtype=np.float32)),
        "more.txt": b"text",
        "../../escape.npy": npy(np.zeros(2)),
        "object.npy": npy(np.array([print], dtype=object)),
    }
    for name, content in members.items():
        path = Path(shutil.copy(files[kind], tmp_path / "changed.npz"))
        with zipfile.ZipFile(path, "a") as file, pytest.warns() if name == "params.npy" else nullcontext():
            file.writestr(name, content)
        assert must_refuse(path, loaders()[kind]) is None, name
    assert [path.name for path in tmp_path.iterdir()] == ["changed.npz"]


@pytest.mark.parametrize("kind", ["checkpoint", "history"])
def test_an_array_that_goes_on_after_its_end_is_refused(tmp_path, files, kind: str) -> None:
    path = tmp_path / "changed.npz"
    with zipfile.ZipFile(files[kind]) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) + (b"more" if name == "params.npy" else b""))
    with pytest.raises(ValueError, match=r"changed.npz is not .* params.npy is longer than its header"):
        loaders()[kind](path)


def test_a_small_compressed_file_cannot_fill_the_memory(tmp_path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("__meta__.npy", "w") as member:
        for _ in range(300):
            member.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb.npz is not a history file .* compressed arrays have 314,572,800"):
        fl.History.load(path)
    assert path.stat().st_size < 2**20 and tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["checkpoint", "history"])
def test_a_newer_version_is_named_and_an_older_one_refused(tmp_path, files, kind: str) -> None:
    meta, arrays = unpack(files[kind])
    assert meta["format"] == 1
    newer = {"format": 2, "kind": "of tomorrow"}
    with pytest.raises(ValueError, match=r"new.npz: written by a newer version of this library \(format 2, not 1\)"):
        loaders()[kind](pack(tmp_path / "new.npz", newer, arrays))
    del meta["format"]
    with pytest.raises(ValueError, match=r"old.npz is not a .* its 'format' is None"):
        loaders()[kind](pack(tmp_path / "old.npz", meta, arrays))


def test_one_kind_is_not_taken_for_the_other(files) -> None:
    with pytest.raises(ValueError, match=r"checkpoint.npz holds a 'checkpoint', not a 'history'"):
        fl.History.load(files["checkpoint"])
    with pytest.raises(ValueError, match=r"history.npz holds a 'history', not a 'checkpoint'"):
        simulation(Counting(), checkpoint=files["history"])


def test_a_model_that_does_not_take_all_parameters_is_refused(files) -> None:
    for hidden, dtype, has in ((5, torch.float32, "43 parameters of float32"), (6, torch.float64, "51 .* of float64")):
        model = fl.models.mlp(blobs((7, 12), dtype=dtype), (hidden,))
        with pytest.raises(ValueError, match=rf"model: has {has}, but .*history.npz holds 51 of float32"):
            fl.History.load(files["history"], model=model)
    with pytest.raises(ValueError, match="model=7: must be"):
        fl.History.load(files["history"], model=7)
