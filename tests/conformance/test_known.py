"""Each known mistake is told from all others, and the check names those that are planted."""

import functools

import numpy as np
import pytest

from fedconform import Task, check
from fedconform.diagnosis import agree
from fedconform.entries import ENTRIES, Entry
from fedconform.formulas.local_training import Answer
from fedconform.mistakes import in_scaffold
from fedconform.mistakes.known import ALL
from fedconform.mistakes.readings import readings_of
from fedconform.mistakes.replacing import Mistake

Answers = list[list[Answer]]  # of every task of an entry


def with_mistakes(entry: Entry, *mistakes: str):
    """An implementation in single precision that makes these mistakes."""

    def run(task: Task) -> dict[str, list[np.ndarray]]:
        if entry.parameters != parameters_of(task):
            raise NotImplementedError("another entry")
        task.used.update({"lr_of", "epochs_of", "problem"})
        answers = entry.answer(task, mistakes)
        if "importance" in answers[0]:
            return {"importance": answers[0]["importance"]}
        return {
            name: [answer[name].astype(np.float32) for answer in answers] for name in answers[0]
        }

    return run


def parameters_of(task: Task) -> dict[str, object]:
    momentum = {"local_momentum": task.local_momentum} if task.local_momentum else {}
    return dict(task.parameters) | momentum


def same(first: Answers, second: Answers) -> bool:
    with np.errstate(all="ignore"):
        return all(agree(one, other) for one, other in zip(first, second, strict=True))


@functools.cache
def equal_mistakes(place: int) -> dict[Mistake, frozenset[Mistake]]:
    """Each mistake that changes a number of the entry → the mistakes with the same numbers."""
    entry = ENTRIES[place]
    tasks = [task for _, task in entry.tasks()]
    right = [entry.answer(task) for task in tasks]
    wrong = {
        mistake: [entry.answer(task, [mistake]) for task in tasks] for mistake in entry.mistakes
    }
    changed = {mistake: answers for mistake, answers in wrong.items() if not same(answers, right)}
    return {
        mistake: frozenset(other for other in changed if same(answers, changed[other]))
        for mistake, answers in changed.items()
    }


@pytest.mark.parametrize("algorithm", sorted({entry.algorithm for entry in ENTRIES}))
def test_a_mistake_is_told_from_all_others_in_some_entry_of_its_algorithm(algorithm: str) -> None:
    places = [place for place, entry in enumerate(ENTRIES) if entry.algorithm == algorithm]
    found = [equal_mistakes(place) for place in places]
    for mistake in {mistake for of_entry in found for mistake in of_entry}:
        candidates = [of_entry[mistake] for of_entry in found if mistake in of_entry]
        assert all(mistake in equal for equal in candidates), mistake
        assert min(map(len, candidates)) == 1, f"{mistake}: {sorted(min(candidates, key=len))}"


def test_every_mistake_of_the_list_changes_a_number_somewhere() -> None:
    changing = {mistake for place in range(len(ENTRIES)) for mistake in equal_mistakes(place)}
    assert set(ALL) - changing == set()


PLANTED = [
    ("Scaffold(option=2, server_lr=0.5)", (in_scaffold.COHORT_SHARE, in_scaffold.NO_RATE)),
    ("Scaffold(option=2, server_lr=1.0)", (in_scaffold.MINUS,)),
]


@pytest.mark.parametrize(("name", "mistakes"), PLANTED)
def test_planted_mistakes_are_found_together(name: str, mistakes: tuple[Mistake, ...]) -> None:
    [entry] = [entry for entry in ENTRIES if str(entry) == name]
    report = check(with_mistakes(entry, *mistakes), [entry.algorithm])
    assert [set(one) for one in report.mistakes[name]] == [set(mistakes)]
    assert set(report.mistakes) == {name}


READINGS = [
    (place, reading)
    for place, entry in enumerate(ENTRIES)
    for reading in readings_of(entry.formula)
    if entry.algorithm in ("FedProx", "FedAvg", "FedYogi") and len(entry.settings) > 3
]


@pytest.mark.parametrize(
    ("place", "reading"), READINGS, ids=[f"{ENTRIES[place]}: {one}" for place, one in READINGS]
)
def test_a_reading_passes_as_a_convention_with_its_name(place: int, reading: Mistake) -> None:
    entry = ENTRIES[place]
    report = check(with_mistakes(entry, reading), [entry.algorithm])
    assert report.passed and not report.mistakes
    conventions = {row.reading for row in report.rows if row.mark() == "convention"}
    assert len(conventions) == 1
    assert conventions <= {str(equal) for equal in equal_mistakes(place)[reading]}
    notes = {row.note for row in report.rows if row.mark() == "convention"}
    assert len(notes) == 1
    assert notes <= set(readings_of(entry.formula).values())


def test_a_reading_beside_a_mistake_fails() -> None:
    [entry] = [entry for entry in ENTRIES if str(entry) == "FedProx(mu=0.5)"]
    reading = next(iter(readings_of(entry.formula)))
    [mistake] = [one for one in entry.mistakes if "μ/2 (y − w)" in one]
    report = check(with_mistakes(entry, reading, mistake), ["FedProx"])
    assert not report.passed
    assert [set(one) for one in report.mistakes[str(entry)]] == [{reading, mistake}]
