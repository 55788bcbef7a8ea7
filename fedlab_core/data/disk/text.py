"""Read Sentiment140, the whole set or a part of it: tables of tweets, which become token ids of one length."""

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

VOCABULARY = 5_000  # ids: those of padding and of unknown words, then the most frequent words of the training tweets
LENGTH = 30  # tokens; 99 in 100 of these tweets, which had at most 140 characters, are no longer
PADDING, UNKNOWN = 0, 1

_CLASSES = {"0": 0, "4": 1, "2": None}  # by the polarity in the file; neutral tweets are left out
_WRITTEN = {r"(https?://|www\.)\S+": "http", r"@\w+": "@user", r"(.)\1{2,}": r"\1\1"}  # in this order
_TOKEN = re.compile(r"@user|[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[!?]")


def read_sentiment140(source: Source, files: Mapping[str, Path]) -> Dataset:
    """Tweets by account: ``x`` int64 token ids [n, 30], ``y`` 0 (negative) or 1 (positive), ``users`` the accounts.

    Ids: 0 padding, 1 a word that is not in the vocabulary, then by falling frequency in the training tweets (equally
    frequent words in alphabetical order) up to 4,999. Padding stands on the left, because an LSTM is read off after the
    last token; of a longer tweet the last 30 tokens count. The published 1.6 million take 384 MB, 2.4 GB in reading.
    ``users`` come in the order of their first tweets; ``by_user`` chooses those with enough of them.

    Training labels are noisy: they stand for the smiley that was cut out of the tweet. The test set is the tweets
    labelled by hand, without the neutral ones. They belong to no client: to judge models account by account, hold out
    the last tweets of each instead.

    Source: A. Go, R. Bhayani, L. Huang, Twitter sentiment classification using distant supervision (2009).
    """
    training, testing = _tables(source, files)
    numbers: dict[str, int] = {}
    words, lengths, y, accounts = _tweets(*training, lambda word: numbers.setdefault(word, len(numbers)))
    ids = _ids(list(numbers), np.bincount(words, minlength=len(numbers)))
    train = Split(_padded(ids[words], lengths), torch.from_numpy(y))
    words, lengths, y, _ = _tweets(*testing, lambda word: numbers.get(word, -1))
    test = Split(_padded(ids[words], lengths), torch.from_numpy(y))
    users = np.split(np.argsort(accounts, kind="stable"), np.cumsum(np.bincount(accounts))[:-1])
    return Dataset(source.name, train, test, 2, ("negative", "positive"), users)


def tokens(text: str) -> list[str]:
    """Words, numbers, "!" and "?" of a tweet in lower case, without HTML entities. Any link is "http", any mention
    "@user", and a letter that is repeated more than once is repeated once [Go et al. 2009, section 2.3].
    """
    text = html.unescape(text).lower()
    for pattern, written in _WRITTEN.items():
        text = re.sub(pattern, written, text)
    return _TOKEN.findall(text)


def _tables(source: Source, files: Mapping[str, Path]) -> list[tuple[str, bytes]]:
    """Training and test table, each after the name by which to complain of it."""
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
    """The numbers of all words, tweet after tweet; and of each tweet, how many words it has, its class, its account."""
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
        what = "must have six columns, the first of which is 0, 2 or 4"
        raise DatasetCorrupt(f"{path}: line {reader.line_num} {what}") from error
    if not classes or table[-4096:].rstrip().rpartition(b"\n")[2].count(b'"') % 2:
        raise DatasetCorrupt(f"{path}: {'ends in the middle of a tweet' if classes else 'holds no tweet'}")
    return [np.array(column) for column in columns]


def _ids(words: list[str], counts: np.ndarray) -> np.ndarray:
    """The id of each word, and at the end that of any other."""
    ids = np.full(len(words) + 1, UNKNOWN)
    ranked = sorted(range(len(words)), key=lambda word: (-counts[word], words[word]))[: VOCABULARY - 2]
    ids[ranked] = np.arange(2, 2 + len(ranked))
    return ids


def _padded(ids: np.ndarray, lengths: np.ndarray) -> torch.Tensor:
    """The ids of texts, one after another, as [n, LENGTH]: the last ones of each, flush right."""
    x = np.full((len(lengths), LENGTH), PADDING)
    column = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - LENGTH, lengths)
    kept = column >= 0
    x[np.repeat(np.arange(len(lengths)), lengths)[kept], column[kept]] = ids[kept]
    return torch.from_numpy(x)
