"""``load_dataset``: names, folders, what it says when a set is not there."""

from pathlib import Path

import pytest

from fedlab_core.data.dataset import Dataset, DatasetNotFound
from fedlab_core.data.disk import files, store
from fedlab_core.data.disk.sources import DATASETS, SOURCES
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import (
    IDX_NAMES,
    idx_contents,
    needs_torchvision,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache")


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"name='fashion_mnist'.*Did you mean 'fashion-mnist'\?"):
        load_dataset("fashion_mnist")


@pytest.mark.parametrize("name", list(SOURCES))
def test_not_found_names_the_command_and_creates_nothing(name: str, tmp_path: Path, user_cache: Path) -> None:
    with pytest.raises(DatasetNotFound) as caught:
        load_dataset(name)
    message = str(caught.value)
    assert f"`python -m fedlab_core data fetch {name}`" in message
    assert str(user_cache) in message
    assert tree(tmp_path) == {}


def test_not_found_below_a_root_names_it_in_the_command(tmp_path: Path) -> None:
    root = tmp_path / "my data"
    with pytest.raises(DatasetNotFound, match=f"data fetch mnist --root '{root}'`"):
        load_dataset("mnist", root)


def test_a_home_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"root='~nouser-here/x': there is no home folder ~nouser-here"):
        load_dataset("mnist", "~nouser-here/x")
    with pytest.raises(ValueError, match="folder='~nouser-here': there is no home"):
        store.import_from("mnist", "~nouser-here")
    monkeypatch.setenv("FEDLAB_DATA", "~nouser-here")
    with pytest.raises(ValueError, match="FEDLAB_DATA='~nouser-here': there is no home"):
        load_dataset("mnist")


@pytest.mark.usefixtures("small")
def test_an_incomplete_set_says_what_is_missing(tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents())
    (folder / IDX_NAMES[3]).unlink()
    with pytest.raises(DatasetNotFound, match=f"mnist lacks {IDX_NAMES[3]}"):
        load_dataset("mnist", tmp_path)


@pytest.mark.usefixtures("small")
def test_roots_are_searched_in_order(tmp_path: Path, user_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_label(**options: Path) -> int:
        return int(load_dataset("mnist", **options).test.y[0])

    for label, root in enumerate((user_cache, tmp_path / "named", tmp_path / "given"), start=1):
        contents = idx_contents()
        labels = contents[IDX_NAMES[3]]
        write(root / "mnist", contents | {IDX_NAMES[3]: labels[:8] + bytes([label]) + labels[9:]})
    assert first_label() == 1
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "named"))
    assert first_label() == 2
    assert first_label(root=tmp_path / "given") == 3
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "empty"))
    assert first_label() == 1
    monkeypatch.setenv("FEDLAB_DATA", "")
    assert files.search_roots() == [user_cache]


@pytest.mark.usefixtures("small")
def test_a_complete_set_goes_before_an_incomplete_one(
    tmp_path: Path, user_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incomplete = write(tmp_path / "named" / "mnist", idx_contents())
    (incomplete / IDX_NAMES[0]).unlink()
    write(user_cache / "mnist", idx_contents())
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "named"))
    assert len(load_dataset("mnist").train) == 12


def test_synthetic_is_computed() -> None:
    data = load_dataset("synthetic")
    assert isinstance(data, Dataset) and data.users is not None and len(data.train) > 0


def test_every_name_has_a_reader_or_a_source() -> None:
    assert set(DATASETS) == {"digits", "synthetic", *SOURCES}


@needs_torchvision
def test_the_file_names_are_those_that_torchvision_publishes() -> None:
    for name in ("mnist", "fashion-mnist"):
        downloads = SOURCES[name].downloads()
        assert [item.filename for item in downloads] == [member.name + ".gz" for member in SOURCES[name].members]
        assert all(item.urls for item in downloads)
    (archive,) = SOURCES["cifar10"].downloads()
    assert archive.filename == SOURCES["cifar10"].archive and archive.urls[0].endswith("/cifar-10-binary.tar.gz")
