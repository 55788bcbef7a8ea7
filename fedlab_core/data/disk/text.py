"""Read Sentiment140, the whole set or a part of it: tables of tweets become token ids of one
length.
"""

import html
import io
import re
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, Location, content

# ids of padding, of unknown words, and of the most frequent words in the training tweets
VOCABULARY = 5_000
LENGTH = 30  # tokens; 99 % of these tweets, which had at most 140 characters, are no longer
PADDING = 0
UNKNOWN = 1

_PACKED = ("training.1600000.processed.noemoticon.csv", "testdata.manual.2009.06.14.csv")
_CLASSES = {"0": 0, "4": 1, "2": -1}  # by the polarity in the file; neutral tweets are left out
# in this order
_WRITTEN = {r"(https?://|www\.)\S+": "http", r"@\w+": "@user", r"(.)\1{2,}": r"\1\1"}
_TOKEN = re.compile(r"@user|[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[!?]")


def read_sentiment140(name: str, location: Location) -> Dataset:
    """Read tweets: ``x`` int64 token ids [n, 30], ``y`` 0 (negative) or 1 (positive), ``users`` the
    accounts.

    Ids: 0 is padding on the left, 1 an unknown word, 2 … 4,999 the words by falling frequency in
    the training tweets. Training labels come from a smiley that was removed from the tweet, test
    labels from people.

    Source: A. Go, R. Bhayani, L. Huang, Twitter sentiment classification using distant supervision
    (2009).
    """
    train, test = (_tweets(path, table) for path, table in _tables(location))
    texts = [tokens(text) for text in train["text"]]
    counts = Counter(word for words in texts for word in words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[: VOCABULARY - 2]
    numbers = {word: number for number, word in enumerate(ranked, start=2)}
    train_split = Split(_ids(texts, numbers), torch.tensor(train["label"].to_numpy()))
    held_out = [tokens(text) for text in test["text"]]
    test_split = Split(_ids(held_out, numbers), torch.tensor(test["label"].to_numpy()))
    accounts = pd.factorize(train["account"])[0]
    users = np.split(np.argsort(accounts, kind="stable"), np.cumsum(np.bincount(accounts))[:-1])
    return Dataset(name, train_split, test_split, 2, ("negative", "positive"), users)


def tokens(text: str) -> list[str]:
    """Split a tweet into words, numbers, "!" and "?", in lower case and without HTML entities.

    A link becomes "http", a mention "@user", and a letter repeated three times or more is kept
    twice [Go et al. 2009, section 2.3].
    """
    text = html.unescape(text).lower()
    for pattern, written in _WRITTEN.items():
        text = re.sub(pattern, written, text)
    return list(map(sys.intern, _TOKEN.findall(text)))  # one copy of each word


def _tables(location: Location) -> list[tuple[str, bytes]]:
    """The training table and the test table, each with its name for error messages."""
    if len(location.files) > 1:
        return [(str(path), content(path, member)) for member, path in location.files.items()]
    ((member, path),) = location.files.items()
    try:
        with zipfile.ZipFile(io.BytesIO(content(path, member))) as archive:
            return [(f"{path}: {name}", archive.read(name)) for name in _PACKED]
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise DatasetCorrupt(f"{path}: cannot be unpacked ({error})") from error


def _tweets(path: str, table: bytes) -> pd.DataFrame:
    """The tweets that are not neutral, one per row: ``account``, ``text``, and ``label`` int64 0 or
    1.
    """
    columns = {0: "label", 4: "account", 5: "text"}
    try:
        tweets = pd.read_csv(
            io.BytesIO(table),
            header=None,
            usecols=list(columns),
            dtype=str,
            encoding="latin-1",
            keep_default_na=False,
        ).rename(columns=columns)
    except ValueError as error:
        raise DatasetCorrupt(f"{path}: cannot be read as a table of tweets ({error})") from error
    tweets["label"] = tweets["label"].map(_CLASSES)
    if (wrong := tweets["label"].isna()).any():
        raise DatasetCorrupt(
            f"{path}: the first column of tweet {int(wrong.argmax()) + 1} must be 0, 2 or 4"
        )
    return tweets[tweets["label"] >= 0].astype({"label": np.int64})


def _ids(texts: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> torch.Tensor:
    """The ids of the last words of each text, int64 [n, LENGTH], flush right."""
    x = np.full((len(texts), LENGTH), PADDING)
    for row, words in zip(x, texts, strict=True):
        ids = [numbers.get(word, UNKNOWN) for word in words[-LENGTH:]]
        row[LENGTH - len(ids) :] = ids
    return torch.from_numpy(x)
