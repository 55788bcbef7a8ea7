"""The controls of the explorer and their values as a Choice."""

import dataclasses
from collections.abc import Callable
from typing import Any

import ipywidgets

from fedlab_core import settings
from fedlab_core.data.disk.files import locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from fedlab_course.chart import extend, ladder
from fedlab_course.explorer.choices import ALGORITHMS, Choice, title, tuned

_LOOK = {"layout": {"width": "100%"}, "style": {"description_width": "9em"}}
_MU = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_STRENGTH = (0.0, 0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 24.0)
_ALPHA = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 100.0)
_LR = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_ROUNDS = range(5, 201, 5)
_SPLITS = (("Dirichlet label mixes", "dirichlet"), ("labels per client", "labels_per_client"), ("IID", "iid"))
_SCHEDULES = (("constant η", "constant"), ("inverse time η/(1+t)", "inverse_time"))
# These redraw the picture of the clients while they move; the others speak when they are released.
_MOVING = ("alpha", "labels")


def available() -> list[str]:
    """The data sets that can be used now: digits, and those whose files are on disk."""
    found = ((name, locate(source, search_roots(None))) for name, source in SOURCES.items())
    return ["digits", *(name for name, location in found if location is not None and not location.missing)]


class Controls:
    """One widget per field of :class:`Choice` that a student may turn, in three groups, and the ``choice`` they make.

    Fields without a widget (number of clients, model, batch size) keep the value of ``choice``.
    """

    def __init__(self, choice: Choice) -> None:
        self.algorithms = {
            key: ipywidgets.Checkbox(
                description=title(key),
                tooltip=f"Train {title(key)}",
                indent=False,
                layout={"width": "auto"},
            )
            for key in ALGORITHMS
        }
        self.fields = _fields()
        self.box = self._arranged()
        self.set(choice)

    @property
    def choice(self) -> Choice:
        """What the controls say now."""
        chosen = tuple(key for key, box in self.algorithms.items() if box.value)
        values = {name: widget.value for name, widget in self.fields.items()}
        return dataclasses.replace(self._base, algorithms=chosen, **values)

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
            for name, widget in self.fields.items():
                value = getattr(choice, name)
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

        for widget in (*self.algorithms.values(), *self.fields.values()):
            widget.observe(changed, "value")

    def _show_what_matters(self) -> None:
        """A control that changes nothing now is not shown."""
        used = {name for key, box in self.algorithms.items() if box.value for name in tuned(key)}
        split = self.fields["split"].value
        used |= {"alpha"} if split == "dirichlet" else {"labels"} if split == "labels_per_client" else set()
        for name in ("mu", "strength", "alpha", "labels"):
            self.fields[name].layout.display = None if name in used else "none"

    def _arranged(self) -> ipywidgets.VBox:
        grid = {"grid_template_columns": "1fr 1fr", "width": "100%"}
        boxes = ipywidgets.GridBox(list(self.algorithms.values()), layout=grid)
        groups = {
            "Algorithms": [boxes, *self._named("mu", "strength")],
            "Clients": self._named("dataset", "split", "alpha", "labels", "clients_per_round"),
            "Training": self._named("local_epochs", "lr", "schedule", "rounds", "seed"),
        }
        parts = [part for title, widgets in groups.items() for part in (_heading(title), *widgets)]
        return ipywidgets.VBox(parts, layout={"flex": "0 0 350px", "width": "350px", "padding": "0 14px 0 0"})

    def _named(self, *names: str) -> list[Any]:
        return [self.fields[name] for name in names]


def _fields() -> dict[str, Any]:
    first = Choice()
    return {
        "mu": ladder("μ of FedProx", _MU, first.mu, "Proximal strength: how hard clients are held back"),
        "strength": ladder("λ of the penalty", _STRENGTH, first.strength, "Strength of the penalty on forgetting"),
        "dataset": _menu("data set", available(), "Data sets that are on this computer"),
        "split": _menu("split", _SPLITS, "How the samples are dealt out to the clients"),
        "alpha": ladder("α of Dirichlet", _ALPHA, first.alpha, "Small: each client has few labels", continuous=True),
        "labels": _count("labels per client", 10, "Distinct labels of each client", continuous=True),
        "clients_per_round": _count("clients a round K", first.num_clients, "Out of all clients"),
        "local_epochs": _count("local epochs E", 20, settings.meaning("local_epochs")),
        "lr": ladder("learning rate η", _LR, first.lr, settings.meaning("lr")),
        "schedule": _menu("schedule", _SCHEDULES, "How η changes from round to round"),
        "rounds": ladder("rounds", _ROUNDS, first.rounds, settings.meaning("rounds")),
        "seed": ipywidgets.BoundedIntText(
            min=0, max=2**31, description="seed", tooltip=settings.meaning("seed"), **_LOOK
        ),
    }


def _menu(label: str, options: Any, tooltip: str) -> Any:
    return ipywidgets.Dropdown(options=options, description=label, tooltip=tooltip, **_LOOK)


def _count(label: str, high: int, tooltip: str, *, continuous: bool = False) -> Any:
    return ipywidgets.IntSlider(
        min=1, max=high, description=label, tooltip=tooltip, continuous_update=continuous, **_LOOK
    )


def _heading(text: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(f'<b style="font-size:15px">{text}</b>', layout={"margin": "6px 0 0 0"})
