"""The environment of an adapter is read from its file without importing it, and made."""

import os
import subprocess
from pathlib import Path

import pytest

from fedconform.command import main
from fedconform.environment import Needs, check_command, commands, needs_of, python_of

LINES = """import no_such_module
REQUIRES = ["numpy", "jax==1"]
SOURCE = "https://example.org/a/b @ 1234abcd"
ON_PATH = ["system", "."]
WORKING = True
"""
NEEDS = Needs(("numpy", "jax==1"), "https://example.org/a/b", "1234abcd", ("system", "."), True)


def test_needs_are_read_from_literals(tmp_path: Path) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(LINES, encoding="utf-8")
    assert needs_of(path) == NEEDS
    path.write_text('REQUIRES = ["numpy"]\n', encoding="utf-8")
    assert needs_of(path) == Needs(("numpy",))
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no REQUIRES"):
        needs_of(path)
    path.write_text('REQUIRES = "numpy"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="'numpy': must be a list of texts"):
        needs_of(path)


def test_the_commands_make_install_clone_and_check_out(tmp_path: Path) -> None:
    make, install, clone, checkout = commands(NEEDS, tmp_path)
    assert make[1:3] == ["-m", "venv"] and make[3] == str(tmp_path)
    assert install[0] == str(python_of(tmp_path)) and install[-2:] == ["numpy", "jax==1"]
    assert install[4].endswith("conformance")  # this package, from its source
    assert clone[:2] == ["git", "clone"] and checkout[-1] == "1234abcd"
    shown = check_command(NEEDS, tmp_path, tmp_path / "adapter.py")
    assert shown.startswith(f"cd {tmp_path / 'source'} && PYTHONPATH=")
    assert f"{tmp_path / 'source' / 'system'}{os.pathsep}" in shown
    assert shown.endswith(f"-m fedconform {tmp_path / 'adapter.py'}")


def test_show_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(LINES, encoding="utf-8")
    folder = tmp_path / "made"
    assert main(["environment", str(path), "--folder", str(folder), "--show"]) == 0
    assert "git clone" in capsys.readouterr().out and not folder.exists()
    assert main(["environment", "nobody"]) == 2


@pytest.mark.slow
def test_an_environment_runs_the_check_of_its_adapter(tmp_path: Path) -> None:
    """Needs an index of packages, for NumPy."""
    adapter = tmp_path / "adapter.py"
    source = Path(__file__).parents[2] / "conformance" / "fedconform" / "adapters"
    text = (source / "textbook_numpy.py").read_text(encoding="utf-8")
    adapter.write_text(f'{text}\n\nREQUIRES = ["numpy"]\n', encoding="utf-8")
    folder = tmp_path / "made"
    assert main(["environment", str(adapter), "--folder", str(folder)]) == 0
    command = [python_of(folder), "-m", "fedconform", str(adapter)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
