"""The command ``course`` on planted notebooks."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from fedlab_course.cli import main
from fedlab_course.folders import select
from fedlab_course.harness import executed, kernel, notebook_parameters
from fedlab_course.harness.course_plan import Options, Result
from fedlab_course.harness.course_run import run_course
from tests.course.harness import planted
from tests.course.harness.planted import Run


def printed_facts(run: Run) -> dict:
    notebook = nbformat.read(run.out / "notebooks" / "00_good.ipynb", as_version=4)
    texts = [
        "".join(o["text"])
        for c in notebook.cells
        for o in c.get("outputs", [])
        if o["output_type"] == "stream"
    ]
    line = next(line for text in texts for line in text.splitlines() if line.startswith("FACTS "))
    return json.loads(line.removeprefix("FACTS "))


def test_a_good_run_succeeds(good: Run) -> None:
    assert good.status == 0, good.stderr
    assert good.summary["finished"] is True
    assert [entry["status"] for entry in good.summary["notebooks"]] == ["ok", "ok"]
    # three for each notebook: started, ended and result; one for the site
    assert len(good.stdout.splitlines()) == 7
    assert "[1/2] 00_good" in good.stdout
    assert "1 of 2 claims hold" in good.stdout
    assert good.stderr == ""


def test_the_kernel_is_this_interpreter_with_this_library_and_has_the_parameters(good: Run) -> None:
    facts = printed_facts(good)
    given = {"profile": "quick", "mu": 0.3, "fast": False, "seeds": [4, 5, 6], "dataset": "digits"}
    assert good.entry("00_good")["parameters"] == given
    assert {name: facts[name] for name in given} == given
    assert os.path.samefile(facts["python"], sys.executable)
    assert Path(facts["library"]).parent == Path(__file__).parents[3] / "fedlab_core"
    assert facts["headless"] == "1"
    assert os.path.samefile(facts["folder"], good.out.parent)
    # Sockets of the kernel, for example, would collide with those of another run.
    assert sorted(path.name for path in good.out.parent.iterdir()) == [
        "00_good.ipynb",
        "01_next.ipynb",
        "out",
    ]


def test_the_summary_has_times_and_verdicts(good: Run) -> None:
    entry = good.entry("00_good")
    assert entry["seconds"] > 0
    assert entry["error"] is None
    assert entry["verdicts"] == [
        {"claim": "Squares grow", "holds": True, "evidence": "4, then 9"},
        {"claim": "Squares <shrink>", "holds": False, "evidence": ""},
    ]
    # shown twice
    assert [(one["id"], one["verdict"]) for one in entry["stored"]] == [("000-2", "confirmed")]


def test_executed_notebooks_hold_outputs_but_no_widget_state_and_no_paths(good: Run) -> None:
    text = (good.out / "notebooks" / "00_good.ipynb").read_text()
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "application/vnd.jupyter.widget" not in text
    assert "papermill" not in text
    assert "inside the widget 2" in text
    assert "application/vnd.plotly.v1+json" in text


def test_every_way_to_fail_is_reported_and_does_not_stop_the_others(failing: Run) -> None:
    assert failing.status == 1
    assert failing.entry("20_last")["status"] == "ok"
    said = [line.split()[1] for line in failing.stderr.splitlines() if line.startswith("error: ")]
    assert said == list(planted.FAILING), failing.stderr
    assert "Traceback" not in failing.stderr
    for name, (_, expected) in planted.FAILING.items():
        entry = failing.entry(name)
        assert entry["status"] == "failed"
        assert expected in entry["error"]
        assert f"error: {name} failed: {expected}" in failing.stderr


def test_a_failed_notebook_is_kept_with_its_error(failing: Run) -> None:
    for name in ("10_error", "15_timeout", "16_dead"):
        notebook = nbformat.read(failing.out / "notebooks" / f"{name}.ipynb", as_version=4)
        errors = [
            o for c in notebook.cells for o in c.get("outputs", []) if o["output_type"] == "error"
        ]
        assert len(errors) == 1
    assert "stopped with an error" in (failing.out / "site" / "10_error.html").read_text()


REFUSED = [
    (["--set", "mv=0.3"], ["parameter='mv'", "Did you mean 'mu'?"]),
    (["--set", "mu=strong"], ["00_good: mu=strong", "must be a number"]),
    (["--set", "mu"], ["NAME=VALUE"]),
    (["--set", "profile=huge"], ["parameter profile", "--profile"]),
    (["--set", "dataset=mnits"], ["parameter dataset", "--dataset"]),
    (["--only", "00_godo"], ["notebook='00_godo': must be one of", "Did you mean '00_good'?"]),
    (["--dataset", "mnits"], ["mnits", "mnist"]),
    # papermill takes no other
    (["--timeout", "0.5"], ["--timeout", "0.5: must be a whole number > 0"]),
    (["--jobs", "0"], ["--jobs", "0: must be a whole number > 0"]),
    (["--profile", "fast"], ["invalid choice: 'fast'", "quick"]),
]


def test_bad_arguments_are_refused_before_anything_runs(tmp_path: Path, capsys) -> None:
    planted.notebook(tmp_path, "00_good", "1", parameters=planted.PARAMETERS)
    for arguments, said in REFUSED:
        try:
            status = main(
                ["run", "--notebooks", str(tmp_path), "--out", str(tmp_path / "out"), *arguments]
            )
        except SystemExit as stop:  # argparse
            status = stop.code
        message = " ".join(capsys.readouterr().err.split())
        assert status == 2
        assert all(words in message for words in said), message
        assert "Traceback" not in message
    with pytest.raises(ValueError, match="profile='huge': must be"):
        run_course(Options(profile="huge", out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_command_takes_no_option_without_effect(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["build", "student", "--profile", "full"],
        ["grade", "a", "--only", "02"],
        ["lint", "--out", "b"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        assert f"unrecognized arguments: {arguments[-2]}" in capsys.readouterr().err


def test_a_file_for_a_folder_is_refused(tmp_path: Path, capsys) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    for arguments, said in [
        (["build", "student", "--out", f"{file}"], f"--out {file}: there is a file with this name"),
        (
            ["run", "--only", "00", "--out", f"{file}/below"],
            f"--out {file}/below: there is a file with this name",
        ),
        (["run", "--notebooks", f"{file}"], f"--notebooks {file}: is a file"),
    ]:
        assert main(arguments) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert file.read_text() == "kept"


def test_a_badly_declared_parameter_is_refused(tmp_path: Path) -> None:
    for line, said in [
        ("mu = 0.1", "mu = 0.1: needs a comment"),
        ("mu = 0.1  # type: double strength", "mu = 0.1: needs a comment"),
        ("mu = 1 / 3  # type: float strength", "is not a literal"),
        ('mu = "0.1"  # type: float strength', "must be a number"),
        ("mu = 0.5  # type: int strength", "must be an integer"),
    ]:
        path = planted.notebook(tmp_path, "00_bad", "1", parameters=line)
        with pytest.raises(ValueError, match="00_bad: parameter mu") as caught:
            notebook_parameters.declared(path)
        assert said in str(caught.value)


def test_a_parameter_of_one_notebook_is_given_to_that_one_only(tmp_path: Path) -> None:
    paths = {
        "a": planted.notebook(
            tmp_path, "a", parameters='profile = "quick"  # type: str p\nmu = 0.1  # type: float m'
        ),
        "b": planted.notebook(
            tmp_path,
            "b",
            parameters="mu = None  # type: float|None m\ns = [0]  # type: list[int] s",
        ),
        "c": planted.notebook(tmp_path, "c"),
    }
    declared = {name: notebook_parameters.declared(path) for name, path in paths.items()}
    values = notebook_parameters.resolve(declared, {"profile": "full"}, {"mu": "1", "s": "[3]"})
    assert values == {"a": {"profile": "full", "mu": 1.0}, "b": {"mu": 1.0, "s": [3]}, "c": {}}
    assert declared["b"]["mu"].default is None
    assert declared["a"]["mu"].help == "m"


def test_a_formula_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    planted.notebook(tmp_path, "00_good", "1", text=r"This is $\nosuchcommand{x}$.")
    with pytest.raises(ValueError, match=r"00_good: cell 1: formula \$\\nosuchcommand"):
        run_course(Options(notebooks=tmp_path, out=tmp_path / "out"))


def test_cells_with_widgets_do_not_stall(tmp_path: Path) -> None:
    """Each such cell stood still until its timeout, which is an error, once in twenty times: a
    reply was missed.
    """
    cell = (
        "from ipywidgets import interact\n@interact(x=(0, 3))\ndef f(x):\n    print(x)\n"
        "    display(x)\n"
    )
    path = planted.notebook(tmp_path, "00_widgets", *[cell] * 40)
    with kernel.environment() as workspace:
        assert executed.problems(kernel.execute(path, {}, workspace, timeout=300)) == []


def test_without_the_extra_the_command_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["run", "--out", str(tmp_path / "out")]) == 1
    assert "'.[course]'" in capsys.readouterr().err


def test_only_selects_by_number_and_by_name(tmp_path: Path) -> None:
    paths = [planted.notebook(tmp_path, name) for name in ("00_a", "01_b", "02_c")]
    assert select(tmp_path, []) == paths
    assert select(tmp_path, ["02", "00_a.ipynb"]) == [paths[0], paths[2]]
    with pytest.raises(ValueError, match="no notebooks"):
        select(tmp_path / "nowhere", [])


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="a folder in which not even root may write"
)
def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(
    tmp_path: Path, capsys
) -> None:
    planted.notebook(tmp_path, "00_good", "import pathlib\npathlib.Path('begun').touch()")
    for arguments in (["run", "--notebooks", str(tmp_path)], ["build", "student", "--only", "02"]):
        assert main([*arguments, "--out", "/proc/self"]) == 2
        assert "--out /proc/self: cannot be written to" in " ".join(capsys.readouterr().err.split())
    blocked = tmp_path / "out" / "site"
    blocked.parent.mkdir()
    blocked.touch()
    assert main(["run", "--notebooks", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert str(blocked) in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "begun").exists()


def test_the_notebooks_that_are_run_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notebooks").mkdir()
    path = planted.notebook(tmp_path / "notebooks", "00_good", "1")
    before = path.read_bytes()
    assert main(["run", "--notebooks", str(path.parent), "--out", str(tmp_path)]) == 2
    assert "would overwrite" in " ".join(capsys.readouterr().err.split())
    assert path.read_bytes() == before


def test_the_command_says_how_many_pages_are_under_earlier_names(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    for names, word in (
        (["05_fedmas", "06_shootout"], "3 earlier names of chapters"),
        (["00_start_here"], None),
    ):
        results = [Result(name, "ok") for name in names]
        monkeypatch.setattr(
            "fedlab_course.harness.course_run.run_course", lambda options, results=results: results
        )
        assert main(["run", "--out", str(tmp_path)]) == 0
        out = capsys.readouterr().out
        assert word in out if word else "earlier" not in out


def test_files_of_the_last_run_go_and_those_of_a_person_stay(tmp_path: Path) -> None:
    """The last run had a chapter with earlier names and a script; this run has neither."""
    out = tmp_path / "out"
    listed = [
        "site/04_fedsso.html",
        "site/04_who_is_asked.html",
        "site/assets/old.js",
        "../outside.txt",
    ]
    mine = ["site/mine.html", "site/assets/mine.js", "notebooks/mine.ipynb", "mine.txt"]
    for file in (*listed, *mine):
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (out / file).write_text("old")
    last = {"finished": True, "notebooks": [{"name": "04_fedsso", "status": "ok"}], "files": listed}
    (out / "summary.json").write_text(json.dumps(last))
    planted.notebook(tmp_path, "00_good", "1")
    run_course(Options(notebooks=tmp_path, out=out))
    assert not any((out / file).exists() for file in listed[:3])
    assert all((out / file).read_text() == "old" for file in (*mine, "../outside.txt"))
    files = json.loads((out / "summary.json").read_text())["files"]
    assert {"site/00_good.html", "site/index.html", "site/assets/site.css"} < set(files)
    assert all((out / file).is_file() for file in files)


def wait_for(path: Path, process: subprocess.Popen) -> None:
    """Wait until the process writes the file."""
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.1)


def plant_finished_run(out: Path, names: list[str]) -> None:
    """Write what a whole run of the notebooks ``names`` leaves in the folder ``out``."""
    (out / "notebooks").mkdir(parents=True)
    (out / "site").mkdir()
    for name in names:
        (out / "notebooks" / f"{name}.ipynb").write_text("old")
        (out / "site" / f"{name}.html").write_text("old")
    (out / "site" / "index.html").write_text("old")
    entries = [{"name": name, "status": "ok"} for name in names]
    (out / "summary.json").write_text(json.dumps({"finished": True, "notebooks": entries}))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX systems send them")
def test_a_run_is_alone_in_its_folder_and_leaves_nothing_stale_even_if_it_is_killed(
    tmp_path: Path, capsys
) -> None:
    """A run is killed in its second notebook, over a folder that a whole run has left."""
    out = tmp_path / "out"
    command = ["--notebooks", str(tmp_path), "--out", str(out), "--jobs", "1"]
    plant_finished_run(out, ["00_done", "01_long"])
    (out / "notebooks" / "mine.ipynb").write_text("old")
    planted.notebook(tmp_path, "00_done", "1")
    planted.notebook(
        tmp_path, "01_long", "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)"
    )
    process = planted.start(*command)
    try:
        wait_for(tmp_path / "begun", process)
        before = (out / "summary.json").read_bytes()
        assert main(["run", *command]) == 2
        assert f"--out {out}: another run writes there now" in " ".join(
            capsys.readouterr().err.split()
        )
        assert (out / "summary.json").read_bytes() == before
    finally:
        process.kill()
        process.communicate()
    summary = json.loads(before)
    assert summary["finished"] is False
    assert [entry["status"] for entry in summary["notebooks"]] == ["ok", "not run"]
    assert not [*(out / "site").glob("index.html"), *(out / "site").glob("01_long.html")]
    assert main(["run", *command, "--only", "00"]) == 0
    assert json.loads((out / "summary.json").read_text())["finished"] is True
    assert sorted(path.name for path in (out / "notebooks").iterdir()) == [
        "00_done.ipynb",
        "mine.ipynb",
    ]
    pages = [
        "00_done.html",
        "00_done_slides.html",
        "evidence.html",
        "index.html",
        "playground.html",
        "slides.html",
        "symbols.html",
    ]
    assert sorted(path.name for path in (out / "site").glob("*.html")) == pages
