"""Tables: a pandas frame, or a CSV file, with a row for each sample."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.federation import Samples, SplitBy, assembled, is_share, of_users, plan_of
from fedlab_core.read.labels import Encoding, Task

Columns = str | Sequence[str]
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"]


def frame(
    frame: pd.DataFrame,
    *,
    target: Columns,
    user: str | None = None,
    features: Sequence[str] | None = None,
    test: float | pd.DataFrame = 0.2,
    split_by: SplitBy = "user",
    min_samples: int = 1,
    seed: int = 0,
    task: Task = "auto",
    classes: Sequence[Any] | None = None,
    standardize: bool = False,
    shape: Sequence[int] | None = None,
    name: str = "frame",
) -> FederatedDataset | Dataset:
    """A table with a row for each sample: a federation of the users in the column ``user``, or a data set without one.

    ``target`` a column, or several for a regression with several outputs: whole numbers, texts and booleans are
    classes, floats a regression, unless ``task`` says otherwise. ``classes``: all labels that there may be, in order;
    by default those of the training data, sorted, or the categories of a categorical column. ``features``: columns of
    numbers, by default all others; they become ``x`` float32 [n, features], or [n, \\*``shape``]. ``test``: the share
    of the samples that is held out, of each user's or of all (``split_by``), drawn with ``seed``; or another frame with
    the same columns. ``min_samples``: users with fewer rows are left out. ``standardize``: mean 0 and deviation 1 over
    the training data, which in a real federation the clients would have to share.

    Raises ``ValueError``, naming column and rows, for features that are not finite numbers, missing values, columns
    that are not there, and labels of the test data that training lacks.
    """
    plan = plan_of(test, split_by=split_by, min_samples=min_samples, seed=seed, standardize=standardize)
    _check_frame("frame", frame)
    targets = [target] if isinstance(target, str) else list(target)
    for where, column in [("target", one) for one in targets] + ([("user", user)] if user is not None else []):
        validation.choice(where, column, frame.columns)
    if features is None:
        features = [column for column in frame.columns if column not in (*targets, user)]
    for column in features:
        validation.choice("features", column, frame.columns)
        if column in targets:
            raise ValueError(f"features: {column!r} is the target")
    if not features:
        raise ValueError("features: there is none")
    order = frame[targets[0]].cat.categories if isinstance(frame[targets[0]].dtype, pd.CategoricalDtype) else None
    encoding = Encoding(task, list(order) if classes is None and order is not None and len(targets) == 1 else classes)
    train = _samples("frame", frame, list(features), targets, user, shape)
    if isinstance(test, pd.DataFrame):
        _check_frame("test", test)
        for column in [*targets, *features]:
            validation.choice("column of test", column, test.columns)
        held_out = _samples("test", test, list(features), targets, None, shape)
    elif is_share(test):
        held_out = None
    else:
        raise ValueError(f"test={test!r}: must be a share of the samples or a DataFrame, got {type(test).__name__}")
    return assembled(name, f"target {target!r}", train, held_out, plan, encoding)


def csv(
    path: str | Path,
    *,
    target: Columns,
    user: str | None = None,
    test: float | str | Path = 0.2,
    separator: str = ",",
    **options: Any,
) -> FederatedDataset | Dataset:
    """A CSV file with a header, packed or not (.gz, .zip, …): as :func:`frame`, which has the other ``options``.

    ``test`` may be another file. Users are texts as they stand in the file: "007" is not "7". Of targets too only
    an empty field is missing, so "NA" and "None" are labels.

    Raises ``ValueError``, naming the file, for one that is no such table, and for what :func:`frame` refuses.
    """
    files = [Path(path)] + ([Path(test)] if isinstance(test, (str, Path)) else [])
    columns = [target] if isinstance(target, str) else list(target)
    tables = [_read(file, columns, user, separator) for file in files]
    held_out = test if is_share(test) else tables[1]
    options = {"name": files[0].name.split(".")[0], **options}
    try:
        return frame(tables[0], target=target, user=user, test=held_out, **options)
    except ValueError as error:
        raise ValueError(f"{' and '.join(map(str, files))}: {error}") from error


def _read(path: Path, targets: Sequence[str], user: str | None, separator: str) -> pd.DataFrame:
    """The file as a frame, every column read in one way from its first row to its last."""
    reading: dict[str, Any] = {"sep": separator, "keep_default_na": False, "low_memory": False}
    try:
        header = list(pd.read_csv(path, nrows=0, **reading).columns)
        missing = {column: [""] if column in (*targets, user) else _MISSING for column in header}
        return pd.read_csv(path, dtype={user: str} if user in header else {}, na_values=missing, **reading)
    except ValueError as error:
        raise ValueError(f"{path}: cannot be read as a table: {error}") from error


def _check_frame(what: str, table: Any) -> None:
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"{what}: must be a pandas.DataFrame, got {type(table).__name__}")
    if not len(table):
        raise ValueError(f"{what}: holds no rows")
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{what}: there are two columns {twice[0]!r}")


def _samples(
    what: str,
    table: pd.DataFrame,
    features: list[str],
    targets: list[str],
    user: str | None,
    shape: Sequence[int] | None,
) -> Samples:
    _check_features(what, table[features])
    with np.errstate(over="ignore"):  # what no float32 can hold is said below
        values = np.array(table[features], dtype=np.float32)
    if not np.isfinite(values).all():
        column = features[int(np.flatnonzero(~np.isfinite(values).all(0))[0])]
        count = int((~np.isfinite(values[:, features.index(column)])).sum())
        raise ValueError(f"{what}: column {column!r} has {count} of {len(table)} values that no float32 can hold")
    if shape is not None:
        sizes = [validation.integer("shape", size, minimum=1) for size in shape]
        if math.prod(sizes) != len(features):
            raise ValueError(f"shape={tuple(sizes)}: needs {math.prod(sizes)} features, but there are {len(features)}")
        values = values.reshape(len(values), *sizes)
    found = [_plain(table[column]) for column in targets]
    y = found[0] if len(found) == 1 else np.stack(found, axis=1)
    users = None if user is None else table[user].astype(object).to_numpy()
    return of_users(torch.from_numpy(values), y, users, f"{what}: column {user!r}")


def _plain(column: pd.Series) -> np.ndarray:
    """A column as NumPy knows it: numbers and booleans as they are, everything else as objects, missing ones as NaN."""
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype(object).to_numpy()
    if column.isna().any() or pd.api.types.is_float_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy(dtype=np.int64)


def _check_features(what: str, table: pd.DataFrame) -> None:
    """``ValueError`` for columns that hold anything but numbers, and for missing ones."""
    others = [c for c in table.columns if not pd.api.types.is_numeric_dtype(table[c].dtype)]
    if others:
        column = table[others[0]]
        more = f" (so do {', '.join(map(repr, others[1:]))})" if len(others) > 1 else ""
        raise ValueError(
            f"{what}: column {column.name!r} holds {column.dtype}, {column.nunique()} different values in "
            f"{len(column)} rows{more}, but features must be numbers. Leave it out (features=[…]) or make numbers of "
            f"it: pandas.get_dummies(frame, columns={others!r})"
        )
    missing = table.isna().sum()
    missing = missing[missing > 0]
    if len(missing):
        listed = ", ".join(f"{column!r} lacks {count}" for column, count in missing.items())
        raise ValueError(
            f"{what}: of {len(table)} rows column {listed}. Drop them (frame.dropna()) or fill them with a number "
            "that you can answer for (frame.fillna(…))"
        )
