"""Read Sentiment140, the whole set or a part of it: tables of tweets become token ids of one length."""

import csv
import html
import io
import re
import zipfile
import zlib
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.disk.files import DatasetCorrupt, content
from fedlab_core.data.disk.sources import MOST_BYTES, SENTIMENT140_FILES, Source

VOCABULARY = 5_000  # ids of padding, of unknown words, and of the most frequent words in the training tweets
LENGTH = 30  # tokens; 99 % of these tweets, which had at most 140 characters, are no longer
PADDING, UNKNOWN = 0, 1

_CLASSES = {"0": 0, "4": 1, "2": None}  # by the polarity in the file; neutral tweets are left out
_WRITTEN = {r"(https?://|www\.)\S+": "http", r"@\w+": "@user", r"(.)\1{2,}": r"\1\1"}  # in this order
_TOKEN = re.compile(r"@user|[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[!?]")


def read_sentiment140(source: Source, files: Mapping[str, Path]) -> Dataset:
    """Read tweets: ``x`` int64 token ids [n, 30], ``y`` 0 (negative) or 1 (positive), ``users`` the accounts.

    Ids: 0 is padding, 1 an unknown word, 2 … 4,999 the words by falling frequency in the training tweets (equally
    frequent words in alphabetical order). Padding stands on the left, because an LSTM is read after the last token; a
    longer tweet keeps its last 30 tokens. The published 1.6 million tweets take 384 MB, 2.4 GB while they are read.

    Training labels are noisy: they come from a smiley that was removed from the tweet. The test set is the tweets with
    labels by hand, without the neutral ones; they belong to no client.

    Source: A. Go, R. Bhayani, L. Huang, Twitter sentiment classification using distant supervision (2009).
    """
    training, testing = _tables(source, files)
    numbers: dict[str, int] = {}
    words, lengths, y, accounts = _tweets(*training, lambda word: numbers.setdefault(word, len(numbers)))
    counts, names = np.bincount(words, minlength=len(numbers)), list(numbers)
    ranked = sorted(range(len(names)), key=lambda word: (-counts[word], names[word]))[: VOCABULARY - 2]
    ids = np.full(len(names) + 1, UNKNOWN)  # the last entry is for words that occur only in the test tweets
    ids[ranked] = np.arange(2, 2 + len(ranked))
    train = Split(_padded(ids[words], lengths), torch.from_numpy(y))
    words, lengths, y, _ = _tweets(*testing, lambda word: numbers.get(word, -1))
    test = Split(_padded(ids[words], lengths), torch.from_numpy(y))
    users = np.split(np.argsort(accounts, kind="stable"), np.cumsum(np.bincount(accounts))[:-1])
    return Dataset(source.name, train, test, 2, ("negative", "positive"), users)


def tokens(text: str) -> list[str]:
    """Split a tweet into words, numbers, "!" and "?", in lower case and without HTML entities.

    A link becomes "http", a mention "@user", and a letter repeated three times or more is kept twice [Go et al. 2009,
    section 2.3].
    """
    text = html.unescape(text).lower()
    for pattern, written in _WRITTEN.items():
        text = re.sub(pattern, written, text)
    return _TOKEN.findall(text)


def _tables(source: Source, files: Mapping[str, Path]) -> list[tuple[str, bytes]]:
    """Training and test table, each with its name for error messages."""
    if len(source.members) > 1:
        return [(str(files[member.name]), content(files[member.name], member)) for member in source.members]
    path, tables = files[source.members[0].name], []
    try:
        with zipfile.ZipFile(io.BytesIO(content(path, source.members[0]))) as archive:
            for name in SENTIMENT140_FILES:
                if (size := archive.getinfo(name).file_size) > MOST_BYTES:
                    raise DatasetCorrupt(f"{path}: {name} holds {size} bytes, more than {MOST_BYTES}")
                tables.append((f"{path}: {name}", archive.read(name)))
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, RuntimeError) as error:
        raise DatasetCorrupt(f"{path}: cannot be unpacked ({error})") from error
    return tables


def _tweets(path: str, table: bytes, number: Callable[[str], int]) -> list[np.ndarray]:
    """Return the numbers of all words, tweet after tweet; and for each tweet its length, class and account."""
    words, lengths, classes, accounts = columns = [array("i"), array("i"), array("q"), array("i")]
    known: dict[str, int] = {}
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(table), "latin-1", newline=""))
    try:
        for polarity, _, _, _, account, text in reader:
            if (label := _CLASSES[polarity]) is not None:
                found = tokens(text)
                words.extend(map(number, found))
                lengths.append(len(found))
                classes.append(label)
                accounts.append(known.setdefault(account, len(known)))
    except (csv.Error, KeyError, ValueError) as error:
        wrong = "must have six columns, the first of which is 0, 2 or 4"
        raise DatasetCorrupt(f"{path}: line {reader.line_num} {wrong}") from error
    if not classes or table[-4096:].rstrip().rpartition(b"\n")[2].count(b'"') % 2:
        raise DatasetCorrupt(f"{path}: {'ends in the middle of a tweet' if classes else 'holds no tweet'}")
    return [np.array(column) for column in columns]


def _padded(ids: np.ndarray, lengths: np.ndarray) -> torch.Tensor:
    """Arrange the ids of texts, one after another, as [n, LENGTH]: the last ids of each text, flush right."""
    x = np.full((len(lengths), LENGTH), PADDING)
    column = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - LENGTH, lengths)
    kept = column >= 0
    x[np.repeat(np.arange(len(lengths)), lengths)[kept], column[kept]] = ids[kept]
    return torch.from_numpy(x)
