"""Which patient is it? An explorer that shows a hidden patient beside the algorithm that it says it
is.
"""

import dataclasses
from functools import cache
from typing import Any

import ipywidgets
import numpy as np

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_course.chapters.ch07_bug_clinic.patients import PATIENTS, diagnosis
from fedlab_course.explore import widgets
from fedlab_course.explore.choices import Method
from fedlab_course.explore.explorer import Explorer
from fedlab_course.explore.goals import Goal

_ = translator(__name__)
HIDDEN = _("the patient")
_HEALTHY = {"FedAvg": "fedavg", "SCAFFOLD": "scaffold"}
_START: dict[str, Any] = {"split": "labels_per_client", "labels": 2, "rounds": 30}
# Each of the other methods has one patient only: there is nothing to find out.
_CASES = [number for number, patient in PATIENTS.items() if patient.method in _HEALTHY]
_ORDER = np.random.default_rng(7).permutation(_CASES).tolist()


class WhoIsIt(Explorer):
    """Which patient is it? Explorer of a hidden patient beside the algorithm of the library that it
    says it is.

    ``case``: 0, 1, … for one patient after another; ``choice``: the arguments of
    :class:`~fedlab_course.Explorer`. The reader moves the settings, names a patient, and is told
    whether it is that one and what is wrong with it; the run of a wrong guess is drawn as well.
    Headless it trains nothing.
    """

    offered = False

    def __init__(self, case: int = 0, **choice: Any) -> None:
        self.case = validation.integer("case", case, minimum=0)
        self.named: int | None = None
        goal = Goal(
            _("name the patient that is hidden here"), lambda histories: self.named == self.number
        )
        first = {
            "own": _own(self.number, hidden=True),
            "algorithms": (_HEALTHY[self.method],),
            "goal": goal,
        }
        super().__init__(**_START | first | choice)
        self._offer()

    @property
    def number(self) -> int:
        """Who it is."""
        return _ORDER[self.case % len(_ORDER)]

    @property
    def method(self) -> str:
        """What it says it is."""
        return PATIENTS[self.number].method

    @property
    def code(self) -> str:
        """As of every explorer; the number of the patient is left
        to the reader until it was named.
        """
        number = str(self.number) if self.named == self.number else "..."
        imports = "import fedlab_core as fl\nfrom fedlab_course import clinic\n"
        start = f"{imports}\nnumber = {number}  # which patient?\n"
        return super().code.replace("import fedlab_core as fl\n\n", start, 1)

    def guess(self, number: int) -> bool:
        """Whether it is this patient. Otherwise that one's run is drawn as well, so that both can
        be compared.

        Raises ``ValueError`` for a patient who says it is something else.
        """
        self.named = validation.choice(
            "number", number, [suspect for _name, suspect in self.suspects.options]
        )
        right = number == self.number
        self._show(() if right else (number,))
        return right

    def next(self) -> None:
        """Hide another patient."""
        self.case = self.case + 1
        self.named = None
        self.kept.clear()
        self._offer()
        self._show(())

    def _extra(self) -> tuple[Any, ...]:
        tip = _("The patients who say that they are this algorithm")
        self.suspects = widgets.control(ipywidgets.Dropdown, _("who is it?"), tip, wide=False)
        self.verdict = widgets.text()
        say = widgets.button(_("Name it"), self._say, _("Say that it is this patient"))
        following = widgets.button(_("Next patient"), self.next, _("Another hidden patient"))
        return widgets.box(self.suspects, say, following, look="fedlab-row"), self.verdict

    def _say(self) -> None:
        if self.suspects.value is not None:
            self.guess(self.suspects.value)

    def _headless(self) -> str:
        return _(
            "Which patient is it? Where this notebook is open in JupyterLab, an explorer shows a "
            "hidden patient beside the algorithm that it says it is. You move the settings, name "
            "the patient, and are told whether it is."
        )

    def _offer(self) -> None:
        """List the patients who say that they are the same algorithm."""
        self.suspects.options = [
            (PATIENTS[key].name, key) for key in _CASES if PATIENTS[key].method == self.method
        ]
        self.suspects.value = None

    def _show(self, named: tuple[int, ...]) -> None:
        """Train the hidden patient, and those named, beside the healthy algorithm."""
        own = (_own(self.number, hidden=True), *map(_own, named))
        algorithms = (_HEALTHY[self.method], *(patient.name for patient in own))
        self._initial = dataclasses.replace(self._initial, own=own[:1], algorithms=algorithms[:2])
        self.controls.set(dataclasses.replace(self.choice, own=own, algorithms=algorithms))
        self.start()

    def _draw(self) -> None:
        super()._draw()
        self.verdict.value = widgets.note(self._judged())

    def _judged(self) -> str:
        """The answer to the guess; to a wrong one with the first difference of both runs, once they
        have ended.
        """
        if self.named is None:
            return _("Case {number}. It says that it is {method}.").format(
                number=self.case + 1, method=self.method
            )
        name = PATIENTS[self.named].name
        words = diagnosis(self.named)
        if self.named == self.number:
            return _("Yes, it is {name}. {words}").format(name=name, words=words)
        answer = _("No, it is not {name}. What is wrong with {name}: {words}")
        answer = answer.format(name=name, words=words)
        histories = self.histories
        if self.runner.busy or not {name, HIDDEN} <= histories.keys():
            return answer
        for ours, theirs in zip(histories[HIDDEN].records, histories[name].records, strict=False):
            if ours.train_loss != theirs.train_loss:
                losses = _(
                    "In round {round} the training loss of {name} is {theirs:.4g}, and that of "
                    "{hidden} is {ours:.4g}."
                ).format(
                    round=ours.round,
                    name=name,
                    theirs=theirs.train_loss,
                    hidden=HIDDEN,
                    ours=ours.train_loss,
                )
                return f"{answer} {losses}"
        question = _(
            "Under these settings both make the same run. Which settings would tell them apart?"
        )
        return f"{answer} {question}"


@cache  # the same object again, so that its run is not trained again
def _own(number: int, hidden: bool = False) -> Method:
    name, written = (HIDDEN, "number") if hidden else (PATIENTS[number].name, str(number))
    return Method(
        name,
        lambda: PATIENTS[number].algorithm,
        (),
        expression=f"clinic.PATIENTS[{written}].algorithm",
    )
