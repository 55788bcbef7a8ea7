"""The animations: their numbers are those of the library, and
mouse, finger and keyboard move them.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.explore import shows
from fedlab_course.explore.quadratics import A, B, Quadratics
from fedlab_course.explore.shows import (
    METHODS,
    RATES,
    REACH,
    ROUNDS,
    START,
    STEPS,
    STRENGTHS,
)
from tests.course.publish.visit import Visit, site_of, violations

pytestmark = pytest.mark.needs_browser

TAU, LR, MU = (one.default for one in (STEPS, RATES, STRENGTHS))


def library(method: str, b: Any, steps: int, lr: float, mu: float, count: int) -> np.ndarray:
    """w after ``count`` rounds of fl.simulate on f_k(w) = ½ Σ_d a_kd (w_d − b_kd)².

    As data: √(2 a_kd) e_d with target √(2 a_kd) b_kd, of which F_k is half the mean square over d =
    1, 2.
    """
    clients = []
    for a_k, b_k in zip(A, b, strict=True):
        x = torch.diag(torch.tensor([math.sqrt(2 * a) for a in a_k], dtype=torch.float64))
        clients.append((x, x @ torch.tensor([list(b_k)], dtype=torch.float64).T))
    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])
    model = fl.models.linear(fed, bias=False)
    torch.nn.utils.vector_to_parameters(
        torch.tensor(START, dtype=torch.float64), model.parameters()
    )
    algorithm = {"FedAvg": fl.FedAvg(), "FedProx": fl.FedProx(mu=mu), "SCAFFOLD": fl.Scaffold()}[
        method
    ]
    work = {
        "clients_per_round": 2,
        "local_steps": steps,
        "batch_size": None,
        "lr": lr,
        "loss": "squared_error",
    }
    history = fl.simulate(
        fed, model, algorithm, rounds=count, eval_every=count, progress=False, **work
    )
    return history.params.numpy()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the animation."""
    return site_of(tmp_path_factory.mktemp("shows"), shows.drifting()._repr_mimebundle_())


@pytest.fixture
def opened(page: Path, chromium) -> Iterator[Any]:
    visit = Visit(chromium, page)
    with visit as shown:
        yield shown
    assert visit.faults == []
    assert [url for url in visit.requests if not url.startswith("file:")] == []


@pytest.fixture
def shown(opened: Any) -> Any:
    """The picture of drift."""
    return opened.locator(".fedlab-drift")


def numbers(shown: Any) -> np.ndarray:
    """w of the three methods, as the titles under the pictures have it [3, 2]."""
    titles = shown.locator(".away").evaluate_all(
        "nodes => nodes.map((node) => node.title.match(/-?[\\d.]+/g))"
    )
    return np.array(titles, dtype=float)


def choose(shown: Any, label: str, position: int) -> None:
    slider = shown.get_by_label(label)
    slider.press("Home")
    for _ in range(position):
        slider.press("ArrowRight")


def minimum(shown: Any, k: int) -> Any:
    return shown.get_by_role("slider", name=f"minimum of client {k}")


def test_what_the_script_draws_is_what_the_library_computes(shown: Any) -> None:
    assert numbers(shown) == pytest.approx(np.array([START] * 3))
    shown.get_by_label("moment").press("End")
    expected = [library(method, B, TAU, LR, MU, ROUNDS) for method in METHODS]
    assert numbers(shown) == pytest.approx(np.array(expected), abs=1e-6)
    for label, position in (("local steps τ", 2), ("learning rate η", 1), ("μ of FedProx", 3)):
        choose(shown, label, position)
    minimum(shown, 1).press("ArrowUp")
    minimum(shown, 2).press("Shift+ArrowLeft")
    moved = [[B[0][0], B[0][1] + 0.1], [B[1][0] - 0.5, B[1][1]]]
    expected = [
        library(method, moved, STEPS.values[2], RATES.values[1], STRENGTHS.values[3], ROUNDS)
        for method in METHODS
    ]
    assert numbers(shown) == pytest.approx(np.array(expected), abs=1e-6)


def test_local_steps_are_drawn_one_by_one_and_then_averaged(shown: Any) -> None:
    walk = Quadratics(A, B).walk(np.array(START), TAU, LR)
    caption = shown.locator(".caption")
    steps = shown.locator(".panel:first-child .step")
    for step in range(1, 4):
        shown.get_by_role("button", name="Next step").press("Enter")
        assert f"Round 1 of {ROUNDS}, local step {step} of {TAU}" in caption.inner_text()
        assert steps.count() == 2 * step
        places = steps.evaluate_all(
            "steps => steps.map((s) => s.getAttribute('transform').match(/-?[\\d.]+/g))"
        )
        drawn = np.array([[float(x), float(y)] for x, y, *_ in places]).reshape(2, step, 2)
        expected = (walk[1 : step + 1].swapaxes(0, 1) / REACH * [1, -1] + 1) * 100
        assert drawn == pytest.approx(expected, abs=1e-6)
    shown.get_by_role("button", name="Next round").press("Enter")
    assert "the server averages" in caption.inner_text()
    assert numbers(shown)[0] == pytest.approx(walk[-1].mean(0), abs=1e-6)
    shown.get_by_role("button", name="Next step").press("Enter")
    assert "Round 2" in caption.inner_text()
    assert shown.get_by_label("moment").get_attribute("aria-valuetext") == caption.inner_text()


def test_a_minimum_follows_the_mouse_and_the_finger(page: Path, chromium) -> None:
    with Visit(chromium, page, has_touch=True) as opened:
        shown = opened.locator(".fedlab-drift")
        panel = shown.locator(".panel svg").nth(2)
        handle = shown.locator(".panel").nth(2).locator(".handle").first
        box = panel.bounding_box()
        at = handle.bounding_box()
        opened.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        opened.mouse.down()
        opened.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.75 * box["height"], steps=3)
        opened.mouse.up()
        words = minimum(shown, 1).get_attribute("aria-valuetext")
        x, y = (float(part) for part in words.strip("()").replace("−", "-").split(","))
        assert (x, y) == pytest.approx((REACH / 2, -REACH / 2), abs=0.03)
        opened.mouse.move(box["x"], box["y"])  # nothing is held any more
        assert minimum(shown, 1).get_attribute("aria-valuetext") == words
        before = minimum(shown, 2).get_attribute("aria-valuetext")
        devtools = opened.context.new_cdp_session(opened)
        centre = minimum(shown, 2).bounding_box()
        start = {"x": centre["x"] + centre["width"] / 2, "y": centre["y"] + centre["height"] / 2}
        devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [start]})
        for by in (10, 20, 30):
            point = {"x": start["x"] - by, "y": start["y"]}
            devtools.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        opened.wait_for_function(
            (
                "([label, before]) => "
                "document.querySelector(`[aria-label^='${label}']`).ariaValueText !== before"
            ),
            arg=["minimum of client 2", before],
        )


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_plays_to_the_end_and_moves_only_when_asked(page: Path, chromium, motion: str) -> None:
    with Visit(chromium, page, reduced_motion=motion) as opened:
        opened.clock.install()
        opened.reload()
        shown = opened.locator(".fedlab-drift")
        choose(shown, "local steps τ", 1)  # two steps and an average
        opened.clock.run_for(3000)
        scrub = shown.get_by_label("moment")
        assert scrub.input_value() == "0"
        shown.get_by_role("button", name="Play").click()
        assert shown.get_by_role("button", name="Pause").count() == 1
        moments = set()
        for _ in range(200):
            opened.clock.run_for(100)
            moments.add(int(scrub.input_value()))
        assert max(moments) == 3 * ROUNDS
        assert shown.get_by_role("button", name="Play").count() == 1
        within_rounds = {moment for moment in moments if moment % 3}
        assert bool(within_rounds) == (motion == "no-preference")


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_axe_finds_nothing_and_it_fits(page: Path, chromium, scheme: str, width: int) -> None:
    pytest.importorskip("axe_playwright_python")
    with Visit(chromium, page, width, color_scheme=scheme) as opened:
        shown = opened.locator(".fedlab-drift")
        shown.get_by_label("moment").press("End")
        assert violations(opened) == []
        assert opened.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        boxes = [minimum(shown, k).bounding_box() for k in (1, 2)]
        assert all(box["width"] >= 24 and box["height"] >= 24 for box in boxes)  # WCAG 2.2, 2.5.8


def test_without_scripts_a_description_takes_the_place_of_the_animation(
    page: Path, chromium
) -> None:
    with Visit(chromium, page, 390, java_script_enabled=False) as shown:
        assert shown.locator(".fedlab-drift .caption").inner_text() == shows.DRIFT_ALT
        assert shown.locator(".fedlab-show").get_by_role("button").count() == 0
