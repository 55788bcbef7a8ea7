"""What all explorers are made of, under ipywidgets 8 and under what hosts have."""

import ipywidgets
import pytest

from fedlab_course.explore import widgets

KINDS = ("Button", "HTML", "SelectionSlider", "ToggleButtons")


@pytest.mark.parametrize("name", KINDS)
def test_a_style_is_of_the_kind_that_the_widget_has_by_itself(name: str) -> None:
    kind = getattr(ipywidgets, name)
    options = {"options": ["a"]} if name in ("SelectionSlider", "ToggleButtons") else {}
    assert type(widgets.style(kind)) is type(kind(**options).style)
    assert kind(**options, style=widgets.style(kind)).style is widgets.style(kind)


def test_a_hint_has_the_name_that_this_ipywidgets_has_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ipywidgets.IntSlider(**widgets.hint("how many")).tooltip == "how many"
    monkeypatch.delattr(ipywidgets.DOMWidget, "tooltip")
    assert widgets.hint("how many") == {"description_tooltip": "how many"}
