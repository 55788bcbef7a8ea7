"""A file that is not as it was written is refused in words that name it, or holds the very same content."""

import copy
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.archives import OTHER, loaders, must_refuse, pack, refused_or_the_same, unpack, write_files

Change = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_files(tmp_path_factory.mktemp("files"))


def wrong_types(value: Any) -> list[Any]:
    """Of every kind of JSON value that ``value`` is not."""
    others = [None, True, 7, 1.5, "text", [], [None], {}, {"a": 1}]
    if isinstance(value, float):
        others.remove(7)
    return [other for other in others if type(other) is not type(value)]


def in_meta(meta: Any, path: tuple = ()) -> Iterator[tuple[str, Change]]:
    """Every entry at every depth taken away, of another type, or with something more in it."""
    entries = meta.items() if isinstance(meta, dict) else enumerate(meta[:2])
    for key, value in entries:
        here = (*path, key)
        if here[0] in ("versions", "arrays") or here[:2] == ("config", "versions") or here[-2:-1] == ("cohorts",):
            continue
        yield f"without {here}", lambda meta, _, here=here: inside(meta, here).pop(here[-1])
        for other in wrong_types(value):
            yield f"{here} = {other!r}", lambda meta, _, here=here, other=other: put(meta, here, other)
        if isinstance(value, dict):
            yield f"{here} and more", lambda meta, _, here=here: put(meta, (*here, "more"), 1)
        if isinstance(value, (dict, list)) and value:
            yield from in_meta(value, here)


def inside(meta: Any, path: tuple) -> Any:
    for key in path[:-1]:
        meta = meta[key]
    return meta


def put(meta: Any, path: tuple, value: Any) -> None:
    inside(meta, path)[path[-1]] = value


def in_arrays(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, Change]]:
    """Every array missing, of another length, shape, dtype or byte order."""
    changes: dict[str, Callable[[np.ndarray], Any]] = {
        "shorter": lambda a: a[:-1],
        "longer": lambda a: np.concatenate([a, a[:1]]),
        "empty": lambda a: a[:0],
        "one axis more": lambda a: a[None],
        "flat or narrow": lambda a: a.ravel() if a.ndim > 1 else a[:, None],
        "one column less": lambda a: a[..., :-1],
        "a number": lambda a: a.reshape(-1)[0],
        "float16": lambda a: a.astype(np.float16),
        "float64 or float32": lambda a: a.astype(np.float32 if a.dtype == np.float64 else np.float64),
        "int32": lambda a: a.astype(np.int32),
        "uint8": lambda a: a.astype(np.uint8),
        "complex": lambda a: a.astype(np.complex64),
        "text": lambda a: a.astype(str),
        "other byte order": lambda a: a.astype(a.dtype.newbyteorder(">")),
        "records": lambda a: a.view([("x", a.dtype)]),
        "objects": lambda a: a.astype(object),
    }
    for name in arrays:
        yield f"without {name}", lambda _, arrays, name=name: arrays.pop(name)
        yield f"{name} renamed", lambda _, arrays, name=name: arrays.update({f"{name}2": arrays.pop(name)})
        for what, change in changes.items():
            yield (
                f"{name} {what}",
                lambda _, arrays, name=name, change=change: arrays.update({name: change(arrays[name])}),
            )


def seal(meta: Any, arrays: dict[str, np.ndarray]) -> None:
    """Make a changed file look as if it had been written so."""
    meta.pop("digest", None)
    if isinstance(meta.get("arrays"), dict):
        meta["arrays"] = {name: f"{np.asarray(a).dtype} {list(np.shape(a))}" for name, a in arrays.items()}
    meta["digest"] = hashlib.sha256(json.dumps(meta).encode()).hexdigest()[:16]


def is_other_data(what: str, kind: str) -> bool:
    """Whether a change makes a file that could be true of another run: nothing in it contradicts anything else."""
    if what.startswith("without ('records', ") and what.count(",") == 1:
        return True  # a round that was not evaluated
    if kind == "checkpoint":
        entry = "'state', 'cohorts'" in what or what.startswith("state/c ")
        return entry or (what.startswith("rows/c_clients ") and not what.endswith(("shorter", "longer", "empty")))
    model = "('config', 'model'"
    if "more" in what or "'arguments')" in what or "'initial'" in what:
        return "('config'," in what
    return "('config'," in what and model not in what


@pytest.mark.parametrize("kind", ["checkpoint", "history"])
@pytest.mark.parametrize("sealed", [False, True], ids=["as it is", "sealed anew"])
def test_a_changed_file_is_refused_or_the_same(tmp_path, files, kind: str, sealed: bool) -> None:
    meta, arrays = unpack(files[kind])
    changes = [*in_meta(meta), *in_arrays(arrays)]
    expected, wrong = loaders()[kind](files[kind]), {}
    for what, change in changes:
        changed = copy.deepcopy(meta), dict(arrays)
        change(*changed)
        if sealed:
            seal(*changed)
        found = refused_or_the_same(pack(tmp_path / "changed.npz", *changed), loaders()[kind], expected)
        if found and not (sealed and found == OTHER and is_other_data(what, kind)):
            wrong[what] = found
    assert len(changes) > 80
    assert not wrong, "\n".join(f"{what}: {found}" for what, found in wrong.items())


@pytest.mark.parametrize("kind", ["checkpoint", "history"])
@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_or_a_cut_is_refused_or_the_same(tmp_path, files, kind: str, seed: int) -> None:
    whole, rng, path = files[kind].read_bytes(), random.Random(seed), tmp_path / "changed.npz"
    expected, wrong = loaders()[kind](files[kind]), {}
    for bit in rng.sample(range(8 * len(whole)), 100):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        wrong[f"bit {bit}"] = refused_or_the_same(path, loaders()[kind], expected)
    for length in [0, 1, 21, 22, *rng.sample(range(len(whole)), 20)]:
        path.write_bytes(whole[:length])
        wrong[f"length {length}"] = refused_or_the_same(path, loaders()[kind], expected) or (
            None if length >= len(whole) - 22 else must_refuse(path, loaders()[kind])
        )
    assert not {what: found for what, found in wrong.items() if found}
