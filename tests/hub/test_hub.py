"""Two students on one JupyterHub, each in a browser of his own, work in chapter 2 at the same time.

The hub has the configuration that docker/ ships, with neither passwords nor containers.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import PATIENCE, Notebook, wait_until
from tests.hub import hub as hubs

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "build" / "browser"
CHAPTER = "fedlab/02_fedprox.ipynb"
USERS = ("alice", "bob")

pytestmark = [
    pytest.mark.needs_browser,
    pytest.mark.skipif(bool(hubs.missing()), reason=f"FEDLAB_HUB: no {', '.join(hubs.missing())}"),
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    with hubs.serving(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def contexts(hub: hubs.Hub, chromium) -> Iterator[dict[str, Any]]:
    """A browser context for each, logged in."""
    opened = {user: hub.log_in(chromium, user) for user in USERS}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture(scope="module")
def notebooks(hub: hubs.Hub, contexts: dict[str, Any]) -> dict[str, Notebook]:
    """Chapter 2 of each, both running; at the rate of the chapter some springs diverge, so a lower
    one is written.
    """
    for user in USERS:
        chapter = hub.home(user) / CHAPTER
        text = chapter.read_text(encoding="utf-8")
        assert "lr=1.0" in text
        chapter.write_text(text.replace("lr=1.0", "lr=0.05"), encoding="utf-8")
    opened = {user: Notebook(contexts[user], hub.notebook(user, CHAPTER)) for user in USERS}
    for notebook in opened.values():
        notebook.run()
        notebook.scroll_to("Explorer(")
    return opened


def complete(*names: str) -> Callable[[dict[str, list[float]]], Any]:
    """The curves, once they are those of ``names``, each with all its 50 points."""
    return lambda curves: (
        curves
        if sorted(curves) == sorted(names) and {len(y) for y in curves.values()} == {50}
        else None
    )


def test_both_run_the_chapter_and_see_the_same_figure(notebooks: dict[str, Notebook]) -> None:
    seen = [notebook.wait_for(complete("FedAvg", "FedProx μ=1")) for notebook in notebooks.values()]
    assert seen[0] == seen[1]
    assert all(0 < value <= 1 for curve in seen[0].values() for value in curve)


def test_a_slider_changes_the_figure_of_the_one_who_moves_it_and_of_nobody_else(
    notebooks: dict[str, Notebook], request: pytest.FixtureRequest
) -> None:
    alice, bob = notebooks.values()
    before = alice.curves()
    alice.press("μ of FedProx", "ArrowRight")
    after = alice.wait_for(complete("FedAvg", "FedProx μ=2"))
    assert after["FedAvg"] == before["FedAvg"]
    assert after["FedProx μ=2"] != before["FedProx μ=1"]
    assert bob.curves() == before
    bob.press("μ of FedProx", "ArrowLeft")
    other = bob.wait_for(complete("FedAvg", "FedProx μ=0.5"))
    assert other["FedProx μ=0.5"] not in (before["FedProx μ=1"], after["FedProx μ=2"])
    assert alice.curves() == after
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for user, notebook in notebooks.items():
        notebook.page.screenshot(path=ARTEFACTS / f"hub-{user}.png")


def test_nobody_reaches_the_files_or_kernels_of_another(
    hub: hubs.Hub, contexts: dict[str, Any], notebooks
) -> None:
    (hub.home("bob") / "fedlab" / "secret.txt").write_text("of bob", encoding="utf-8")

    for what in ("api/contents/fedlab/secret.txt", "files/fedlab/secret.txt", "api/kernels", "lab"):
        address = f"{hub.url}/user/bob/{what}"
        own, foreign = (contexts[user].request.get(address) for user in ("bob", "alice"))
        assert own.status == 200, what
        assert foreign.status == 403, what
        assert "of bob" not in foreign.text(), what
    listed = (
        contexts["alice"].request.get(f"{hub.url}/user/alice/api/contents/fedlab").json()["content"]
    )
    assert "02_fedprox.ipynb" in {entry["name"] for entry in listed}
    assert "secret.txt" not in {entry["name"] for entry in listed}


def test_work_of_both_is_saved_where_it_belongs(
    hub: hubs.Hub, notebooks: dict[str, Notebook]
) -> None:
    for user, notebook in notebooks.items():
        notebook.save()
        assert '"output_type"' in (hub.home(user) / CHAPTER).read_text(encoding="utf-8")
        assert not notebook.faults


def test_the_culler_may_end_an_idle_server(hub: hubs.Hub, notebooks) -> None:
    """The service of the shipped configuration, with its own rights, but for seconds in place of an
    hour.
    """
    family = hub.process.children(recursive=True)
    service = next(process for process in family if "jupyterhub_idle_culler" in process.cmdline())
    shipped = service.cmdline()
    assert "--timeout=3600" in shipped
    command = [word if word != "--timeout=3600" else "--timeout=2" for word in shipped]
    culler = subprocess.Popen(
        command, env=service.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for user in USERS:
            wait_until(lambda user=user: hub.server(user) is None)
    finally:
        culler.kill()
        culler.wait(PATIENCE)
