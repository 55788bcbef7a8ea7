"""The notebooks once for each row of a table."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from fedlab_course.cli import main
from fedlab_course.harness import rows
from tests.course.harness import planted
from tests.course.harness.planted import Run, command

PARAMETERS = (
    "mu = 0.1  # type: float strength\nseeds = [0]  # type: list[int] seeds\n"
    'profile = "quick"  # type: str p'
)
LOGGED = """\
import pathlib, time
with open("log.txt", "a") as log:
    print(mu, seeds, profile, file=log)
while mu == 2 and not pathlib.Path("go").exists():
    time.sleep(0.1)"""
CLAIM = 'from fedlab_course import claims\nclaims.check("μ is small", mu < 1)'
TABLE = """\
[[row]]
name = "small"
mu = 0.5
[[row]]
name = "wait"
mu = 2
seeds = [3, 4]
[[row]]
only = ["01"]
profile = "full"
"""


# of the second row, and of the third
STARTED = ["00_logged: started", "01_claim: started", "01_claim: started"]


def test_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(TABLE)
    assert rows.read(tmp_path / "table.toml", ["00"]) == [
        {"name": "small", "only": ["00"], "mu": 0.5},
        {"name": "wait", "only": ["00"], "mu": 2, "seeds": [3, 4]},
        {"name": "row-3", "only": ["01"], "profile": "full"},
    ]


REFUSED = [
    ("mu = 0.1", "must hold [[row]] tables and nothing else"),
    ("[[row]\n", "table.toml: Expected"),
    ("[[row]]\nmv = 1", "row row-2: parameter='mv': must be one of"),
    ("[[row]]\nmu = 'strong'", "row row-2: 00_good: mu=strong: must be a number"),
    ("[[row]]\nprofile = 'huge'", "row row-2: profile='huge': must be one of"),
    ("[[row]]\ndataset = 'mnits'", "row row-2: "),
    ("[[row]]\nonly = ['7']", "row row-2: notebook='7': must be one of"),
    ("[[row]]\nonly = 7", "only=7: must be a list of texts"),
    ("[[row]]\nname = '../x'", "row 2: name='../x': must be letters"),
    ("[[row]]\nname = 'FIRST'", "row 2: name='FIRST': another row has it"),
]


def test_a_bad_row_is_refused_before_anything_runs(tmp_path: Path, capsys) -> None:
    planted.notebook(tmp_path, "00_good", "1", parameters=planted.PARAMETERS)
    table = tmp_path / "table.toml"
    command = [
        "run",
        "--notebooks",
        str(tmp_path),
        "--out",
        str(tmp_path / "out"),
        "--rows",
        str(table),
    ]
    assert main(command) == 2
    assert "table.toml: No such file" in " ".join(capsys.readouterr().err.split())
    for text, said in REFUSED:
        first = "" if said.startswith(("must", "table")) else "[[row]]\nname = 'first'\nmu = 0.2\n"
        table.write_text(first + text)
        assert main(command) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert main(["run", "--again", "--out", str(tmp_path / "out")]) == 2
    assert "--again: works only with --rows" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three rows, stopped in the midst of the second, and the same command once more."""
    folder = tmp_path_factory.mktemp("rows")
    planted.notebook(folder, "00_logged", LOGGED, parameters=PARAMETERS)
    planted.notebook(folder, "01_claim", CLAIM, parameters=PARAMETERS)
    (folder / "table.toml").write_text(TABLE)
    given = ["--notebooks", folder, "--rows", folder / "table.toml", "--jobs", "1"]
    process = planted.start(*given, "--out", folder / "out")
    while len(logged(folder)) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130
    (folder / "stopped.html").write_text((folder / "out" / "site" / "index.html").read_text())
    (folder / "stopped.json").write_text((folder / "out" / "summary.json").read_text())
    (folder / "go").touch()
    return command(*given, out=folder / "out")


def logged(folder: Path) -> list[str]:
    return (folder / "log.txt").read_text().splitlines() if (folder / "log.txt").exists() else []


def cells(html: str) -> list[list[str]]:
    """The rows of the page's table, without markup."""
    found = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in found
    ]


posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX systems send them")


@posix
@pytest.mark.slow
def test_an_interrupted_table_tells_what_is_done(again: Run) -> None:
    folder = again.out.parent
    summary = json.loads((folder / "stopped.json").read_text())
    assert summary["finished"] is False
    assert [row["status"] for row in summary["rows"]] == ["ok", "not run", "not run"]
    html = (folder / "stopped.html").read_text()
    assert [row[:4] for row in cells(html)] == [
        ["Row", "mu", "seeds", "profile"],
        ["small", "0.5", "", ""],
        ["wait", "2", "[3, 4]", ""],
        ["row-3", "", "", "full"],
    ]
    assert re.findall(r'href="\.\./([^"]*)"', html) == ["rows/small/site/index.html"]


@posix
@pytest.mark.slow
def test_a_row_that_is_done_is_kept_and_the_others_are_run(again: Run) -> None:
    assert again.status == 0, again.stderr
    assert logged(again.out.parent) == ["0.5 [0] quick", "2.0 [3, 4] quick", "2.0 [3, 4] quick"]
    lines = [line for line in again.stdout.splitlines() if line.startswith("[")]
    assert [line.split()[1] for line in lines] == ["small", "wait", "row-3"]
    assert [line.endswith("(kept)") for line in lines] == [True, False, False]
    assert [line for line in again.stdout.splitlines() if line.endswith("started")] == STARTED


@posix
@pytest.mark.slow
def test_each_row_has_its_folder_and_the_page_links_to_all(again: Run) -> None:
    assert again.summary["finished"] is True
    assert [row["status"] for row in again.summary["rows"]] == ["ok", "ok", "ok"]
    for name, notebooks in {"small": 2, "wait": 2, "row-3": 1}.items():
        folder = again.out / "rows" / name
        summary = json.loads((folder / "summary.json").read_text())
        assert [entry["status"] for entry in summary["notebooks"]] == ["ok"] * notebooks
        for address in re.findall(
            r'(?:src|href)="([^"#:]+)"', (folder / "site" / "01_claim.html").read_text()
        ):
            assert (folder / "site" / address).is_file(), address
    given = json.loads((again.out / "rows" / "row-3" / "summary.json").read_text())["notebooks"][0][
        "parameters"
    ]
    assert given == {"mu": 0.1, "seeds": [0], "profile": "full"}
    html = (again.out / "site" / "index.html").read_text()
    links = re.findall(r'href="(\.\./[^"]*)"', html)
    assert len(links) == 3
    assert all((again.out / "site" / link).is_file() for link in links)
    assert [row[-1] for row in cells(html)] == ["Claims that hold", "1 of 1", "0 of 1", "1 of 1"]


def test_only_what_has_changed_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a change in one row, and whatever has changed when it is asked for; a row that failed
    is not done.
    """
    table = tmp_path / "table.toml"
    text = "[[row]]\nname = 'a'\nmu = {}\n[[row]]\nname = 'b'\nmu = 0\n"

    def kept(*more: str) -> list[bool]:
        main(
            [
                "run",
                "--notebooks",
                str(tmp_path),
                "--rows",
                str(table),
                "--out",
                str(tmp_path / "out"),
                *more,
            ]
        )
        return [
            line.endswith("(kept)")
            for line in capsys.readouterr().out.splitlines()
            if line.startswith("[")
        ]

    planted.notebook(tmp_path, "01_claim", "1 / mu", parameters=PARAMETERS)
    table.write_text(text.format("0.3"))
    assert kept() == [False, False]
    assert kept() == [True, False]
    table.write_text(text.format("0.4"))
    assert kept() == [False, False]
    table.write_text(text.partition("[[row]]\nname = 'b'")[0].format("0.4"))
    assert kept() == [True]
    assert kept("--again") == [False]
