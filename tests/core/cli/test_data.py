"""The commands for data sets."""

from pathlib import Path

import pytest

from fedlab_core.cli import main
from tests.core.data.small_sets import IDX_NAMES, idx_contents, tree, write

pytestmark = pytest.mark.usefixtures("user_cache")


def run(*arguments: str) -> int:
    return main(["data", *arguments])


@pytest.mark.usefixtures("small")
def test_commands_fetch_then_verify_then_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path / "root")
    write(tmp_path / "root" / "mnist", idx_contents())
    assert run("fetch", "mnist", "--root", root) == 0
    assert run("verify", "--root", root) == 0
    assert capsys.readouterr().out.count(": ok") == 4
    assert run("list", "--root", root) == 0
    listed = capsys.readouterr().out
    assert (
        f"{IDX_NAMES[3]} in {root}/mnist" in listed
        and "cifar10: not on disk" in listed
        and "cite: " in listed
    )
    (tmp_path / "root" / "mnist" / IDX_NAMES[1]).unlink()
    assert run("verify", "mnist", "--root", root) == 1
    assert f"{IDX_NAMES[1]}: missing" in capsys.readouterr().out


def test_commands_fail_with_one_paragraph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for status, arguments, said in (
        (2, ("fetch", "mnsit"), "Did you mean 'mnist'?"),
        (2, ("verify", "mnsit"), "Did you mean 'mnist'?"),
        (2, ("verify",), "no data set is on disk"),
        (1, ("verify", "cifar10"), ""),
    ):
        assert run(*arguments) == status
        errors = " ".join(capsys.readouterr().err.split())
        assert said in errors and errors.count("error:") <= 1
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("name", ["digits", "synthetic"])
def test_built_in_sets_need_no_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", name) == run("verify", name) == 0
    assert "nothing to fetch" in capsys.readouterr().out
