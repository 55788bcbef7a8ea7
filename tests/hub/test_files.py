"""The files that make images agree with the project: versions, paths, users, settings. Nothing is installed here."""

import fnmatch
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.hub import dockerfile

ROOT = Path(__file__).parents[2]
STEPS = dockerfile.read(ROOT / "Dockerfile")
POST_BUILD = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
INDEX = "https://download.pytorch.org/whl/cpu"  # as PyTorch's installation page names it


def texts(name: str) -> list[str]:
    return [step.text for step in STEPS if step.name == name]


def pip_steps() -> dict[str, list[str]]:
    """The pip commands of the Dockerfile and of Binder, options and packages in one line each."""
    binder = POST_BUILD.replace("\\\n", " ").splitlines()
    found = {
        "Dockerfile": [text for text in texts("RUN") if text.startswith("pip ")],
        "binder": [line for line in binder if line.startswith("pip ")],
    }
    return {name: [" ".join(line.split()) for line in lines] for name, lines in found.items()}


def sources() -> list[str]:
    return [source for step in STEPS if step.name == "COPY" for source in step.words[:-1]]


def load(path: Path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_base_names_its_release_and_its_python_is_allowed() -> None:
    (base,) = texts("FROM")
    version = re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+", base)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version in SpecifierSet(project["requires-python"])
    assert (ROOT / "binder" / "runtime.txt").read_text() == f"python-{version}\n"


def test_pytorch_comes_first_for_the_cpu_and_every_version_from_the_constraints() -> None:
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {"torch", "torchvision"} <= pinned
    for name, commands in pip_steps().items():
        first, second = commands
        assert first.endswith("--constraint constraints.txt torch torchvision"), name
        assert '--no-deps --index-url "$' in first, name
        assert "--constraint constraints.txt" in second, name
        assert '".[course]"' in second, name
        assert "==" not in first + second, name
    assert f"TORCH_INDEX={INDEX}" in texts("ARG")
    assert f"${{TORCH_INDEX:-{INDEX}}}" in POST_BUILD


def test_what_is_copied_is_there_and_reaches_the_builder() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    admitted = {line[1:] for line in lines if line.startswith("!")}
    for source in sources():
        assert (ROOT / source).exists(), source
        assert source.partition("/")[0] in admitted, source
    assert admitted == {source.partition("/")[0] for source in sources()}
    assert not any(fnmatch.fnmatch(source, line) for source in sources() for line in lines[1:] if line[0] != "!")


def test_the_image_holds_all_that_the_build_reads() -> None:
    """What pyproject.toml and setup.py name must have been copied before the project is installed."""
    installs = next(i for i, step in enumerate(STEPS) if step.name == "RUN" and ".[course]" in step.text)
    before = {word for step in STEPS[:installs] if step.name == "COPY" for word in step.words[:-1]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"pyproject.toml", "setup.py", project["readme"], *project["license-files"]} <= before
    assert {"fedlab_core", "fedlab_course", "notebooks", "results", "constraints.txt"} <= before


@pytest.mark.skipif(os.name == "nt", reason="scripts for Linux")
def test_binder_names_files_that_are_there_and_scripts_that_can_run() -> None:
    for script in ("postBuild", "start"):
        path = ROOT / "binder" / script
        assert path.read_text().startswith("#!/bin/bash\n")
        assert os.access(path, os.X_OK)
        subprocess.run(["bash", "-n", path], check=True)
    for path in re.findall(r"(?<![\w/$}])docker/[\w.]+", POST_BUILD):
        assert (ROOT / path).is_file(), path
    assert (ROOT / "binder" / ".." / "docker" / "start.py").is_file()


@pytest.mark.skipif(os.name == "nt", reason="scripts for Linux")
def test_binder_starts_a_command_by_the_script_of_the_image(tmp_path: Path) -> None:
    code = "import os; print(os.environ['OMP_NUM_THREADS'])"
    environment = os.environ | {"CPU_LIMIT": "1", "HOME": str(tmp_path)}
    environment.pop("OMP_NUM_THREADS", None)
    command = [str(ROOT / "binder" / "start"), sys.executable, "-c", code]
    told = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout == "1\n"
    assert not list(tmp_path.iterdir())  # a visitor works in the repository: nothing is copied


def test_the_server_is_nobody_special() -> None:
    assert texts("USER") == ["1000"]
    assert any("useradd" in text and "--uid 1000 " in text for text in texts("RUN"))
    after = [step.name for step in STEPS[[step.name for step in STEPS].index("USER") :]]
    assert "RUN" not in after
    assert "COPY" not in after
    assert dict(step.text.split("=") for step in STEPS if step.name == "ENV")["HOME"] == "/home/jovyan"


def test_the_entry_point_and_the_settings_lie_where_they_are_looked_for() -> None:
    targets = {step.words[0]: step.words[-1] for step in STEPS if step.name == "COPY" and len(step.words) == 2}
    (entry,) = (step.words for step in STEPS if step.name == "ENTRYPOINT")
    assert entry == ["tini", "--", "python", "/opt/fedlab/" + targets["docker/start.py"]]
    assert targets["docker/overrides.json"] == "/usr/local/share/jupyter/lab/settings/overrides.json"
    # Not into jupyter_server_config.d, of which Jupyter Server reads the lists of extensions and nothing else.
    assert targets["docker/jupyter_server_config.json"] == "/usr/local/etc/jupyter/jupyter_server_config.json"


def test_jupyterlab_has_the_settings_of_the_makefile() -> None:
    expected = load(ROOT / "tools" / "setup_env.py").LAB_SETTINGS
    assert json.loads((ROOT / "docker" / "overrides.json").read_text()) == expected


def test_an_unknown_instruction_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("# a remark\nFETCH a \\\n  b\n")
    assert dockerfile.read(tmp_path / "Dockerfile") == [dockerfile.Instruction("FETCH", "a    b")]
    with pytest.raises(ValueError, match="no way to carry out FETCH"):
        dockerfile.build(tmp_path, tmp_path / "Dockerfile")


def test_the_link_on_the_page_is_what_its_code_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "hub.md").read_text(encoding="utf-8")
    exec(page.split("```python\n")[1].split("```")[0], {})
    assert "\n    " + capsys.readouterr().out in page


def test_files_that_the_page_names_are_there() -> None:
    page = (ROOT / "docs" / "hub.md").read_text(encoding="utf-8")
    linked = [ROOT / "docs" / path for path in re.findall(r"\]\(([^):]+)\)", page)]
    named = [ROOT / path for path in re.findall(r"`((?:binder|docker|tests|benchmarks)/[\w./]*)`", page)]
    assert len(linked) > 2
    assert len(named) > 3
    assert all(path.exists() for path in linked + named)
