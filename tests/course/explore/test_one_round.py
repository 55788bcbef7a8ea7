"""The animation of a round: its arithmetic, and how it is moved in a browser."""

from pathlib import Path
from typing import Any

import pytest

from fedlab_course.explore.shows import CAPTIONS, average, one_round
from tests.course.publish.visit import Visit, site_of

GLOBAL = "[...document.querySelectorAll('.global rect')].map((bar) => Number(bar.getAttribute('height')))"
COHORT = """[...document.querySelectorAll('svg > .token')].map((token) => {
    const [x, y] = token.getAttribute('transform').match(/-?[\\d.]+/g).map(Number);
    const heights = Array.from(token.children, (bar) => Number(bar.getAttribute('height')));
    return [Number(token.style.opacity), x, y, ...heights];
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the animation, as a notebook shows it."""
    bundle = one_round()._repr_mimebundle_()
    return site_of(tmp_path_factory.mktemp("show"), bundle)


def moved(page: Any, step: int) -> None:
    """Move the scrubber to the end of a step with the keyboard."""
    page.get_by_role("slider").press("Home")
    for _ in range(10 * step):
        page.get_by_role("slider").press("ArrowRight")


def test_the_average_weighs_clients_with_their_samples() -> None:
    models = [(30, (0.9, 0.7, 0.2, 0.3)), (20, (0.2, 0.9, 0.8, 0.4)), (10, (0.4, 0.1, 0.6, 1.0))]
    expected = [sum(n * model[i] for n, model in models) / 60 for i in range(4)]
    assert average().tolist() == pytest.approx(expected)


@pytest.mark.needs_browser
def test_the_model_goes_out_is_trained_and_comes_back_as_the_average(page: Path, chromium) -> None:
    visit = Visit(chromium, page)
    with visit as shown:
        assert shown.evaluate(GLOBAL) == [14, 14, 14, 14]
        assert [token[0] for token in shown.evaluate(COHORT)] == [0, 0, 0]
        moved(shown, 2)  # the models are out: at the clients, and still w
        places = [[1, 64 + 128 * k, 222, 14, 14, 14, 14] for k in (0, 2, 4)]
        assert shown.evaluate(COHORT) == [pytest.approx(place) for place in places]
        moved(shown, 3)  # trained: in the same places, and different
        first = shown.evaluate(COHORT)[0]
        assert first == pytest.approx([1, 64, 222, 28 * 0.9, 28 * 0.7, 28 * 0.2, 28 * 0.3])
        moved(shown, 4)
        assert all(token[2] < 150 for token in shown.evaluate(COHORT))
        assert shown.evaluate(GLOBAL) == [14, 14, 14, 14]
        moved(shown, 5)
        assert shown.evaluate(GLOBAL) == pytest.approx((28 * average()).tolist(), abs=0.01)
        assert [token[0] for token in shown.evaluate(COHORT)] == [0, 0, 0]
    assert visit.faults == []
    assert [url for url in visit.requests if not url.startswith("file:")] == []


@pytest.mark.needs_browser
def test_each_step_has_its_caption_and_its_value_for_screen_readers(page: Path, chromium) -> None:
    with Visit(chromium, page) as shown:
        assert all(caption in shown.get_by_role("img").get_attribute("aria-label") for caption in CAPTIONS)
        for number, caption in enumerate(CAPTIONS, 1):
            words = f"{number} of 6: {caption}"
            assert shown.locator(".caption").inner_text() == words
            assert shown.get_by_role("slider", name="moment").get_attribute("aria-valuetext") == words
            shown.get_by_role("button", name="Next step").press("Enter")
        assert shown.locator(".caption").inner_text().startswith("1 of 6")


@pytest.mark.needs_browser
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_plays_to_the_end_and_moves_only_when_asked(page: Path, chromium, motion: str) -> None:
    with Visit(chromium, page, reduced_motion=motion) as shown:
        shown.clock.install()
        shown.reload()
        moments = set()
        shown.clock.run_for(5000)
        assert shown.get_by_role("slider").input_value() == "0"
        shown.get_by_role("button", name="Play").click()
        assert shown.get_by_role("button", name="Pause").count() == 1
        for _ in range(80):
            shown.clock.run_for(200)
            moments.add(float(shown.get_by_role("slider").input_value()))
        assert max(moments) == 5
        assert shown.get_by_role("button", name="Play").count() == 1
        between = {moment for moment in moments if moment % 1}
        assert bool(between) == (motion == "no-preference")


@pytest.mark.needs_browser
def test_without_scripts_it_stands_still_with_all_its_captions(page: Path, chromium) -> None:
    with Visit(chromium, page, 390, java_script_enabled=False) as shown:
        assert shown.locator(".fedlab-round svg").is_visible()
        assert shown.locator(".fedlab-round li").all_inner_texts() == list(CAPTIONS)
        assert shown.locator(".fedlab-round").get_by_role("button").count() == 0
