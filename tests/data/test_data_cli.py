"""The commands for data sets."""

import argparse
from pathlib import Path

import pytest

from fedlab_core.data import cli, store
from tests.data.small_sets import IDX_NAMES, idx_contents, tree, write

pytestmark = pytest.mark.usefixtures("user_cache")


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli.configure(parser)
    parsed = parser.parse_args(arguments)
    status: int = parsed.run(parsed)
    return status


@pytest.mark.usefixtures("small")
def test_commands_import_then_verify_then_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, root = write(tmp_path / "given", idx_contents(), ".gz"), str(tmp_path / "root")
    assert run("fetch", "mnist", "--from", str(given), "--root", root) == 0
    assert run("verify", "--root", root) == 0
    assert capsys.readouterr().out.count(": ok") == 4
    assert run("list", "--root", root) == 0
    listed = capsys.readouterr().out
    assert f"mnist: {root}/mnist" in listed and "cifar10: not on disk" in listed and "cite: " in listed
    (tmp_path / "root" / "mnist" / f"{IDX_NAMES[1]}.gz").unlink()
    assert run("verify", "mnist", "--root", root) == 1
    assert f"{IDX_NAMES[1]}: missing" in capsys.readouterr().out


def test_commands_fail_with_one_paragraph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (("fetch", "mnsit"), "Did you mean 'mnist'?"),
        (("verify", "mnsit"), "Did you mean 'mnist'?"),
        (("verify",), "no data set on disk"),
        (("verify", "cifar10"), ""),
        (("fetch", "mnist", "--from", str(tmp_path)), "none of its files"),
    ):
        assert run(*arguments) == 1
        errors = capsys.readouterr().err
        assert said in errors and errors.count("\n") <= 1
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("name", ["digits", "synthetic"])
def test_built_in_sets_need_no_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", name) == run("verify", name) == 0
    assert "nothing to fetch" in capsys.readouterr().out


def test_an_interrupted_command_returns_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "fetch", interrupt)
    assert run("fetch", "mnist") == 130
