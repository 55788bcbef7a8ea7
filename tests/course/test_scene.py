"""The scene: its numbers are those of closed forms, and buttons, sliders and keys move it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlab_course import scene
from fedlab_course.check import own, registry
from fedlab_course.explore import quadratics
from fedlab_course.explore.quadratics import A, B
from tests.course.publish.visit import Visit, site_of, violations

CURVATURES = np.array(A)
MINIMA = np.array(B)
START = quadratics.START
STEPS = 5
RATE = 0.1


def downhill(w: Any, k: int, gradient: Any, eta: float, steps: int) -> Any:
    y = w
    for _ in range(steps):
        y = y - eta * gradient(k, y)
    return y


def uphill(w: Any, k: int, gradient: Any, eta: float, steps: int) -> Any:
    return downhill(w, k, gradient, -eta, steps)


def in_place(w: Any, k: int, gradient: Any, eta: float, steps: int) -> Any:
    for _ in range(steps):
        w -= eta * gradient(k, w)
    return w


def ends(w: np.ndarray, steps: int, rate: float) -> np.ndarray:
    """b_k + (1 − ηa_k)^τ (w − b_k), for both clients [2, 2]."""
    return MINIMA + (1 - rate * CURVATURES) ** steps * (w - MINIMA)


def after(rounds: int, steps: int, rate: float) -> np.ndarray:
    w = START
    for _ in range(rounds):
        w = ends(w, steps, rate).mean(0)
    return w


@pytest.mark.parametrize("rule", [downhill, in_place])
def test_a_walk_is_that_of_the_closed_form_also_if_it_changes_w_in_place(rule: Any) -> None:
    rounds = scene.walk(rule, lambda models, sizes: sizes @ models / sizes.sum(), STEPS, RATE)
    assert len(rounds) == scene.ROUNDS
    for number, one in enumerate(rounds):
        w = after(number, STEPS, RATE)
        for step in range(STEPS + 1):
            drawn = np.array([walk[step] for walk in one["walks"]])
            assert drawn == pytest.approx(ends(w, step, RATE), abs=1e-4)
        assert one["next"] == pytest.approx(after(number + 1, STEPS, RATE), abs=1e-4)


def test_one_step_leads_to_the_optimum_and_many_to_the_mean_of_the_minima() -> None:
    panels = {f"{tau}": scene.Panel(downhill, tau) for tau in (1, 100)}
    words = scene.play(panels, title="Two", rates=(0.2,)).alt
    optimum = (CURVATURES * MINIMA).sum(0) / CURVATURES.sum(0)
    far = np.linalg.norm(MINIMA.mean(0) - optimum)
    near = np.linalg.norm(after(scene.ROUNDS, 1, 0.2) - optimum)
    assert f"1: {near:.4f} from" in words and f"100: {far:.4f} from" in words


def test_a_wrong_sign_flies_off_and_its_run_ends() -> None:
    """Each round multiplies the distance to b_k by (1 + ηa_k)^τ, at least by 1.1^5."""
    show = scene.play({"wrong": uphill}, title="Away")
    assert "wrong: flown off" in show.alt
    assert len(scene.walk(uphill, scene._mean, STEPS, RATE)) < scene.ROUNDS


def test_the_title_says_whose_functions_run() -> None:
    solution = registry.get("00-local")
    built = own.mark(solution.build(solution.solution_source))
    assert "with your code" in scene.play({"mine": downhill}, title="Walk").alt
    shown = scene.play({"mine": built, "wrong": uphill}, title="Walk").figure
    assert "with the course&#x27;s solution" in shown or "with the course's solution" in shown


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a scene of two panels, a slider for τ and one for η, and crosses."""
    show = scene.play(
        {"right": downhill, "wrong": uphill},
        title="Two clients",
        rates=(0.05, 0.1),
        stops=lambda steps, rate: after(500, steps, rate),
    )
    return site_of(tmp_path_factory.mktemp("scene"), show._repr_mimebundle_())


@pytest.fixture
def shown(page: Path, chromium) -> Iterator[Any]:
    visit = Visit(chromium, page)
    with visit as opened:
        yield opened.locator(".fedlab-scene")
    assert visit.faults == []
    assert [url for url in visit.requests if not url.startswith("file:")] == []


def place(shown: Any, panel: int = 0) -> np.ndarray:
    """w as the title under a picture has it [2]."""
    title = shown.locator(".away").nth(panel).get_attribute("title")
    x, y = title.removeprefix("w = (").removesuffix(")").split(",")
    return np.array([float(x), float(y)])


@pytest.mark.needs_browser
def test_steps_are_drawn_one_by_one_and_then_averaged(shown: Any) -> None:
    assert place(shown) == pytest.approx(START)
    caption = shown.locator(".caption")
    steps = shown.locator(".panel:first-child .step")
    for step in range(1, STEPS + 1):
        shown.get_by_role("button", name="Next step").press("Enter")
        assert "Round 1 of 20, the clients walk" in caption.inner_text()
        assert steps.count() == 2 * step
    last = steps.nth(STEPS - 1).get_attribute("transform")
    x, y = (float(part) for part in last.split("(")[1].split(")")[0].split())
    expected = (ends(START, STEPS, RATE)[0] / scene.REACH * [1, -1] + 1) * 100
    assert (x, y) == pytest.approx(tuple(expected), abs=1e-3)
    shown.get_by_role("button", name="Next step").press("Enter")
    assert "the server averages" in caption.inner_text()
    assert place(shown) == pytest.approx(after(1, STEPS, RATE), abs=1e-4)
    assert shown.get_by_label("moment").get_attribute("aria-valuetext") == caption.inner_text()


@pytest.mark.needs_browser
def test_sliders_choose_the_run(shown: Any) -> None:
    shown.get_by_label("moment").press("End")
    assert place(shown) == pytest.approx(after(20, STEPS, RATE), abs=1e-4)
    shown.get_by_label("local steps τ").press("End")
    shown.get_by_label("learning rate η").press("Home")
    assert place(shown) == pytest.approx(after(20, 20, 0.05), abs=1e-4)
    assert shown.locator(".cross").count() == 2
    assert "outside the picture" in shown.locator(".away").nth(1).inner_text()


@pytest.mark.needs_browser
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_plays_to_the_end_and_moves_only_when_asked(page: Path, chromium, motion: str) -> None:
    with Visit(chromium, page, reduced_motion=motion) as opened:
        opened.clock.install()
        opened.reload()
        shown = opened.locator(".fedlab-scene")
        opened.clock.run_for(3000)
        scrub = shown.get_by_label("moment")
        assert scrub.input_value() == "0"
        shown.get_by_role("button", name="Play").click()
        assert shown.get_by_role("button", name="Pause").count() == 1
        moments = set()
        for _ in range(400):
            opened.clock.run_for(50)
            moments.add(int(scrub.input_value()))
        assert max(moments) == (STEPS + 1) * scene.ROUNDS
        assert shown.get_by_role("button", name="Play").count() == 1
        within_rounds = {moment for moment in moments if moment % (STEPS + 1)}
        assert bool(within_rounds) == (motion == "no-preference")


@pytest.mark.needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_axe_finds_nothing_and_it_fits(page: Path, chromium, scheme: str, width: int) -> None:
    pytest.importorskip("axe_playwright_python")
    with Visit(chromium, page, width, color_scheme=scheme) as opened:
        opened.locator(".fedlab-scene").get_by_label("moment").press("End")
        assert violations(opened) == []
        assert opened.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.needs_browser
def test_without_scripts_a_description_takes_the_place_of_the_animation(
    page: Path, chromium
) -> None:
    with Visit(chromium, page, 390, java_script_enabled=False) as opened:
        shown = opened.locator(".fedlab-scene")
        assert "right: 0." in shown.locator(".caption").inner_text()
        assert shown.get_by_role("button").count() == 0
