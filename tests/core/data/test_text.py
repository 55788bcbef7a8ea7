"""Sentiment140: its forms on disk, and tweets as token ids. The small tables here have the official layout."""

import csv
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from fedlab_core.data import Dataset, partition
from fedlab_core.data.disk import store, text
from fedlab_core.data.disk.download import FetchFailed
from fedlab_core.data.disk.files import UNPUBLISHED, DatasetCorrupt
from fedlab_core.data.disk.sources import MOST_BYTES, SENTIMENT140, SENTIMENT140_FILES, SOURCES, Member, Source
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import Mirror, md5, tree, write

ZIP = "trainingandtestdata.zip"
SUBSET = "training.subset.noemoticon.csv"
TRAIN, TEST = SENTIMENT140_FILES
# Polarity, account, text. "b" comes three times, "a" and "c" twice, "d" and "e" once.
TWEETS = [("0", "ann", "b a b"), ("4", "bob", "c a"), ("0", "bob", "E"), ("4", "ann", "d, b c")]
HELD_OUT = [("4", "x", "a z"), ("2", "x", "b"), ("0", "y", "")]


def table(rows: list[tuple[str, str, str]]) -> bytes:
    """Every value in quotes, Latin-1, no header, as in the published files."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows((polarity, i, "", "NO_QUERY", who, said) for i, (polarity, who, said) in enumerate(rows))
    return file.getvalue().encode("latin-1")


def tables(train: list[tuple[str, str, str]] = TWEETS) -> dict[str, bytes]:
    return {TRAIN: table(train), TEST: table(HELD_OUT)}


def zipped(contents: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return file.getvalue()


PUBLISHED = zipped(tables())
PART = {SUBSET: table(TWEETS), TEST: table(HELD_OUT)}


@pytest.fixture(autouse=True)
def small(user_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive and the subset have the checksums of small ones; between them stand the tables that have none."""
    monkeypatch.setitem(SOURCES, "sentiment140", published_by())


def published_by(*mirrors: str) -> Source:
    part = tuple(Member(name, len(data), md5(data)) for name, data in PART.items())
    zipped = (Member(ZIP, MOST_BYTES, md5(PUBLISHED)),)
    return SENTIMENT140._replace(members=zipped, mirrors=mirrors, others=(SENTIMENT140.others[0], part))


def loaded(tmp_path: Path, contents: dict[str, bytes], suffix: str = "") -> Dataset:
    write(tmp_path / "sentiment140", contents, suffix)
    return load_dataset("sentiment140", tmp_path)


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
    data = loaded(tmp_path, tables())
    b, a, c, d, e = range(2, 7)
    assert data.train.x.dtype == torch.int64 and data.train.x.shape == (4, 30)
    assert [row[row != 0].tolist() for row in data.train.x] == [[b, a, b], [c, a], [e], [d, b, c]]
    assert data.train.y.tolist() == [0, 1, 0, 1]
    assert (data.name, data.num_classes, data.classes) == ("sentiment140", 2, ("negative", "positive"))
    assert data.test.x[0].tolist() == [0] * 28 + [a, 1]  # "z" is in no training tweet
    assert data.test.x[1].tolist() == [0] * 30 and data.test.y.tolist() == [1, 0]  # the neutral one is left out
    monkeypatch.setattr(text, "VOCABULARY", 4)
    data = loaded(tmp_path, tables())
    assert [row[row != 0].tolist() for row in data.train.x] == [[2, 3, 2], [1, 3], [1], [1, 2, 1]]


def test_of_a_long_tweet_the_last_tokens_count_and_a_short_one_stands_on_the_right(tmp_path: Path) -> None:
    words = [f"w{chr(ord('a') + i)}" for i in range(26)] + ["x", "y", "z", "xa", "xb", "xc", "xd"]
    data = loaded(
        tmp_path, tables([("0", "ann", " ".join(words)), ("4", "ann", "z"), ("4", "bob", " ".join(words[:30]))])
    )
    whole, one, fits = data.train.x.tolist()
    assert len(set(whole)) == 30 and 0 not in whole and whole[:-3] == fits[3:] and one == [0] * 29 + [whole[25]]
    assert len(set(fits)) == 30 and 0 not in fits


def test_an_account_is_a_client(tmp_path: Path) -> None:
    data = loaded(tmp_path, tables([*TWEETS, ("2", "cyd", "neither"), ("4", "cyd", "b")]))
    assert data.users is not None and [user.tolist() for user in data.users] == [[0, 3], [1, 2], [4]]
    assert [part.tolist() for part in partition.by_user(data.users, min_samples=2)] == [[0, 3], [1, 2]]


def test_commas_quotes_backslashes_and_latin_letters_are_part_of_a_tweet(tmp_path: Path) -> None:
    said = 'she said "yes, Señor" =\\'
    rows = table([("0", "ann", said), ("4", "bob", "yes")])
    assert b'""yes' in rows and b'=\\"\n' in rows and b"\xf1" in rows
    data = loaded(tmp_path, {TRAIN: rows, TEST: table(HELD_OUT)})
    yes, said_, senor, she = range(2, 6)
    assert [row[row != 0].tolist() for row in data.train.x] == [[she, said_, yes, senor], [yes]]


# forms


@pytest.mark.parametrize(
    ("contents", "suffix"),
    [({ZIP: PUBLISHED}, ""), (tables(), ".gz"), (tables(), ".xz"), (PART, ""), (PART, ".gz")],
)
def test_every_form_is_read_as_it_is(tmp_path: Path, contents: dict[str, bytes], suffix: str) -> None:
    expected, data = loaded(tmp_path / "other", tables()), loaded(tmp_path, contents, suffix)
    assert all(torch.equal(getattr(data.train, one), getattr(expected.train, one)) for one in "xy")
    assert all(torch.equal(getattr(data.test, one), getattr(expected.test, one)) for one in "xy")
    assert data.users is not None and expected.users is not None
    assert all(map(np.array_equal, data.users, expected.users))


def test_the_published_archive_goes_before_the_subset(tmp_path: Path) -> None:
    write(tmp_path / "sentiment140", PART)
    (tmp_path / "sentiment140" / ZIP).write_bytes(zipped(tables(TWEETS[:3])))
    assert len(load_dataset("sentiment140", tmp_path).train) == 3


def cut(data: bytes, by: int) -> bytes:
    return data[:-by]


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        (TRAIN, tables() | {TRAIN: b'"0","1","","","ann"\n'}, "line 1 must have six columns"),
        (TRAIN, tables([*TWEETS, ("3", "ann", "b")]), "line 5 must have six columns, the first of which is 0, 2 or 4"),
        (TRAIN, tables() | {TRAIN: cut(table(TWEETS), 4)}, "ends in the middle of a tweet"),
        (TRAIN, tables() | {TRAIN: b""}, "holds no tweet"),
        (TEST, tables() | {TEST: b"polarity,id,date,query,user,text\n"}, "line 1 must have six columns"),
        (SUBSET, PART | {SUBSET: table(TWEETS[:3])}, "must hold"),
        (ZIP, {ZIP: cut(PUBLISHED, 30)}, "cannot be unpacked"),
        (ZIP, {ZIP: zipped({TRAIN: table(TWEETS)})}, f"cannot be unpacked .*{TEST}"),
        (ZIP, {ZIP: PUBLISHED.replace(PUBLISHED[60:80], bytes(20))}, "cannot be unpacked"),
        (ZIP, {ZIP: zipped(tables() | {TEST: b"0\n"})}, f"{TEST}: line 1 must have six columns"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, contents: dict[str, bytes], said: str) -> None:
    with pytest.raises(DatasetCorrupt, match=rf"sentiment140/{name}.*{said}.*data verify sentiment140"):
        loaded(tmp_path, contents)


def test_what_unpacks_to_more_than_the_set_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = len(PUBLISHED) - 1
    assert all(len(data) <= most for data in tables().values())
    bounded = tuple(Member(name, most, "") for name in SENTIMENT140_FILES)
    small = published_by()._replace(members=(Member(ZIP, MOST_BYTES, ""),), others=(bounded,))
    monkeypatch.setitem(SOURCES, "sentiment140", small)
    monkeypatch.setattr(text, "MOST_BYTES", most)
    with pytest.raises(DatasetCorrupt, match=f"{TRAIN} holds 2800 bytes, more than {most}"):
        loaded(tmp_path / "zip", {ZIP: zipped({TRAIN: bytes(2800), TEST: table(HELD_OUT)})})
    with pytest.raises(DatasetCorrupt, match=rf"{TRAIN}.gz: must hold .*, but holds more than {most}"):
        loaded(tmp_path / "gz", {TRAIN: bytes(2800), TEST: table(HELD_OUT)}, ".gz")


# fetch, import, verify


def test_fetch_keeps_the_archive_as_published(
    mirror: Callable[[dict[str, bytes]], Mirror], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = mirror({ZIP: PUBLISHED})
    write(tmp_path / "whole" / "sentiment140", {TEST: b"a file of another form"})
    monkeypatch.setitem(SOURCES, "sentiment140", published_by(server.url))
    part = write(tmp_path / "part" / "sentiment140", PART, ".gz")
    assert store.fetch("sentiment140", tmp_path / "part", progress=False) == part
    assert server.requests == []  # a part of the set is not replaced
    folder = store.fetch("sentiment140", tmp_path / "whole", progress=False)
    assert tree(folder) == {ZIP: PUBLISHED, TEST: b"a file of another form"}
    assert [report.state for report in store.verify("sentiment140", tmp_path / "whole")] == ["ok"]
    assert len(load_dataset("sentiment140", tmp_path / "whole").train) == 4


@pytest.mark.parametrize(
    ("contents", "suffix", "states"),
    [
        ({ZIP: PUBLISHED}, "", {ZIP: "ok"}),
        (tables(), ".gz", dict.fromkeys(SENTIMENT140_FILES, UNPUBLISHED)),
        (PART, ".xz", dict.fromkeys(PART, "ok")),
    ],
)
def test_import_takes_every_form(
    tmp_path: Path, contents: dict[str, bytes], suffix: str, states: dict[str, str]
) -> None:
    given = write(tmp_path / "given", contents, suffix)
    folder = store.import_from("sentiment140", given, tmp_path / "root")
    assert tree(folder) == tree(given)
    assert {report.name: report.state for report in store.verify("sentiment140", tmp_path / "root")} == states


@pytest.mark.parametrize(
    ("contents", "name"),
    [
        ({ZIP: zipped(tables() | {"../../evil.csv": b"evil"})}, ZIP),
        ({ZIP: zipped(tables(TWEETS[:2]))}, ZIP),
        (PART | {SUBSET: table([("4", *TWEETS[0][1:]), *TWEETS[1:]])}, SUBSET),
    ],
)
def test_import_of_other_files_is_refused(tmp_path: Path, contents: dict[str, bytes], name: str) -> None:
    given = write(tmp_path / "given", contents)
    with pytest.raises(FetchFailed, match=f"{name}: wrong checksum"):
        store.import_from("sentiment140", given, tmp_path / "root")
    assert not (tmp_path / "root" / "sentiment140").exists()
    with pytest.raises(FetchFailed, match=rf"needs {ZIP}; or {TRAIN}, {TEST}; or {SUBSET}, {TEST}, each plain or"):
        store.import_from("sentiment140", tmp_path, tmp_path / "root")
