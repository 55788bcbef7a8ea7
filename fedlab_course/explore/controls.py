"""The controls of an explorer, and their values as a Choice."""

import dataclasses
from collections.abc import Callable
from typing import Any

import ipywidgets

from fedlab_core import settings
from fedlab_core.data.disk.files import locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from fedlab_course.explore.choices import ALGORITHMS, Choice, title, tuned
from fedlab_course.explore.sliders import SETTINGS, Slider
from fedlab_course.explore.widgets import column, control, move, shared, slider, text

_SPLITS = (
    ("Dirichlet label mixes", "dirichlet"),
    ("labels per client", "labels_per_client"),
    ("Dirichlet sizes", "quantity"),
    ("IID", "iid"),
)
_SCHEDULES = (("constant η", "constant"), ("inverse time η/(1+t)", "inverse_time"))
_MOVING = ("alpha", "labels")  # redraw the picture of the clients while they move; the others act when released


def available() -> list[str]:
    """The data sets that can be used now: digits, and the image sets on this computer.

    Tweets are not offered: their clients are their accounts, but the splits here deal out any samples to N clients.
    """
    images = {name: source for name, source in SOURCES.items() if name != "sentiment140"}
    found = ((name, locate(source, search_roots(None))) for name, source in images.items())
    return ["digits", *(name for name, location in found if location is not None and not location.missing)]


class Controls:
    """One widget per field of :class:`Choice` that a student may set, in three groups, and the ``choice`` they make.

    Fields without a widget (number of clients, model, batch size) keep the value of ``choice``, and so do algorithms if
    none is ``offered``. ``own``: the sliders of the reader's own algorithms, by name and parameter.
    """

    def __init__(self, choice: Choice, *, offered: bool = True) -> None:
        titles = {key: title(key) for key in ALGORITHMS} | {one.name: one.name for one in choice.own}
        self.algorithms = (
            {key: _tick(name, key in choice.algorithms) for key, name in titles.items()} if offered else {}
        )
        self.own = {
            (one.name, name): slider(
                Slider(f"{name} of {one.name}", positions, dict(one.arguments)[name], f"{name} in the code", False)
            )
            for one in choice.own
            for name, positions in one.positions
        }
        self.fields = _fields(choice)
        self.box = self._arranged()
        self.set(choice)

    @property
    def choice(self) -> Choice:
        """The values of the controls now."""
        values: dict[str, Any] = {name: widget.value for name, widget in self.fields.items()}
        if self.algorithms:
            values["algorithms"] = tuple(key for key, box in self.algorithms.items() if box.value)
        numbers = {key: widget.value for key, widget in self.own.items()}
        own = tuple(
            dataclasses.replace(one, arguments=tuple((name, numbers[one.name, name]) for name, _ in one.arguments))
            for one in self._base.own
        )
        return dataclasses.replace(self._base, own=own, **values)

    def set(self, choice: Choice) -> None:
        """Move every control to ``choice``; controls that do not reach so far are extended. Observers are not told."""
        self._quiet = True
        try:
            self._base = choice
            for key, box in self.algorithms.items():
                box.value = key in choice.algorithms
            cohort, menu = self.fields["clients_per_round"], self.fields["dataset"]
            cohort.max, cohort.tooltip = choice.num_clients, f"Out of N = {choice.num_clients}"
            if choice.dataset not in menu.options:
                menu.options = [*menu.options, choice.dataset]
            for name, widget in self.fields.items():
                move(widget, getattr(choice, name))
            for one in choice.own:
                for name, value in one.arguments:
                    move(self.own[one.name, name], value)
        finally:
            self._quiet = False
        self._show_what_matters()
        if self.choice != choice:  # widgets clamp silently: another run than the requested one would be trained
            raise RuntimeError(f"the controls do not stay where they are put: {self.choice} instead of {choice}")

    def observe(self, handler: Callable[[bool], None]) -> None:
        """Call ``handler(moving)`` after every change; ``moving``: the reader may still be dragging the slider."""

        def changed(change: dict[str, Any]) -> None:
            if not self._quiet:
                self._show_what_matters()
                handler(any(change["owner"] is self.fields[name] for name in _MOVING))

        for widget in (*self.algorithms.values(), *self.own.values(), *self.fields.values()):
            widget.observe(changed, "value")

    def _show_what_matters(self) -> None:
        """Hide the controls that change nothing now."""
        choice = self.choice
        used = {name for key in choice.algorithms if key in ALGORITHMS for name in tuned(key)}
        used |= {"iid": set(), "labels_per_client": {"labels"}}.get(choice.split, {"alpha"})
        for name in ("mu", "strength", "alpha", "labels"):
            _show(self.fields[name], name in used)
        for (algorithm, _), widget in self.own.items():
            _show(widget, algorithm in choice.algorithms)

    def _arranged(self) -> Any:
        groups = {
            "Clients": self._named("dataset", "split", "alpha", "labels", "clients_per_round"),
            "Training": self._named("local_epochs", "lr", "schedule", "rounds", "seed"),
        }
        if self.algorithms:
            boxes = column(*self.algorithms.values(), look="fedlab-ticks")
            groups = {"Algorithms": [boxes, *self.own.values(), *self._named("mu", "strength")], **groups}
        heading = {title: text(f"<b>{title}</b>", "fedlab-heading") for title in groups}
        parts = [part for title, widgets in groups.items() for part in (heading[title], *widgets)]
        return column(*parts, look="fedlab-controls")

    def _named(self, *names: str) -> list[Any]:
        return [self.fields[name] for name in names]


def _fields(first: Choice) -> dict[str, Any]:
    """Widgets that begin at ``first``: moving them there later would send a message to the browser for each."""

    def ladder(name: str, tip: str = "") -> Any:
        return slider(SETTINGS[name].slider(getattr(first, name), tip, moving=name in _MOVING))

    def count(name: str, label: str, most: int, tip: str) -> Any:
        value, continuous = getattr(first, name), name in _MOVING
        traits = {"min": 1, "max": max(most, value), "value": value, "continuous_update": continuous}
        return control(ipywidgets.IntSlider, label, tip, **traits)

    def menu(name: str, label: str, options: Any, tip: str) -> Any:
        return control(ipywidgets.Dropdown, label, tip, options=options, value=getattr(first, name))

    labels, data = SETTINGS["labels"], list(dict.fromkeys([*available(), first.dataset]))
    seed: dict[str, Any] = {"value": first.seed, "min": 0, "max": max(2**31, first.seed)}
    return {
        "mu": ladder("mu"),
        "strength": ladder("strength"),
        "dataset": menu("dataset", "data set", data, "Data sets that are on this computer"),
        "split": menu("split", "split", _SPLITS, "How the samples are dealt out to the clients"),
        "alpha": ladder("alpha"),
        "labels": count("labels", labels.label, 10, labels.tip),
        "clients_per_round": count(
            "clients_per_round", "clients a round K", first.num_clients, f"Out of N = {first.num_clients}"
        ),
        "local_epochs": count("local_epochs", SETTINGS["local_epochs"].label, 20, settings.meaning("local_epochs")),
        "lr": ladder("lr", settings.meaning("lr")),
        "schedule": menu("schedule", "schedule", _SCHEDULES, "How η changes from round to round"),
        "rounds": ladder("rounds", settings.meaning("rounds")),
        "seed": control(ipywidgets.BoundedIntText, "seed", settings.meaning("seed"), **seed),
    }


def _tick(name: str, ticked: bool) -> Any:
    return control(ipywidgets.Checkbox, name, f"Train {name}", wide=False, value=ticked, indent=False)


def _show(widget: Any, shown: bool) -> None:
    widget.layout = shared(ipywidgets.Layout, width="100%", display=None if shown else "none")
