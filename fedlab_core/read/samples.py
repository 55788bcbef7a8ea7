"""PyTorch data sets, and what samples of any kind look like as one tensor."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset as TorchDataset
from torch.utils.data import IterableDataset
from tqdm.auto import tqdm

from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.progress import watched
from fedlab_core.read.federation import SplitBy, assembled, is_share, of_users, plan_of
from fedlab_core.read.labels import Encoding, Task
from fedlab_core.read.pixels import pixels


def torch_dataset(
    train: TorchDataset[Any],
    test: TorchDataset[Any] | float = 0.2,
    *,
    users: Sequence[Any] | None = None,
    parts: Sequence[Any] | None = None,
    split_by: SplitBy = "user",
    min_samples: int = 1,
    seed: int = 0,
    task: Task = "auto",
    classes: Sequence[Any] | None = None,
    standardize: bool = False,
    name: str | None = None,
) -> FederatedDataset | Dataset:
    """Any map-style PyTorch data set of pairs (x, y): each sample is read once, through its transforms.

    ``users``: who holds each sample of ``train`` [n]; or ``parts``: the samples of each client, as
    :mod:`fedlab_core.partition` gives them. Without either it is a data set. ``x``: tensors or arrays of one shape,
    floats as float32 and integers as int64, but for bytes in three axes and Pillow's images, which become float32
    [C, H, W] in [0, 1]. ``y``: a label, or floats for regression. ``test``: another data set, or the share of ``train``
    that is held out, which goes with ``users`` but not with ``parts``. ``name`` is that of the class by default. The
    rest is as in :func:`fedlab_core.read.frame`.

    Raises ``ValueError``, naming the sample, for what is no pair or of another shape than the first.
    """
    share = test if is_share(test) else 0.0
    if users is not None and parts is not None:
        raise ValueError("users and parts: give one of them")
    if parts is not None and share:
        raise ValueError(f"test={test}: parts number the samples of train; give the test data as a data set, or 0")
    given = share if parts is None else 0.0
    plan = plan_of(given, split_by=split_by, min_samples=min_samples, seed=seed, standardize=standardize)
    names = getattr(train, "classes", None)
    labelled = all(isinstance(one, str) for one in names) if isinstance(names, (list, tuple)) and names else False
    encoding = Encoding(task, classes, names if labelled else None)
    _check_map_style("train", train)
    if not is_share(test):
        _check_map_style("test", test)
    if users is not None and len(users) != len(train):  # type: ignore[arg-type]
        raise ValueError(f"users: {len(users)} for {len(train)} samples")  # type: ignore[arg-type]
    title = name or type(train).__name__
    samples = of_users(*_pairs("train", train, title), users, "users")
    held_out = None if is_share(test) else of_users(*_pairs("test", test, f"{title}, test"), None, "")
    dataset = assembled(title, "y", samples, held_out, plan, encoding)
    return dataset if parts is None else FederatedDataset(_plain(dataset), parts)


def _plain(dataset: Dataset | FederatedDataset) -> Dataset:
    return dataset.dataset if isinstance(dataset, FederatedDataset) else dataset


def _check_map_style(what: str, data: Any) -> None:
    if isinstance(data, IterableDataset) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise ValueError(
            f"{what}: must be a map-style PyTorch data set (with a length and items by number), got "
            f"{type(data).__name__}"
        )
    if not len(data):
        raise ValueError(f"{what}: holds no samples")


def _pairs(what: str, data: Any, title: str) -> tuple[torch.Tensor, np.ndarray]:
    """Every x in one tensor, every y in an array."""
    targets: list[Any] = []

    def inputs() -> Iterator[Any]:
        for i in range(len(data)):
            pair = data[i]
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"{what}[{i}]: must be a pair (x, y), got {type(pair).__name__}")
            targets.append(_target(pair[1]))
            yield pair[0]

    x = stacked(inputs(), len(data), what, title)
    return x, np.asarray(targets)


def _target(value: Any) -> Any:
    """A label or a number as Python or NumPy have it."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def stacked(values: Iterable[Any], count: int, what: str, title: str) -> torch.Tensor:
    """``count`` samples as one tensor [n, …], with a bar for a person who watches while they are read.

    Raises ``ValueError`` for a sample that is no tensor of numbers, or unlike the first.
    """
    result: torch.Tensor | None = None
    with contextlib.closing(tqdm(total=count, desc=title, unit="sample", disable=not watched())) as bar:
        for i, value in enumerate(values):
            sample = as_sample(value, f"{what}[{i}]")
            if result is None:
                result = sample.new_empty(count, *sample.shape)
            if sample.shape != result.shape[1:] or sample.dtype != result.dtype:
                mine, first = (f"{str(t.dtype).removeprefix('torch.')} {list(t.shape)}" for t in (sample, result[0]))
                raise ValueError(
                    f"{what}[{i}]: is {mine}, but the first sample is {first}; all must be alike (crop, resize or pad)"
                )
            result[i] = sample
            bar.update()
    assert result is not None, "there is at least one sample"
    return result


def as_sample(value: Any, what: str) -> torch.Tensor:
    """One sample: floats as float32; bytes in three axes and Pillow's images as float32 in [0, 1]; else int64."""
    if hasattr(value, "convert") and hasattr(value, "mode"):
        return torch.from_numpy(pixels(value, None, None, what))
    try:
        tensor = torch.as_tensor(np.asarray(value) if not isinstance(value, torch.Tensor) else value).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{what}: must be a tensor or an array of numbers, got {type(value).__name__}") from error
    if tensor.is_complex():
        raise ValueError(f"{what}: holds complex numbers")
    if tensor.is_floating_point():
        return tensor.float()
    return tensor.float() / 255 if tensor.dtype == torch.uint8 and tensor.ndim == 3 else tensor.to(torch.int64)
