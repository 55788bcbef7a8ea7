"""The controls of the explorer and their values as a Choice."""

import dataclasses
from collections.abc import Callable
from typing import Any

import ipywidgets

from fedlab_core import settings
from fedlab_core.data.disk.files import locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from fedlab_course.chart import column, extend, hint, labelled, ladder, shared, style, text
from fedlab_course.explorer.choices import ALGORITHMS, Choice, title, tuned

_MU = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_STRENGTH = (0.0, 0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 24.0)
_ALPHA = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 100.0)
_LR = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_ROUNDS = range(5, 201, 5)
_SPLITS = (
    ("Dirichlet label mixes", "dirichlet"),
    ("labels per client", "labels_per_client"),
    ("Dirichlet sizes", "quantity"),
    ("IID", "iid"),
)
_SCHEDULES = (("constant η", "constant"), ("inverse time η/(1+t)", "inverse_time"))
# These redraw the picture of the clients while they move; the others speak when they are released.
_MOVING = ("alpha", "labels")


def available() -> list[str]:
    """The data sets that can be used now: digits, and those of images whose files are on disk.

    Tweets are not offered: their clients are their accounts, but the splits here deal out any samples to N clients.
    """
    images = {name: source for name, source in SOURCES.items() if name != "sentiment140"}
    found = ((name, locate(source, search_roots(None))) for name, source in images.items())
    return ["digits", *(name for name, location in found if location is not None and not location.missing)]


class Controls:
    """One widget per field of :class:`Choice` that a student may turn, in three groups, and the ``choice`` they make.

    Fields without a widget (number of clients, model, batch size) keep the value of ``choice``, and so do algorithms if
    none is ``offered``. ``own``: the sliders of the reader's own algorithms, by name and parameter.
    """

    def __init__(self, choice: Choice, *, offered: bool = True) -> None:
        titles = {key: title(key) for key in ALGORITHMS} | {one.name: one.name for one in choice.own}
        self.algorithms = (
            {key: _tick(name, key in choice.algorithms) for key, name in titles.items()} if offered else {}
        )
        self.own = {
            (one.name, name): ladder(
                f"{name} of {one.name}", positions, dict(one.arguments)[name], f"{name} in the code"
            )
            for one in choice.own
            for name, positions in one.positions
        }
        self.fields = _fields(choice)
        self.box = self._arranged()
        self.set(choice)

    @property
    def choice(self) -> Choice:
        """What the controls say now."""
        values: dict[str, Any] = {name: widget.value for name, widget in self.fields.items()}
        if self.algorithms:
            values["algorithms"] = tuple(key for key, box in self.algorithms.items() if box.value)
        own = tuple(one.with_arguments(self._numbers(one.name)) for one in self._base.own)
        return dataclasses.replace(self._base, own=own, **values)

    def set(self, choice: Choice) -> None:
        """Move every control to ``choice``, widening those that do not reach so far. The observer is not told."""
        self._quiet = True
        try:
            self._base = choice
            for key, box in self.algorithms.items():
                box.value = key in choice.algorithms
            cohort, menu = self.fields["clients_per_round"], self.fields["dataset"]
            cohort.max, cohort.tooltip = choice.num_clients, f"Out of N = {choice.num_clients}"
            if choice.dataset not in menu.options:
                menu.options = [*menu.options, choice.dataset]
            numbers = {(one.name, name): value for one in choice.own for name, value in one.arguments}
            widgets = [(widget, getattr(choice, name)) for name, widget in self.fields.items()]
            for widget, value in [*widgets, *((self.own[key], value) for key, value in numbers.items())]:
                if isinstance(widget, ipywidgets.SelectionSlider):
                    extend(widget, [value])
                elif hasattr(widget, "max"):
                    widget.max = max(widget.max, value)
                widget.value = value
        finally:
            self._quiet = False
        self._show_what_matters()
        if self.choice != choice:  # widgets clamp in silence, and something else would be trained
            raise RuntimeError(f"the controls do not stay where they are put: {self.choice} instead of {choice}")

    def observe(self, handler: Callable[[bool], None]) -> None:
        """Call ``handler(moving)`` after every change; ``moving`` if the control may still be on its way."""

        def changed(change: dict[str, Any]) -> None:
            if not self._quiet:
                self._show_what_matters()
                handler(any(change["owner"] is self.fields[name] for name in _MOVING))

        for widget in (*self.algorithms.values(), *self.own.values(), *self.fields.values()):
            widget.observe(changed, "value")

    def _numbers(self, algorithm: str) -> dict[str, float]:
        return {name: widget.value for (own, name), widget in self.own.items() if own == algorithm}

    def _show_what_matters(self) -> None:
        """A control that changes nothing now is not shown."""
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
        parts = [part for title, widgets in groups.items() for part in (_heading(title), *widgets)]
        return column(*parts, look="fedlab-controls")

    def _named(self, *names: str) -> list[Any]:
        return [self.fields[name] for name in names]


def _fields(first: Choice) -> dict[str, Any]:
    """Widgets that stand at ``first``: to put them there later would be a message to the browser for each."""
    local_epochs, out_of = settings.meaning("local_epochs"), f"Out of N = {first.num_clients}"
    data = list(dict.fromkeys([*available(), first.dataset]))
    return {
        "mu": ladder("μ of FedProx", _MU, first.mu, "Proximal strength: how hard clients are held back"),
        "strength": ladder("λ of the penalty", _STRENGTH, first.strength, "Strength of the penalty on forgetting"),
        "dataset": _menu("data set", data, first.dataset, "Data sets that are on this computer"),
        "split": _menu("split", _SPLITS, first.split, "How the samples are dealt out to the clients"),
        "alpha": ladder(
            "α of Dirichlet", _ALPHA, first.alpha, "Small: few labels in each, or few large clients", continuous=True
        ),
        "labels": _count("labels per client", 10, first.labels, "Distinct labels of each client", continuous=True),
        "clients_per_round": _count("clients a round K", first.num_clients, first.clients_per_round, out_of),
        "local_epochs": _count("local epochs E", 20, first.local_epochs, local_epochs),
        "lr": ladder("learning rate η", _LR, first.lr, settings.meaning("lr")),
        "schedule": _menu("schedule", _SCHEDULES, first.schedule, "How η changes from round to round"),
        "rounds": ladder("rounds", _ROUNDS, first.rounds, settings.meaning("rounds")),
        "seed": ipywidgets.BoundedIntText(
            first.seed,
            min=0,
            max=max(2**31, first.seed),
            description="seed",
            **hint(settings.meaning("seed")),
            **labelled(ipywidgets.BoundedIntText),
        ),
    }


def _menu(label: str, options: Any, value: str, tooltip: str) -> Any:
    look = hint(tooltip) | labelled(ipywidgets.Dropdown)
    return ipywidgets.Dropdown(options=options, value=value, description=label, **look)


def _count(label: str, high: int, value: int, tooltip: str, *, continuous: bool = False) -> Any:
    look = {"description": label, **hint(tooltip), **labelled(ipywidgets.IntSlider)}
    return ipywidgets.IntSlider(value, 1, max(high, value), continuous_update=continuous, **look)


def _tick(name: str, ticked: bool) -> Any:
    look = {"layout": shared(ipywidgets.Layout, width="auto"), "style": style(ipywidgets.Checkbox)}
    return ipywidgets.Checkbox(value=ticked, description=name, indent=False, **hint(f"Train {name}"), **look)


def _heading(words: str) -> Any:
    return text(f"<b>{words}</b>", "fedlab-heading")


def _show(widget: Any, shown: bool) -> None:
    widget.layout = shared(ipywidgets.Layout, width="100%", display=None if shown else "none")
