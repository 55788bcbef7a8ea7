"""Sentiment140: its forms on disk, and tweets as token ids. The small tables here have the official
layout.
"""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from fedlab_core.data import Dataset, partition
from fedlab_core.data.disk import store, text
from fedlab_core.data.disk.files import DatasetCorrupt
from fedlab_core.data.disk.sources import SENTIMENT140, SOURCES
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import members_of, tree, write

ZIP = "trainingandtestdata.zip"
SUBSET = "training.subset.noemoticon.csv"
TRAIN = "training.1600000.processed.noemoticon.csv"
TEST = "testdata.manual.2009.06.14.csv"
# Polarity, account, text. "b" comes three times, "a" and "c" twice, "d" and "e" once.
TWEETS = [("0", "ann", "b a b"), ("4", "bob", "c a"), ("0", "bob", "E"), ("4", "ann", "d, b c")]
HELD_OUT = [("4", "x", "a z"), ("2", "x", "b"), ("0", "y", "")]


def table(rows: list[tuple[str, str, str]]) -> bytes:
    """Every value in quotes, Latin-1, no header, as in the published files."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows(
        (polarity, i, "", "NO_QUERY", who, said) for i, (polarity, who, said) in enumerate(rows)
    )
    return file.getvalue().encode("latin-1")


def zipped(train: bytes, test: bytes | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(TRAIN, train)
        archive.writestr(TEST, table(HELD_OUT) if test is None else test)
    return file.getvalue()


def loaded(tmp_path: Path, contents: dict[str, bytes], suffix: str = "") -> Dataset:
    """Load the set from ``contents``, in place of the published archive or of the subset."""
    whole, part = SENTIMENT140.layouts
    if ZIP in contents:
        whole = whole._replace(members=members_of(contents))
    else:
        part = part._replace(members=members_of(contents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOURCES, "sentiment140", SENTIMENT140._replace(layouts=(whole, part)))
        write(tmp_path / "sentiment140", contents, suffix)
        return load_dataset("sentiment140", tmp_path)


def of(tmp_path: Path, train: list[tuple[str, str, str]] = TWEETS) -> Dataset:
    return loaded(tmp_path, {SUBSET: table(train), TEST: table(HELD_OUT)})


pytestmark = pytest.mark.usefixtures("user_cache")

# tokens


@pytest.mark.parametrize(
    ("tweet", "expected"),
    [
        ("I'm HAPPY, really!?", ["i'm", "happy", "really", "!", "?"]),
        ("@Switch_foot http://twitpic.com/2y1zl - www.a.org/b?c x", ["@user", "http", "http", "x"]),
        ("goooood!!!! 10000 too", ["good", "!", "!", "100", "too"]),
        ("&quot;rock &amp; roll&quot; &lt;3 #ff", ["rock", "roll", "3", "ff"]),
        ("cafÉ :( =\\", ["café"]),
        ("", []),
    ],
)
def test_tokens(tweet: str, expected: list[str]) -> None:
    assert text.tokens(tweet) == expected


# ids


def test_ids_go_by_falling_frequency_in_the_training_tweets_and_then_by_the_alphabet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = of(tmp_path)
    b, a, c, d, e = range(2, 7)
    assert data.train.x.dtype == torch.int64 and data.train.x.shape == (4, 30)
    assert [row[row != 0].tolist() for row in data.train.x] == [[b, a, b], [c, a], [e], [d, b, c]]
    assert data.train.y.tolist() == [0, 1, 0, 1]
    assert (data.name, data.num_classes, data.classes) == (
        "sentiment140",
        2,
        ("negative", "positive"),
    )
    assert data.test.x[0].tolist() == [0] * 28 + [a, 1]  # "z" is in no training tweet
    # the neutral one is left out
    assert data.test.x[1].tolist() == [0] * 30 and data.test.y.tolist() == [1, 0]
    monkeypatch.setattr(text, "VOCABULARY", 4)
    data = of(tmp_path)
    assert [row[row != 0].tolist() for row in data.train.x] == [[2, 3, 2], [1, 3], [1], [1, 2, 1]]


def test_of_a_long_tweet_the_last_tokens_count_and_a_short_one_stands_on_the_right(
    tmp_path: Path,
) -> None:
    words = [f"w{chr(ord('a') + i)}" for i in range(26)] + ["x", "y", "z", "xa", "xb", "xc", "xd"]
    data = of(
        tmp_path,
        [("0", "ann", " ".join(words)), ("4", "ann", "z"), ("4", "bob", " ".join(words[:30]))],
    )
    whole, one, fits = data.train.x.tolist()
    assert (
        len(set(whole)) == 30
        and 0 not in whole
        and whole[:-3] == fits[3:]
        and one == [0] * 29 + [whole[25]]
    )
    assert len(set(fits)) == 30 and 0 not in fits


def test_an_account_is_a_client(tmp_path: Path) -> None:
    data = of(tmp_path, [*TWEETS, ("2", "cyd", "neither"), ("4", "cyd", "b")])
    assert data.users is not None and [user.tolist() for user in data.users] == [
        [0, 3],
        [1, 2],
        [4],
    ]
    assert [part.tolist() for part in partition.by_user(data.users, min_samples=2)] == [
        [0, 3],
        [1, 2],
    ]


def test_commas_quotes_backslashes_and_latin_letters_are_part_of_a_tweet(tmp_path: Path) -> None:
    said = 'she said "yes, Señor" =\\'
    rows = table([("0", "ann", said), ("4", "bob", "yes")])
    assert b'""yes' in rows and b'=\\"\n' in rows and b"\xf1" in rows
    data = loaded(tmp_path, {SUBSET: rows, TEST: table(HELD_OUT)})
    yes, said_, senor, she = range(2, 6)
    assert [row[row != 0].tolist() for row in data.train.x] == [[she, said_, yes, senor], [yes]]


# forms


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_the_archive_and_the_subset_are_read_alike_and_the_archive_first(
    tmp_path: Path, suffix: str
) -> None:
    expected = loaded(tmp_path, {SUBSET: table(TWEETS), TEST: table(HELD_OUT)}, suffix)
    data = loaded(tmp_path, {ZIP: zipped(table(TWEETS))})
    assert all(torch.equal(getattr(data.train, one), getattr(expected.train, one)) for one in "xy")
    assert all(torch.equal(getattr(data.test, one), getattr(expected.test, one)) for one in "xy")
    assert all(map(np.array_equal, data.users or (), expected.users or ()))
    assert len(loaded(tmp_path, {ZIP: zipped(table(TWEETS[:3]))}).train) == 3


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (
            {SUBSET: b'"0","1","","","ann"\n', TEST: table(HELD_OUT)},
            "cannot be read as a table of tweets",
        ),
        (
            {SUBSET: table([*TWEETS, ("3", "ann", "b")]), TEST: table(HELD_OUT)},
            "column of tweet 5 must be 0, 2 or 4",
        ),
        ({SUBSET: table(TWEETS)[:-4], TEST: table(HELD_OUT)}, "EOF inside string"),
        ({SUBSET: b"", TEST: table(HELD_OUT)}, "cannot be read as a table of tweets"),
        ({ZIP: zipped(table(TWEETS))[:-30]}, "cannot be unpacked"),
        (
            {ZIP: zipped(table(TWEETS)).replace(TEST.encode(), TEST.upper().encode())},
            f"cannot be unpacked .*{TEST}",
        ),
        ({ZIP: zipped(table(TWEETS), test=b"0\n")}, f"{TEST}: cannot be read as a table"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, contents: dict[str, bytes], said: str) -> None:
    with pytest.raises(DatasetCorrupt, match=rf"sentiment140/t.*{said}.*data verify sentiment140"):
        loaded(tmp_path, contents)


def test_no_fetch_replaces_a_subset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = {SUBSET: table(TWEETS), TEST: table(HELD_OUT)}
    layouts = (SENTIMENT140.layouts[0], SENTIMENT140.layouts[1]._replace(members=members_of(part)))
    monkeypatch.setitem(SOURCES, "sentiment140", SENTIMENT140._replace(layouts=layouts, url=""))
    folder = write(tmp_path / "root" / "sentiment140", part)
    assert store.fetch("sentiment140", tmp_path / "root") == folder and tree(folder) == part
    assert store.verify("sentiment140", tmp_path / "root") == {
        str(folder / name): "ok" for name in part
    }
