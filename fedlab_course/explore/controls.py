"""The controls of an explorer, and their values as a Choice."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets

from fedlab_core.language import translator
from fedlab_course.catalogue import splits
from fedlab_course.catalogue.parameters import PARAMETERS
from fedlab_course.catalogue.splits import SPLITS
from fedlab_course.explore.choices import ALGORITHMS, TUNED, Choice, title, tuned
from fedlab_course.explore.widgets import box, control, move, show, slider, text

_ = translator(__name__)

# the choices with a slider, in the order of the table
SLIDERS = (
    "mu",
    "strength",
    "alpha",
    "labels",
    "clients_per_round",
    "local_epochs",
    "lr",
    "rounds",
)
# these redraw the clients while they move; the others act when released
_MOVING = ("alpha", "labels")
# times a default of the reader: the positions of its slider
_FACTORS = (0.0, 0.01, 0.1, 0.2, 0.5, 2.0, 5.0, 10.0)


class Controls:
    """One widget per field of :class:`Choice` that a student may set, and their values as a choice.

    Other fields keep the value of ``choice``; so do the algorithms unless they are ``offered``.
    ``own``: the sliders of the reader's algorithms, by name and parameter.
    """

    def __init__(self, choice: Choice, *, offered: bool = True) -> None:
        titles = {key: title(key) for key in ALGORITHMS} | {
            one.name: one.name for one in choice.own
        }
        tick = partial(control, ipywidgets.Checkbox, wide=False, indent=False)
        self.algorithms = {
            key: tick(name, _("Train {name}").format(name=name), value=key in choice.algorithms)
            for key, name in titles.items()
            if offered
        }
        self.own = {
            (one.name, name): _own(one.name, name, value)
            for one in choice.own
            for name, value in one.arguments
        }
        self.fields = _fields(choice)
        self.box = self._arranged()
        self.set(choice)

    @property
    def choice(self) -> Choice:
        """The present values of the controls."""
        values: dict[str, Any] = {name: widget.value for name, widget in self.fields.items()}
        if self.algorithms:
            values["algorithms"] = tuple(key for key, tick in self.algorithms.items() if tick.value)
        own = []
        for one in self._base.own:
            numbers = tuple((name, self.own[one.name, name].value) for name, _ in one.arguments)
            own.append(dataclasses.replace(one, arguments=numbers))
        return dataclasses.replace(self._base, own=tuple(own), **values)

    def set(self, choice: Choice) -> None:
        """Move every control to ``choice``, and extend its range if necessary. Observers are not
        called.
        """
        self._quiet = True
        try:
            self._base = choice
            for key, tick in self.algorithms.items():
                tick.value = key in choice.algorithms
            for name, widget in self.fields.items():
                move(widget, getattr(choice, name))
            for one in choice.own:
                for name, value in one.arguments:
                    move(self.own[one.name, name], value)
        finally:
            self._quiet = False
        self._hide_unused()

    def observe(self, handler: Callable[[], None]) -> None:
        """Call ``handler`` after every change by the reader."""

        def changed(change: dict[str, Any]) -> None:
            if not self._quiet:
                self._hide_unused()
                handler()

        for widget in (*self.algorithms.values(), *self.own.values(), *self.fields.values()):
            widget.observe(changed, "value")

    def _hide_unused(self) -> None:
        """Hide the controls without effect."""
        choice = self.choice
        used = {
            SPLITS[choice.split].parameter,
            *(name for key in choice.algorithms for name in tuned(key)),
        }
        for name in (*TUNED, "alpha", "labels"):
            show(self.fields[name], name in used)
        for (algorithm, _name), widget in self.own.items():
            show(widget, algorithm in choice.algorithms)

    def _arranged(self) -> Any:
        def part(heading: str, *names: str) -> list[Any]:
            return [
                text(f"<b>{heading}</b>", "fedlab-heading"),
                *(self.fields[name] for name in names),
            ]

        heading, *strengths = part(_("Algorithms"), *TUNED)
        offered = (
            [heading, box(*self.algorithms.values(), look="fedlab-ticks")]
            if self.algorithms
            else []
        )
        clients = part(_("Clients"), "split", "alpha", "labels", "clients_per_round")
        training = part(_("Training"), "local_epochs", "lr", "rounds", "seed")
        return box(
            *offered, *self.own.values(), *strengths, *clients, *training, look="fedlab-controls"
        )


def _fields(first: Choice) -> dict[str, Any]:
    """The widgets, with their values from ``first``: each later change would be a message to the
    browser.
    """
    titles = [(split.words, law) for law, split in SPLITS.items()]
    step = PARAMETERS["penalty_step"]
    seed = PARAMETERS["seed"]
    fields = {
        "split": control(
            ipywidgets.Dropdown, splits.LABEL, splits.TIP, options=titles, value=first.split
        ),
        "penalty_step": control(
            ipywidgets.Dropdown,
            step.label,
            step.tip,
            options=[(step.in_words(value), value) for value in step.values],
            value=first.penalty_step,
        ),
        "seed": control(ipywidgets.IntText, seed.label, seed.tip, value=first.seed),
    }
    for name in SLIDERS:
        one = PARAMETERS[name]
        positions = range(1, first.num_clients + 1) if name == "clients_per_round" else one.values
        fields[name] = slider(
            one.label, positions, getattr(first, name), one.tip, moving=name in _MOVING
        )
    return fields


def _own(algorithm: str, name: str, value: float) -> Any:
    """A slider over multiples of the default ``value`` with three digits; integers if it is one."""
    positions = [type(value)(float(f"{factor * value:.3g}")) for factor in _FACTORS]
    label = _("{name} of {algorithm}").format(name=name, algorithm=algorithm)
    return slider(label, positions, value, _("{name} in the code").format(name=name), moving=False)
