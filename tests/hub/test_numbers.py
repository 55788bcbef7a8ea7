"""What the page and the configurations for hubs say follows from what was measured."""

import math
from pathlib import Path

import pandas as pd
import pytest
import yaml
from traitlets.config import Config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hub.md").read_text(encoding="utf-8")
STUDENTS, TOGETHER = 200, 3  # in the page's example; chapters open at once that the limit allows
ROWS = {
    "chapter opened": "opened_mib",
    "all cells run, explorers trained": "finished_mib",
    "at most": "peak_mib",
    "of it, not shared with other students": "peak_own_mib",
    "the kernel alone, at most": "kernel_mib",
    "processor time, s": "cpu_s",
    "notebook with outputs, KB": "notebook_kb",
}


@pytest.fixture(scope="module")
def measured() -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / "memory.csv").set_index("chapter")


@pytest.fixture(scope="module")
def settings() -> Config:
    """What docker/jupyterhub_config.py says of servers."""
    config = Config()
    exec((ROOT / "docker" / "jupyterhub_config.py").read_text(encoding="utf-8"), {"get_config": lambda: config})
    return config.Spawner


def mib(text: str) -> int:
    return int(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def up_to(value: float, step: int) -> int:
    return math.ceil(value / step) * step


def test_every_chapter_was_measured(measured: pd.DataFrame) -> None:
    assert list(measured.index) == ["none", *sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))]
    assert (measured.peak_mib >= measured.finished_mib).drop("none").all()


def test_guarantee_and_limit_follow_from_the_measurement(measured: pd.DataFrame, settings: Config) -> None:
    server = (measured.peak_mib - measured.kernel_mib).max()
    assert mib(settings.mem_guarantee) == up_to(measured.peak_mib.max(), 128)
    assert mib(settings.mem_limit) == up_to(server + TOGETHER * measured.kernel_mib.max(), 512)


def test_the_configuration_for_kubernetes_says_the_same(settings: Config) -> None:
    text = (ROOT / "docker" / "jupyterhub_config.py").read_text(encoding="utf-8")
    values = yaml.safe_load((ROOT / "docker" / "values.yaml").read_text(encoding="utf-8"))
    single = values["singleuser"]
    assert single["memory"] == {"guarantee": settings.mem_guarantee, "limit": settings.mem_limit}
    assert single["cpu"] == {"guarantee": settings.cpu_guarantee, "limit": settings.cpu_limit}
    assert [single["cmd"]] == settings.cmd
    assert single["defaultUrl"] == settings.default_url
    assert f"concurrent_spawn_limit = {values['hub']['concurrentSpawnLimit']}\n" in text
    assert f'"--timeout={values["cull"]["timeout"]}"' in text


def test_the_table_on_the_page_is_what_was_measured(measured: pd.DataFrame) -> None:
    for label, column in ROWS.items():
        values = measured[column].drop("none")
        row = f"| {label} | {values['02_fedprox']:.0f} | {values.max():.0f} ({values.idxmax()[:2]}) |"
        assert row in PAGE, row
    assert f"| server, nothing open | {measured.opened_mib['none']:.0f} | |" in PAGE


def test_the_sums_for_a_course_follow(measured: pd.DataFrame, settings: Config) -> None:
    one = mib(settings.mem_guarantee)
    chapters = measured.drop("none")
    own, seconds = chapters.peak_own_mib.max(), up_to(chapters.cpu_s.max(), 1)
    for sentence in (
        f"{STUDENTS} × {one} MiB = {STUDENTS * one / 1024:.0f} GiB",
        f"{STUDENTS} × {own:.0f} MiB = {STUDENTS * round(own) / 1024:.0f} GiB",
        f"{STUDENTS} × {seconds} s / 300 s = {STUDENTS * seconds / 300:.0f} cores",
        f"{STUDENTS} × {settings.cpu_guarantee} = {STUDENTS * settings.cpu_guarantee:.0f} cores",
        f"{chapters.notebook_kb.sum() / 1000:.0f} MB",
    ):
        assert sentence in PAGE, sentence
