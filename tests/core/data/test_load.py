"""``load_dataset``: names, folders, what it says when a set is not there."""

from pathlib import Path

import pytest

from fedlab_core.data.dataset import DatasetNotFound
from fedlab_core.data.disk import files
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import IDX_NAMES, idx_contents, tree, write

pytestmark = pytest.mark.usefixtures("user_cache")


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"name='fashion_mnist'.*Did you mean 'fashion-mnist'\?"):
        load_dataset("fashion_mnist")


def test_not_found_names_the_command_and_creates_nothing(tmp_path: Path, user_cache: Path) -> None:
    with pytest.raises(DatasetNotFound, match=f"{user_cache}.*`python -m fedlab_core data fetch mnist`"):
        load_dataset("mnist")
    root = tmp_path / "my data"
    with pytest.raises(DatasetNotFound, match=f"data fetch cifar10 --root '{root}'`"):
        load_dataset("cifar10", root)
    assert tree(tmp_path) == {}


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
    (write(tmp_path / "named" / "mnist", idx_contents()) / IDX_NAMES[3]).unlink()
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "named"))
    with pytest.raises(DatasetNotFound, match=f"mnist lacks {IDX_NAMES[3]}"):
        load_dataset("mnist")
    write(user_cache / "mnist", idx_contents())
    assert len(load_dataset("mnist").train) == 12
