"""What all explorers are made of, under ipywidgets 8 and under what hosts have."""

from typing import Any

import IPython.display
import ipywidgets
import pytest

from fedlab_course.explore import live, widgets

KINDS = ("Button", "HTML", "SelectionSlider", "ToggleButtons")


@pytest.mark.parametrize("name", KINDS)
def test_a_style_is_of_the_kind_that_the_widget_has_by_itself(name: str) -> None:
    kind = getattr(ipywidgets, name)
    options = {"options": ["a"]} if name in ("SelectionSlider", "ToggleButtons") else {}
    assert type(widgets.style(kind)) is type(kind(**options).style)
    assert kind(**options, style=widgets.style(kind)).style is widgets.style(kind)


def test_a_hint_has_the_name_that_this_ipywidgets_has_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ipywidgets.IntSlider(**widgets.hint("how many")).tooltip == "how many"
    monkeypatch.delattr(ipywidgets.DOMWidget, "tooltip")
    assert widgets.hint("how many") == {"description_tooltip": "how many"}


def test_a_stage_shows_its_widgets_and_words_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    stage = live.Stage(widgets.text("a"), look="fedlab-idea")
    stage.display()
    bundles = [one for one in shown if isinstance(one, dict) and "application/vnd.jupyter.widget-view+json" in one]
    assert bundles == [
        {
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": stage.box.model_id,
            },
            "text/plain": "This explorer moves when its cell is run.",
        }
    ]
