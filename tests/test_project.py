"""The project's own files agree with one another."""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    """Distribution → version, from ``name[extra]==version`` lines."""
    matches = [re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", line) for line in lines]
    return {normal(match[1]): match[2] for match in matches if match}


def constraints() -> dict[str, str]:
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    found = pins(lines)
    assert len(found) == len(lines), "constraints.txt holds a line that is not name==version"
    return found


def environment() -> list[str]:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return next(entry["pip"] for entry in dependencies if isinstance(entry, dict))


def test_environment_and_constraints_pin_the_same_versions() -> None:
    listed = pins(environment())
    assert listed
    assert {name: constraints().get(name) for name in listed} == listed


def test_every_direct_dependency_is_pinned_everywhere_and_allowed() -> None:
    others = {
        name: needed for name, needed in EXTRAS.items() if name != "flower"
    }  # installed apart, tools/setup_env.py
    groups = [PROJECT["dependencies"], *others.values()]
    direct = [Requirement(text) for group in groups for text in group]
    pinned = constraints()
    listed = pins(environment())
    for requirement in direct:
        name = normal(requirement.name)
        assert name in pinned, f"{name} is not in constraints.txt"
        assert name in listed, f"{name} is not in environment.yml"
        assert pinned[name] in requirement.specifier
    assert set(listed) == {normal(requirement.name) for requirement in direct}


def test_pinned_versions_install_on_the_oldest_python_allowed() -> None:
    installed = {normal(found.name): found for found in importlib.metadata.distributions()}
    for name, version in constraints().items():
        if name in installed and installed[name].version.partition("+")[0] == version:
            admitted = SpecifierSet(installed[name].metadata.get("Requires-Python") or "")
            assert "3.11.0" in admitted, f"{name} {version} needs Python {admitted}"


def extras_named(path: Path) -> set[str]:
    """The extras in what a file tells to install: ``.[a]``,
    ``fedlab-core[a,b]`` or ``….whl[a]``.
    """
    found = re.findall(r"(?:fedlab-core|\.whl|'\.)\[([^\]]*)\]", path.read_text(encoding="utf-8"))
    return {name.strip() for names in found for name in names.split(",")}


def test_the_page_on_installation_names_every_extra_and_no_other() -> None:
    assert extras_named(ROOT / "docs" / "install.md") == set(EXTRAS)


def test_messages_name_extras_that_exist() -> None:
    files = [
        path
        for package in ("fedlab_core", "fedlab_course")
        for path in (ROOT / package).rglob("*.py")
    ]
    named = set().union(*map(extras_named, files))
    assert "course" in named
    assert named <= set(EXTRAS)


def test_the_page_on_installation_names_every_console_script_and_each_is_there() -> None:
    assert set(PROJECT["scripts"]) == {"fedlab-core", "fedlab-course"}
    for name, target in PROJECT["scripts"].items():
        assert f"`{name} " in (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_coverage_is_measured_of_all_packages_and_its_number_is_in_the_report() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    assert settings["source"] == ["fedconform", "fedlab_core", "fedlab_course"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    steps = [step.get("run", "") for step in workflow["jobs"]["coverage"]["steps"]]
    assert "make coverage" in steps
    (report,) = [
        step for step in steps[steps.index("make coverage") :] if "coverage report" in step
    ]
    assert "--format=total" in report and "GITHUB_STEP_SUMMARY" in report
    target = re.search(r"^coverage: .*\n(?:\t.*\n)*", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert target is not None and "-m pytest" in target[0] and "--cov" in target[0]


def test_the_readme_has_the_table_of_the_chapters() -> None:
    from fedlab_course import outline

    assert outline.table("notebooks/") in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_in_chinese_has_the_table_of_the_translated_chapters() -> None:
    from fedlab_course import outline

    command = "from fedlab_course import outline; print(outline.table('notebooks/'))"
    variables = os.environ | {"FEDLAB_LANGUAGE": "zh"}
    ran = subprocess.run(
        [sys.executable, "-c", command], env=variables, capture_output=True, text=True, check=True
    )
    page = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
    lines = zip(ran.stdout.splitlines(), outline.table("notebooks/").splitlines(), strict=True)
    # a new chapter has no translated question yet, and may be missing
    translated = [
        chinese for chinese, english in lines if chinese.split("|")[-2] != english.split("|")[-2]
    ]
    assert len(translated) > 10
    assert [line for line in translated if line not in page] == []


def test_the_version_is_said_in_one_place() -> None:
    """``fedlab_core.__version__``: what is built takes it from
    there, and what tells of it follows.
    """
    import fedlab_core

    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    dynamic = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["dynamic"]
    assert dynamic["version"] == {"attr": "fedlab_core.__version__"}
    assert importlib.metadata.version("fedlab-core") == fedlab_core.__version__
    named = re.findall(
        r"fedlab_core-([\w.]+)-py3", (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    )
    assert set(named) == {fedlab_core.__version__}
    assert f"## [{fedlab_core.__version__}] - " in (ROOT / "CHANGELOG.md").read_text(
        encoding="utf-8"
    )
    assert "version" not in yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", ["core", "course"])
def test_the_tests_of_a_room_are_in_a_folder_with_its_name(package: str) -> None:
    rooms = {path.stem for path in (ROOT / f"fedlab_{package}").iterdir()}
    folders = {path.parent.name for path in (ROOT / "tests" / package).glob("*/test_*.py")}
    assert len(folders) > 5
    assert folders <= rooms
