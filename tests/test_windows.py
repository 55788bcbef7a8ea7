"""What differs on Windows, as far as another system can show it: encodings, open files, processes,
line ends.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fedlab_core import files

ROOT = Path(__file__).parents[1]
PROGRAMS = ("conformance", "fedlab_core", "fedlab_course", "tools", "data_scripts")


def test_every_text_file_is_opened_with_its_encoding() -> None:
    """Windows would take its own code page, in which μ cannot be read."""
    rule = ["--preview", "--select", "PLW1514", "--output-format", "concise"]
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *rule, *PROGRAMS], cwd=ROOT, capture_output=True
    )
    assert found.returncode == 0, found.stdout.decode()


def test_output_into_a_pipe_of_windows_does_not_end_the_program() -> None:
    """Its code page has no μ and no ≥. What cannot be said is a question mark, and the rest is
    there.
    """
    script = "import sys\nfrom fedlab_core.cli import program\n"
    script += "def say(parsed):\n    print('μ ≥ 0 ✓ holds')\n    return 0\n"
    script += "def add(parser):\n    parser.set_defaults(run=say)\n"
    script += "sys.exit(program.run('x', 'y', {'say': ('z', add)}, ['say']))"
    environment = {
        **os.environ,
        "PYTHONIOENCODING": "cp1252",
        "PYTHONUTF8": "0",
        "PYTHONPATH": str(ROOT),
    }
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode("cp1252").split() == ["?", "?", "0", "?", "holds"]


def test_a_file_is_closed_before_it_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Windows moves no open file."""
    opened: list[Any] = []
    replace = os.replace

    def replacing(source: Path, target: Path) -> None:
        assert opened[0].closed
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", replacing)
    with files.replacing(tmp_path / "file") as file:
        opened.append(file)
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_checkout_has_the_same_line_ends_everywhere() -> None:
    """Digests of source and of tables are taken of bytes."""
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8")
    assert re.search(r"^\* text=auto eol=lf$", attributes, re.MULTILINE)
    listed = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:  # an unpacked archive is no checkout
        assert not [
            line for line in listed.stdout.splitlines() if line.startswith(("i/crlf", "i/mixed"))
        ]
