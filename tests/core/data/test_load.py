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
    with pytest.raises(
        DatasetNotFound, match=f"{user_cache}.*`python -m fedlab_core data fetch mnist`"
    ):
        load_dataset("mnist")
    root = tmp_path / "my data"
    with pytest.raises(DatasetNotFound, match=f"data fetch cifar10 --root '{root}'`"):
        load_dataset("cifar10", root)
    assert tree(tmp_path) == {}


@pytest.mark.usefixtures("small")
def test_roots_are_searched_in_order(
    tmp_path: Path, user_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder has the set without its first file, so that the error names the folder that was
    chosen.
    """

    def chosen(**options: Path) -> Path:
        with pytest.raises(DatasetNotFound, match=IDX_NAMES[0]) as caught:
            load_dataset("mnist", **options)
        message = str(caught.value)
        (root,) = (root for root in (user_cache, named, given) if f"{root}/mnist lacks" in message)
        return root

    named = tmp_path / "named"
    given = tmp_path / "given"
    for root in (user_cache, named, given):
        (write(root / "mnist", idx_contents()) / IDX_NAMES[0]).unlink()
    assert chosen() == user_cache
    monkeypatch.setenv("FEDLAB_DATA", str(named))
    assert chosen() == named
    assert chosen(root=given) == given
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "empty"))
    assert chosen() == user_cache
    monkeypatch.setenv("FEDLAB_DATA", "")
    assert files.search_roots() == [user_cache]


@pytest.mark.usefixtures("small", "vision")
def test_a_complete_set_goes_before_an_incomplete_one(
    tmp_path: Path, user_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (write(tmp_path / "named" / "mnist", idx_contents()) / IDX_NAMES[3]).unlink()
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path / "named"))
    with pytest.raises(DatasetNotFound, match=f"mnist lacks {IDX_NAMES[3]}"):
        load_dataset("mnist")
    write(user_cache / "mnist", idx_contents())
    assert len(load_dataset("mnist").train) == 12
