"""Tables: a pandas frame or a CSV file with one row per sample."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from pandas.api.types import is_numeric_dtype

from fedlab_core import validation
from fedlab_core.aliases import Keywords
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.federation import Label, Samples, assembled, checked_users

_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "?"]
_SPACES = r"\s+"


def frame(
    frame: pd.DataFrame,
    *,
    target: str,
    user: str | None = None,
    features: Sequence[str] | None = None,
    test: float | pd.DataFrame = 0.2,
    classes: Sequence[Label] | None = None,
    name: str = "frame",
    **options: Any,
) -> FederatedDataset | Dataset:
    """Read a table with one row per sample: a federation of the users in the column ``user``, or
    else a data set.

    ``target``: a column. Integers, texts and booleans are classes, floats a regression; ``task``
    ("classification" or "regression") overrides this. ``classes``: all possible labels in order; by
    default the sorted training labels, or the categories of a categorical column. ``features``:
    columns of numbers, by default all others. They become ``x``, float32 [n, features]. ``test``:
    the held-out fraction of each user's samples (every user keeps one), drawn with ``seed``; or
    another frame with the same columns. ``min_samples``: users with fewer rows are left out.
    ``standardize``: scale every feature to mean 0 and deviation 1 over the training samples of all
    users; in a real federation, the clients would have to share both.

    Raises ``ValueError``, naming the column, for features that are not finite numbers, missing
    values, columns that do not exist, labels of the test data that training lacks, one user in
    several spellings ("1" and "01"), and labels with a likely typing error (1.5 among whole
    numbers, or more than 64 bits).
    """
    train = _samples("frame", frame, target, user, features)
    held_out: Samples | float
    if isinstance(test, (int, float)):
        held_out = test
    else:
        used = _features(frame, target, user) if features is None else features
        held_out = _samples("test", test, target, None, used)
    if classes is None and isinstance(frame[target].dtype, pd.CategoricalDtype):
        classes = list(frame[target].dtype.categories)
    return assembled(name, f"target {target!r}", train, held_out, classes=classes, **options)


def csv(
    path: str | Path,
    *,
    target: str,
    user: str | None = None,
    test: float | str | Path = 0.2,
    separator: str = ",",
    **options: Any,
) -> FederatedDataset | Dataset:
    """Read a CSV file with a header, compressed (.gz, .zip, …) or not. ``options``: those of
    :func:`frame`.

    ``test`` may be another file. ``separator``: one character, or r"\\s+" for any white space.
    Users are kept as texts: "007" keeps its zeros. In targets only an empty field is missing: "NA"
    and "None" are labels.

    Raises ``FileNotFoundError`` for a missing file and ``ValueError``, naming the file, for a
    folder, a damaged file, two columns of one name, and what :func:`frame` refuses.
    """
    table = _read(path, target, user, separator)
    held_out: float | pd.DataFrame
    if isinstance(test, (str, os.PathLike)):
        held_out = _read(test, target, user, separator)
    else:
        held_out = test
    options = {"name": Path(path).name.split(".")[0], **options}
    try:
        return frame(table, target=target, user=user, test=held_out, **options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read(path: str | Path, target: str, user: str | None, separator: str) -> pd.DataFrame:
    if not (isinstance(separator, str) and (separator == _SPACES or _is_one_character(separator))):
        raise ValueError(
            f"separator={separator!r}: must be one ASCII character between two values, for example "
            f"',' or ';' or '\\t', or {_SPACES!r} for any white space. Replace a longer separator "
            "in the file"
        )
    if os.path.isdir(path):
        raise ValueError(f"{path}: is a folder; name one CSV file in it")
    # index_col=False: otherwise a row with one value more than the header
    # shifts all columns. pandas then only warns.
    reading: Keywords = {
        "sep": separator,
        "index_col": False,
        "keep_default_na": False,
        "low_memory": False,
    }
    with _naming(path), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        written = pd.read_csv(path, nrows=1, header=None, dtype=str, **reading).iloc[0]
        twice = written[written.duplicated()].tolist()
        if twice:
            raise _Refused(
                f"{path}: the header has two columns {twice[0]!r}; column names must be unique. "
                "Rename one"
            )
        header = list(pd.read_csv(path, nrows=0, **reading).columns)
        missing = {column: [""] if column in (target, user) else _MISSING for column in header}
        kinds = {user: str} if user in header else {}
        return pd.read_csv(path, dtype=kinds, na_values=missing, **reading)


class _Refused(ValueError):
    """The message is complete: it names the file."""


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Turn every error in the block into one that names the file and says what to do."""
    try:
        yield
    except _Refused:
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path}: there is no such file; the current folder is {os.getcwd()}"
        ) from error
    except UnicodeError as error:
        raise ValueError(f"{path}: is not UTF-8 text ({error}); save it as CSV in UTF-8") from error
    except (ValueError, pd.errors.ParserWarning) as error:
        raise ValueError(
            f"{path}: cannot be read as a table; is every row as long as the header? {error}"
        ) from error
    # a damaged archive raises EOFError, OSError, zlib.error, BadZipFile, LZMAError, …
    except Exception as error:
        raise ValueError(
            f"{path}: cannot be read to its end: {error}. A compressed file may be cut off or have "
            "the wrong suffix; copy or download it again"
        ) from error


def _is_one_character(separator: str) -> bool:
    return len(separator) == 1 and separator.isascii() and separator not in '"\r\n'


def _features(table: pd.DataFrame, target: str, user: str | None) -> list[str]:
    """All columns but the target and the user."""
    return [column for column in table.columns if column not in (target, user)]


def _samples(
    what: str, table: pd.DataFrame, target: str, user: str | None, features: Sequence[str] | None
) -> Samples:
    if not isinstance(table, pd.DataFrame) or not len(table):
        raise ValueError(
            f"{what}: must be a pandas.DataFrame with at least one row, got {table!r:.100}"
        )
    twice = table.columns[table.columns.duplicated()].tolist()
    if twice:
        raise ValueError(f"{what}: has two columns {twice[0]!r}; column names must be unique")
    features = _features(table, target, user) if features is None else list(features)
    if not features or target in features:
        raise ValueError(
            f"features={features!r}: must be at least one column, and not the target {target!r}"
        )
    _check_columns(f"{what}: target", [target], table)
    _check_columns(f"{what}: user", [user] if user else [], table)
    _check_columns(f"{what}: features", features, table)
    x = torch.from_numpy(_numbers(what, table[features]))
    y = table[target]
    if not is_numeric_dtype(y):
        y = y.astype(object)
    users = None
    if user is not None:
        users = checked_users(f"{what}: column {user!r}", table[user], len(table))
    return Samples(x, y.to_numpy(), users)


def _check_columns(argument: str, columns: Sequence[str], table: pd.DataFrame) -> None:
    for column in columns:
        if column not in table.columns:  # a look-up; the search for a similar name takes long
            validation.choice(argument, column, table.columns)


def _numbers(what: str, table: pd.DataFrame) -> np.ndarray:
    """The columns as float32 [n, features]; ``ValueError`` for anything but finite numbers."""
    texts = [column for column, kind in table.dtypes.items() if not is_numeric_dtype(kind)]
    if texts:
        raise ValueError(
            f"{what}: column {texts[0]!r} has the type {table[texts[0]].dtype}, but features must "
            "be real numbers. Leave it out (features=[…]) or encode it: pandas.get_dummies(frame, "
            f"columns={texts!r}, dtype=float)"
        )
    with np.errstate(over="ignore"):
        values = np.array(table.to_numpy(dtype=np.float32, na_value=np.nan), order="C")
    bad = (~np.isfinite(values)).sum(0)
    if bad.any():
        raise ValueError(
            f"{what}: column {table.columns[bad.argmax()]!r} has {bad.max()} of {len(table)} "
            "values that are missing, infinite or too large for float32. Drop these rows "
            "(frame.dropna()) or fill them (frame.fillna(…))"
        )
    return values
