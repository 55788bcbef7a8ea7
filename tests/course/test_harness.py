"""The command ``course`` on planted notebooks."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from tests.course import planted
from tests.course.planted import Run, command


def printed_facts(run: Run) -> dict:
    notebook = nbformat.read(run.out / "notebooks" / "00_good.ipynb", as_version=4)
    texts = ["".join(o["text"]) for c in notebook.cells for o in c.get("outputs", []) if o["output_type"] == "stream"]
    line = next(line for text in texts for line in text.splitlines() if line.startswith("FACTS "))
    return json.loads(line.removeprefix("FACTS "))


def test_a_good_run_succeeds(good: Run) -> None:
    assert good.status == 0, good.stderr
    assert [entry["status"] for entry in good.summary["notebooks"]] == ["ok", "ok"]
    assert good.stdout.count("\n") == 3  # one line for each notebook, one for the site
    assert "[1/2] 00_good" in good.stdout
    assert "1 of 2 claims hold" in good.stdout
    assert good.stderr == ""


def test_parameters_arrive_with_their_types(good: Run) -> None:
    facts = printed_facts(good)
    assert facts["mu"] == 0.3
    assert facts["fast"] is False
    assert facts["seeds"] == [4, 5, 6]
    assert facts["profile"] == "quick"
    assert facts["dataset"] == "digits"


def test_the_kernel_is_this_interpreter_with_this_library(good: Run) -> None:
    facts = printed_facts(good)
    assert os.path.samefile(facts["python"], sys.executable)
    assert Path(facts["library"]).parent == Path(__file__).parents[2] / "fedlab_core"
    assert facts["headless"] == "1"
    assert os.path.samefile(facts["folder"], good.out.parent)


def test_nothing_is_left_beside_the_notebooks(good: Run) -> None:
    """Sockets of the kernel, for example, would collide with those of another run."""
    assert sorted(path.name for path in good.out.parent.iterdir()) == ["00_good.ipynb", "01_next.ipynb", "out"]


def test_the_summary_holds_parameters_times_and_verdicts(good: Run) -> None:
    entry = good.entry("00_good")
    assert entry["parameters"] == {
        "profile": "quick",
        "mu": 0.3,
        "fast": False,
        "seeds": [4, 5, 6],
        "dataset": "digits",
    }
    assert entry["seconds"] > 0
    assert entry["error"] is None
    assert entry["verdicts"] == [
        {"claim": "Squares grow", "holds": True, "evidence": "4, then 9"},
        {"claim": "Squares <shrink>", "holds": False, "evidence": ""},
    ]


def test_executed_notebooks_hold_outputs_but_no_widget_state_and_no_paths(good: Run) -> None:
    text = (good.out / "notebooks" / "00_good.ipynb").read_text()
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "application/vnd.jupyter.widget" not in text
    assert "papermill" not in text
    assert "inside the widget 2" in text
    assert "application/vnd.plotly.v1+json" in text


@pytest.mark.parametrize("name", planted.FAILING)
def test_every_way_to_fail_is_reported(failing: Run, name: str) -> None:
    expected = planted.FAILING[name][1]
    entry = failing.entry(name)
    assert entry["status"] == "failed"
    assert expected in entry["error"]
    assert f"error: {name} failed: {expected}" in failing.stderr
    assert expected in failing.stdout


def test_failures_fail_the_command_and_do_not_stop_the_others(failing: Run) -> None:
    assert failing.status == 1
    assert failing.entry("20_last")["status"] == "ok"
    assert failing.stderr.count("\n") == len(planted.FAILING)
    assert "Traceback" not in failing.stderr


def test_a_failed_notebook_is_kept_with_its_error(failing: Run) -> None:
    for name in ("10_error", "15_timeout", "16_dead"):
        notebook = nbformat.read(failing.out / "notebooks" / f"{name}.ipynb", as_version=4)
        errors = [o for c in notebook.cells for o in c.get("outputs", []) if o["output_type"] == "error"]
        assert len(errors) == 1
    assert "stopped with an error" in (failing.out / "site" / "10_error.html").read_text()


def test_a_single_hidden_error_is_enough_to_fail(tmp_path: Path) -> None:
    planted.notebook(tmp_path, "11_interact", *planted.FAILING["11_interact"][0])
    run = command("--notebooks", tmp_path, out=tmp_path / "out")
    assert run.status == 1
    assert "KeyError: 'swallowed'" in run.stderr


REFUSED = [
    (["--set", "mv=0.3"], ["parameter='mv'", "Did you mean 'mu'?"]),
    (["--set", "mu=strong"], ["00_good: mu=strong", "must be a number"]),
    (["--set", "fast=perhaps"], ["00_good: fast=perhaps", "must be true or false"]),
    (["--set", "seeds=0"], ["00_good: seeds=0", "JSON list"]),
    (["--set", "mu"], ["NAME=VALUE"]),
    (["--set", "profile=huge"], ["parameter profile", "--profile"]),
    (["--set", "dataset=mnits"], ["parameter dataset", "--dataset"]),
    (["--only", "7"], ["unknown notebook '7'", "00_good"]),
    (["--only", "00_godo"], ["unknown notebook '00_godo'", "Did you mean 00_good?"]),
    (["--dataset", "mnits"], ["mnits", "mnist"]),
    (["--timeout", "0"], ["--timeout", "0: must be", "> 0"]),
    (["--profile", "fast"], ["invalid choice: 'fast'", "quick"]),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_bad_arguments_are_refused_before_anything_runs(tmp_path: Path, capsys, arguments, said) -> None:
    from fedlab_course.cli import main

    planted.notebook(tmp_path, "00_good", "1", parameters=planted.PARAMETERS)
    full = ["run", "--notebooks", str(tmp_path), "--out", str(tmp_path / "out"), *arguments]
    try:
        status = main(full)
    except SystemExit as stop:  # argparse
        status = stop.code
    message = " ".join(capsys.readouterr().err.split())
    assert status == 2
    for words in said:
        assert words in message
    assert "Traceback" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "student", "--profile", "full"],
        ["build", "student", "--timeout", "3"],
        ["grade", "a.ipynb", "--out", "there"],
        ["grade", "a.ipynb", "--only", "02"],
        ["lint", "--out", "there"],
        ["lint", "--dataset", "mnist"],
    ],
)
def test_a_command_takes_no_option_without_effect(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    from fedlab_course.cli import main

    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert (
        f"unrecognized arguments: {arguments[2] if arguments[0] != 'lint' else arguments[1]}" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "student", "--out", "{file}"], "--out {file}: a file stands in its way"),
        (["run", "--only", "00", "--out", "{file}"], "--out {file}: a file stands in its way"),
        (["run", "--only", "00", "--out", "{file}/below"], "--out {file}/below: a file stands in its way"),
        (["run", "--notebooks", "{file}"], "--notebooks {file}: is a file"),
        (["lint", "--notebooks", "{file}"], "--notebooks {file}: is a file"),
        (["grade", "{folder}"], "{folder}: is a folder"),
    ],
)
def test_a_file_for_a_folder_is_refused(tmp_path: Path, capsys, arguments: list[str], said: str) -> None:
    from fedlab_course.cli import main

    names = {"file": tmp_path / "file", "folder": tmp_path}
    names["file"].write_text("kept")
    assert main([part.format(**names) for part in arguments]) == 2
    assert said.format(**names) in " ".join(capsys.readouterr().err.split())
    assert names["file"].read_text() == "kept"


def test_an_unknown_profile_is_refused(tmp_path: Path) -> None:
    from fedlab_course.harness.run import run_course

    with pytest.raises(ValueError, match="profile='huge': must be one of"):
        run_course(profile="huge", out=tmp_path / "out")


def test_a_failing_report_does_not_hide_what_stopped_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedlab_course.harness import run
    from fedlab_course.site import pages

    def fail(error: BaseException):
        def failing(*_, **__):
            raise error

        return failing

    planted.notebook(tmp_path, "00_good", "1")
    monkeypatch.setattr(run, "_run", fail(KeyboardInterrupt()))
    monkeypatch.setattr(pages, "build", fail(OSError("the disk is full")))
    with pytest.raises(KeyboardInterrupt) as caught:
        run.run_course(notebooks=tmp_path, out=tmp_path / "out")
    assert "the disk is full" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mu = 0.1", "mu needs a type"),
        ("mu = 0.1  # type: double strength", "mu needs a type"),
        ("mu = 1 / 3  # type: float strength", "is not a literal"),
        ('mu = "0.1"  # type: float strength', "must be a number"),
        ("mu = 0.5  # type: int strength", "must be an integer"),
    ],
)
def test_a_badly_declared_parameter_is_refused(tmp_path: Path, line: str, said: str) -> None:
    from fedlab_course.harness import parameters

    path = planted.notebook(tmp_path, "00_bad", "1", parameters=line)
    with pytest.raises(ValueError, match="00_bad: parameter mu") as caught:
        parameters.declared(path)
    assert said in str(caught.value)


def test_a_parameter_of_one_notebook_is_given_to_that_one_only(tmp_path: Path) -> None:
    from fedlab_course.harness import parameters

    paths = {
        "a": planted.notebook(tmp_path, "a", parameters='profile = "quick"  # type: str p\nmu = 0.1  # type: float m'),
        "b": planted.notebook(
            tmp_path, "b", parameters="mu = None  # type: float|None m\ns = [0]  # type: list[int] s"
        ),
        "c": planted.notebook(tmp_path, "c"),
    }
    declared = {name: parameters.declared(path) for name, path in paths.items()}
    values = parameters.resolve(declared, {"profile": "full"}, {"mu": "1", "s": "[3]"})
    assert values == {"a": {"profile": "full", "mu": 1.0}, "b": {"mu": 1.0, "s": [3]}, "c": {}}
    assert declared["b"]["mu"].default is None
    assert declared["a"]["mu"].help == "m"


def test_a_formula_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    from fedlab_course.harness.run import run_course

    planted.notebook(tmp_path, "00_good", "1", text=r"This is $\nosuchcommand{x}$.")
    with pytest.raises(ValueError, match=r"00_good: cell 1: formula \$\\nosuchcommand"):
        run_course(notebooks=tmp_path, out=tmp_path / "out")


def test_cells_with_widgets_do_not_stall(tmp_path: Path) -> None:
    """Each such cell stood still until its timeout once in twenty times when replies could be missed."""
    from fedlab_course.harness import executed, kernel

    cell = "from ipywidgets import interact\n@interact(x=(0, 3))\ndef f(x):\n    print(x)\n    display(x)\n"
    path = planted.notebook(tmp_path, "00_widgets", *[cell] * 80)
    start = time.perf_counter()
    with kernel.environment() as workspace:
        assert executed.problems(kernel.execute(path, {}, workspace, timeout=60)) == []
    assert time.perf_counter() - start < 55


def test_without_the_extra_the_command_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    from fedlab_course.cli import main

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["run", "--out", str(tmp_path / "out")]) == 1
    assert "'fedlab-core[course]'" in capsys.readouterr().err


def test_only_selects_by_number_and_by_name(tmp_path: Path) -> None:
    from fedlab_course.folders import select

    paths = [planted.notebook(tmp_path, name) for name in ("00_a", "01_b", "02_c")]
    assert select(tmp_path, []) == paths
    assert select(tmp_path, ["02", "00_a.ipynb"]) == [paths[0], paths[2]]
    with pytest.raises(ValueError, match="no notebooks"):
        select(tmp_path / "nowhere", [])


def test_a_second_run_into_the_same_folder_leaves_nothing_stale(tmp_path: Path) -> None:
    from fedlab_course.harness.run import run_course

    for name in ("00_a", "01_b"):
        planted.notebook(tmp_path, name, "1")
    out = tmp_path / "out"
    run_course(notebooks=tmp_path, out=out)
    (out / "notebooks" / "mine.ipynb").touch()
    run_course(notebooks=tmp_path, out=out, only=["01"])
    assert sorted(path.name for path in (out / "notebooks").iterdir()) == ["01_b.ipynb", "mine.ipynb"]
    assert sorted(path.name for path in (out / "site").glob("*.html")) == [
        "01_b.html",
        "index.html",
        "symbols.html",
    ]


@pytest.mark.skipif(os.name != "posix", reason="signals as a POSIX terminal sends them")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    planted.notebook(tmp_path, "00_done", "1")
    planted.notebook(tmp_path, "01_long", "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)")
    out = tmp_path / "out"
    arguments = [sys.executable, "-m", "fedlab_course", "run", "--notebooks", str(tmp_path), "--out", str(out)]
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert [path.name for path in (out / "notebooks").iterdir()] == ["00_done.ipynb"]
    summary = json.loads((out / "summary.json").read_text())
    assert [entry["status"] for entry in summary["notebooks"]] == ["ok", "not run"]
    assert (out / "site" / "index.html").exists()
