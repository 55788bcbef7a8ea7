"""Examinations of the clinic that chapter 7 gives, and the table of what patients pass.

An examination is a function of a patient and a seed. It returns True or False, or None where its
question does not apply. The notebook shows :func:`limit`, :func:`order` and :func:`round_1` itself,
and one is written by the reader.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from IPython.display import Markdown

from fedlab_core.language import translator
from fedlab_course.chapters.ch07_bug_clinic.bench import LR, draw, end, same, start
from fedlab_course.chapters.ch07_bug_clinic.chart import examination as name_in_words
from fedlab_course.chapters.ch07_bug_clinic.patients import HEALTHY, PATIENTS, Patient

_ = translator(__name__)
Examination = Callable[[Patient, int], bool | None]
Findings = dict[str, dict[str, bool | None]]  # examination → name of the patient → result


def limit(patient: Patient, seed: int) -> bool:
    """Whether w stops where the mathematics says, on two quadratics."""
    a, b = draw(seed, 2)
    mu = 1.0 if patient.method == "FedProx" else 0.0
    s = (1 - (1 - LR * (a + mu)) ** 5) * a / (a + mu)
    share = a if patient.method == "SCAFFOLD" else s
    return same(end(patient, a, b, rounds=50), share @ b / share.sum())


def order(patient: Patient, seed: int) -> bool:
    """Whether clients that are counted backwards give the same result."""
    a, b = draw(seed, 4)
    return same(end(patient, a, b), end(patient, a[::-1], b[::-1]))


def round_1(patient: Patient, seed: int) -> bool:
    """Whether the first round is FedAvg's, with one local step and all clients."""
    problem = draw(seed, 3)
    once: dict[str, Any] = {"rounds": 1, "local_steps": 1}
    return same(end(patient, *problem, **once), end(HEALTHY["FedAvg"], *problem, **once))


def clones(patient: Patient, seed: int) -> bool:
    """Whether two of six equal clients do in a round what one of them does alone."""
    a, b = draw(seed, 1)
    crowd = end(patient, a.repeat(6), b.repeat(6), rounds=1, clients_per_round=2)
    return same(crowd, end(patient, a, b, rounds=1))


def seeds_matter(patient: Patient, seed: int) -> bool:
    """Whether one seed gives one result twice, and another seed another result."""
    a, b = draw(seed, 10)
    first, again, other = (
        end(patient, a, b, clients_per_round=2, seed=s) for s in (seed, seed, seed + 100)
    )
    return first == again and not same(first, other)


def effect(patient: Patient, seed: int) -> bool | None:
    """Whether the result after three rounds differs from FedAvg's.

    FedNova needs clients with different numbers of steps to differ.
    """
    if patient.method in ("FedAvg", "FedNova"):
        return None
    problem = draw(seed, 3)
    return not same(end(patient, *problem), end(HEALTHY["FedAvg"], *problem))


def mean_of_controls(patient: Patient, seed: int) -> bool | None:
    """Whether SCAFFOLD's c is the mean of all c_k after each of six rounds."""
    if patient.method != "SCAFFOLD":
        return None
    simulation = start(patient, *draw(seed, 5), rounds=6, clients_per_round=2, seed=seed)
    states = (simulation.state_dict()["algorithm"] for _round in simulation)
    gaps = [(state["c"] - state["c_clients"].mean(0)).abs().max().item() for state in states]
    return max(gaps) < 1e-8


def mean_gradient(patient: Patient, seed: int) -> bool | None:
    """Whether a new c_k of SCAFFOLD is the mean of the raw gradients that client k met.

    The clients have one sample and four, so that they make two and eight steps.
    """
    if patient.method != "SCAFFOLD":
        return None
    a, b = draw(seed, 2)
    states = []
    simulation = start(patient, a, b, sizes=[1, 4], batch_size=1, local_epochs=2)
    for _round in simulation:
        state = simulation.state_dict()
        states.append((state["params"].item(), state["algorithm"]))
    (w, before), (_w, after) = states[-2:]
    agrees = []
    for k, num_steps in enumerate((2, 8)):
        offset = before["c"].item() - before["c_clients"][k].item()
        y = w
        gradients = []
        for _step in range(num_steps):
            gradients.append(a[k] * (y - b[k]))
            y -= LR * (gradients[-1] + offset)
        agrees.append(same(after["c_clients"][k].item(), float(np.mean(gradients))))
    return all(agrees)


GIVEN: dict[str, Examination] = {
    "clones": clones,
    "seeds": seeds_matter,
    "effect": effect,
    "mean of controls": mean_of_controls,
    "mean gradient": mean_gradient,
}


def code(*names: str) -> Markdown:
    """The source of these examinations of ``GIVEN``, in a fold."""
    sources = "\n\n".join(inspect.getsource(GIVEN[name]) for name in names)
    words = _("The code of {names}").format(names=_(" and ").join(map(name_in_words, names)))
    summary = f"<summary>{words}</summary>"
    return Markdown(f"<details>{summary}\n\n```python\n{sources}```\n\n</details>")


def examine(examination: Examination, patient: Patient, seeds: Sequence[int]) -> bool | None:
    """True if the patient passes under every seed, None if the question does not apply."""
    results = [examination(patient, seed) for seed in seeds]
    return None if None in results else all(results)


def examine_all(
    examinations: Mapping[str, Examination], patients: Iterable[Patient], seeds: Sequence[int]
) -> Findings:
    """The results of all ``examinations`` of all ``patients``."""
    ward = list(patients)
    return {
        name: {patient.name: examine(examination, patient, seeds) for patient in ward}
        for name, examination in examinations.items()
    }


def found_by(findings: Mapping[str, Mapping[str, bool | None]]) -> dict[str, set[str]]:
    """For each examination the patients that fail it."""
    return {
        name: {patient for patient, passes in row.items() if passes is False}
        for name, row in findings.items()
    }


def found_once(findings: Mapping[str, Mapping[str, bool | None]]) -> list[str]:
    """The patients that fail exactly one examination."""
    failed = [patient for found in found_by(findings).values() for patient in sorted(found)]
    return [patient for patient in dict.fromkeys(failed) if failed.count(patient) == 1]


def smallest_set(findings: Mapping[str, Mapping[str, bool | None]]) -> tuple[str, ...]:
    """A smallest set of examinations that finds every patient that any of them finds.

    The first of several.
    """
    found = found_by(findings)
    everybody = set[str]().union(*found.values())
    for size in range(len(found)):
        for chosen in combinations(found, size):
            if everybody == set[str]().union(*(found[name] for name in chosen)):
                return chosen
    return tuple(found)


def with_yours(
    examinations: Mapping[str, Examination],
    healthy: Findings,
    findings: Findings,
    kind: Callable[[], Any],
    seeds: Sequence[int],
) -> Findings:
    """The findings of the patients that say they are FedAvg, with one more, "your bug".

    ``healthy`` and ``findings``: what the library's algorithms and the other patients pass.
    ``kind``: the class of an algorithm with a method ``passes``, which is the last examination.
    """
    ward = [HEALTHY["FedAvg"], *(one for one in PATIENTS.values() if one.method == "FedAvg")]
    mine = Patient(_("your bug"), "FedAvg", kind())
    table = {}
    for name, row in examine_all(examinations, [mine], seeds).items():
        known = healthy[name] | findings[name]
        table[name] = {one.name: known[one.name] for one in ward} | row
    return table | examine_all({_("your test"): kind().passes}, [*ward, mine], seeds)
