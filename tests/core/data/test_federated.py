"""Federations from data and parts, and from clients' own data: what is taken, what is refused, and
in what words.
"""

import hashlib

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import TensorDataset

from fedlab_core.data import Dataset, FederatedDataset, Split

X = torch.arange(24.0).reshape(12, 2)
Y = torch.arange(12) % 3


def dataset(x=X, y=Y, test=None, num_classes: int | None = 3) -> Dataset:
    return Dataset("own", Split(x, y), Split(*test) if test else Split(x[:4], y[:4]), num_classes)


# parts


def test_masks_are_refused_and_their_indices_taken() -> None:
    masks = [Y.numpy() == label for label in range(3)]
    with pytest.raises(
        ValueError, match=r"parts\[0\]: a mask of booleans.*np\.flatnonzero\(mask\)"
    ):
        FederatedDataset(dataset(), masks)
    for convert in (np.asarray, torch.from_numpy, np.ndarray.tolist):
        fed = FederatedDataset(dataset(), [convert(np.flatnonzero(mask)) for mask in masks])
        assert [fed.client(k)[1].tolist() for k in range(3)] == [[0] * 4, [1] * 4, [2] * 4]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], r"parts=\[\]: must hold at least one client"),
        ([[0, 1], []], r"parts\[1\]: this client is empty"),
        ([[0, 1], [2, 3], [4, 12]], r"parts\[2\]: indices must be in 0 … 11, got 4 … 12"),
    ],
)
def test_wrong_parts_are_named(parts, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FederatedDataset(dataset(), parts)


# values


def test_arrays_and_narrow_integers_are_taken() -> None:
    frame = pd.DataFrame(X.numpy(), columns=["a", "b"])
    readonly = X.numpy().copy()
    readonly.flags.writeable = False
    for x in (X.numpy(), readonly, frame, X.numpy()[::-1], X.tolist()):
        for dtype in (np.int32, np.uint8, np.int64):
            fed = FederatedDataset(dataset(x, Y.numpy().astype(dtype), test=(X, Y)), [[0, 5], [11]])
            assert (
                fed.y.dtype == torch.int64
                and fed.x.dtype == torch.float32
                and torch.equal(fed.y, Y)
            )
    own = FederatedDataset.from_clients(
        [(X.numpy(), Y.numpy().astype(np.int32))], test=(X.double().numpy()[:0], [])
    )
    assert torch.equal(own.x, X) and torch.equal(own.y, Y) and own.num_classes == 3


@pytest.mark.parametrize(("where", "bad"), [("train.x", np.nan), ("test.x", -np.inf)])
def test_values_that_are_not_finite_are_refused(where: str, bad: float) -> None:
    broken = X.clone()
    broken[3, 1] = bad
    x, held_out = (broken, X) if where == "train.x" else (X, broken)
    with pytest.raises(ValueError, match=rf"{where}: holds values that are not finite"):
        FederatedDataset(dataset(x, Y, test=(held_out, Y)), [[0], [1]])
    with pytest.raises(
        ValueError, match=rf"{where.replace('x', 'y')}: holds values that are not finite"
    ):
        FederatedDataset.from_clients([(X, x)], test=(X, held_out))


def test_a_label_that_is_no_class_number_is_refused_at_once() -> None:
    y = Y.clone()
    y[7] = 10**9
    with pytest.raises(
        ValueError, match=r"the label 1000000000 would make 1000000001 classes of 16 samples"
    ):
        FederatedDataset.from_clients([(X, y)], test=(X[:4], Y[:4]))
    with pytest.raises(ValueError, match=r"train labels must lie in 0 … 2, got 0 … 1000000000"):
        FederatedDataset(dataset(X, y), [[0]])
    vocabulary = FederatedDataset.from_clients([(X[:1], [9_999])], test=(X[:1], [0]))
    assert vocabulary.num_classes == 10_000


# kinds and shapes

FLOATS = torch.rand(12)
COLUMN = Y[:, None]


@pytest.mark.parametrize(
    ("train", "test", "words"),
    [
        ((X, FLOATS), (X, Y), r"test\.y: int64 \[n\] does not go with train\.y, float32 \[n\]"),
        (
            (X, Y),
            (X, FLOATS),
            r"test\.y: class labels must be integers of shape \[n\], got float32 \[n\]",
        ),
        (
            (X, COLUMN),
            (X, COLUMN),
            r"train\.y: class labels must be integers of shape \[n\], got int64 \[n, 1\]",
        ),
        (
            (X, Y),
            (X.double(), Y),
            r"test\.x: float64 \[n, 2\] does not go with train\.x, float32 \[n, 2\]",
        ),
        ((X, Y), (X, Y[:3]), "test: x and y must have the same length, got 12 and 3"),
        ((X, Y), X, r"test: must be a pair \(x, y\), got Tensor"),
    ],
)
def test_what_does_not_go_together_is_refused(train, test, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FederatedDataset.from_clients([train, train], test)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ((X, FLOATS), r"clients\[1\]: y is float32 \[n\], but that of clients\[0\] is int64 \[n\]"),
        (
            (X[:, :1], Y),
            r"clients\[1\]: x is float32 \[n, 1\], but that of clients\[0\] is float32 \[n, 2\]",
        ),
        ((X, Y[:5]), r"clients\[1\]: x and y must have the same length, got 12 and 5"),
        ((X[:0], Y[:0]), r"parts\[1\]: this client is empty"),
    ],
)
def test_a_client_unlike_the_others_is_named(second, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FederatedDataset.from_clients([(X, Y), second, (X, Y)], (X, Y))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (TensorDataset(X), r"x: must be a tensor or an array.*got TensorDataset.*torch\.stack"),
        (np.array(["a", "b"]), "x: cannot be made a tensor"),
        ([[1.0], [1.0, 2.0]], "x: cannot be made a tensor"),
        (np.float32(1.0), "x: must have one entry per sample"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "x: has complex or masked values"),
        (np.array([1j, 2j]), "x: has complex or masked values"),
    ],
)
def test_what_cannot_be_a_tensor_of_real_numbers_is_refused(x, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Split(x, [0, 1])  # type: ignore[arg-type]


def test_the_fingerprint_is_that_of_the_bytes() -> None:
    fed = FederatedDataset(dataset(), [[0, 2], [5]])
    digest = hashlib.sha256()
    for tensor in (X, Y, X[:4], Y[:4]):
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode() + tensor.numpy().tobytes())
    digest.update(np.array([0, 2, 3]).tobytes() + np.array([0, 2, 5]).tobytes())
    assert fed.fingerprint == digest.hexdigest()[:16]
