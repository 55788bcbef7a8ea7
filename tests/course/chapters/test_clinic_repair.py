"""The clinic's repairs, its table of findings, and the trial of a reader's own patient."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic import bench, repair, ward
from fedlab_course.chapters.ch07_bug_clinic import exercises as exercises_of_7
from fedlab_course.check import registry

EXERCISE = registry.get("07-repair")
SMALL = {"order": lambda patient, seed: bench.same(*two_orders(patient, seed))}


def two_orders(patient: clinic.Patient, seed: int) -> tuple[float, float]:
    a, b = bench.draw(seed, 3)
    return bench.end(patient, a, b), bench.end(patient, a[::-1], b[::-1])


@pytest.fixture(scope="module")
def solution():
    return EXERCISE.build(EXERCISE.solution_source)


@pytest.mark.parametrize("number", [1, 2, 7, 8])
def test_the_faulty_line_makes_the_patient_and_the_right_one_the_library(number, solution) -> None:
    patient = clinic.PATIENTS[number]
    for lines, whole in (
        (repair.Faulty(), patient),
        (solution(), clinic.HEALTHY[patient.method]),
    ):
        built = repair.repaired(number, lines)
        assert (built.name, built.method) == (patient.name, patient.method)
        assert repair._ends_of(built) == pytest.approx(repair._ends_of(whole), abs=1e-12)


def test_patient_10_draws_the_same_cohorts_under_each_seed_until_it_is_repaired(solution) -> None:
    first, second, third = repair.cohorts(repair.Faulty)
    assert first == second == third and first[0] != first[1]
    first, second, third = repair.cohorts(solution)
    assert first != second != third
    assert all(len(set(cohort)) == 5 for cohort in first)


def test_an_empty_line_leaves_the_patient_as_it_is(solution) -> None:
    stub = EXERCISE.build(EXERCISE.stub_source)
    assert not repair.begun(stub) and repair.begun(solution)
    assert repair.ends(stub) == repair.ends(repair.Faulty)


def test_a_patient_without_one_of_the_five_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="patient=3: must be one of 1, 2, 7, 8, 10"):
        repair.repaired(3, repair.Faulty())


def test_each_step_of_the_slider_turns_one_column_green(solution) -> None:
    """*order* finds Patient 5 alone, who has none of the five lines."""
    ward = [clinic.PATIENTS[number] for number in range(1, 12)]
    cut = {"cut": registry.get("07-cut").solution}
    findings = clinic.examine_all(SMALL | cut, ward, [0])
    idea = clinic.turning_green(SMALL | cut, findings, solution, [0])
    titles = [idea.figure(value=float(step)).layout.title.text for step in range(6)]
    assert titles[0] == "Repaired: none. Still failing: 2"
    assert titles[5] == "Repaired: 1, 2, 7, 8, 10. Still failing: 1"
    goal = idea._goal
    assert [goal.check(value=float(step)) for step in range(6)] == [False] + [True] * 5


def test_findings_are_counted() -> None:
    findings = {
        "a": {"p": False, "q": True, "r": None},
        "b": {"p": False, "q": False, "r": True},
        "c": {"p": True, "q": True, "r": False},
    }
    assert clinic.found_by(findings) == {"a": {"p"}, "b": {"p", "q"}, "c": {"r"}}
    assert clinic.found_once(findings) == ["q", "r"]
    assert clinic.smallest_set(findings) == ("b", "c")
    assert clinic.smallest_set({"a": {"p": True}}) == ()


def test_an_examination_is_passed_only_under_every_seed() -> None:
    patient = clinic.HEALTHY["FedAvg"]
    assert clinic.examine(lambda p, seed: True, patient, [0, 1]) is True
    assert clinic.examine(lambda p, seed: seed == 0, patient, [0, 1]) is False
    assert clinic.examine(lambda p, seed: None, patient, [0, 1]) is None


def test_the_readers_patient_and_examination_join_the_table() -> None:
    class Mine(fl.Algorithm):
        def aggregate(self, server, updates):
            return updates.params[0]

        def passes(self, patient, seed):
            return bench.same(*two_orders(patient, seed))

    well = clinic.examine_all(SMALL, [clinic.HEALTHY["FedAvg"]], [0])
    sick = clinic.examine_all(SMALL, [clinic.PATIENTS[n] for n in range(1, 12)], [0])
    table = clinic.with_yours(SMALL, well, sick, Mine, [0])
    wanted = {"FedAvg": True, "Patient 1": True, "Patient 5": False, "Patient 10": True}
    assert table == {
        "order": wanted | {"your bug": False},
        "your test": wanted | {"your bug": False},
    }


class Half(fl.Algorithm):
    """Half of FedAvg's step, whose examination reads what it is told."""

    def aggregate(self, server, updates):
        return (server.params + updates.weighted_mean()) / 2

    def passes(self, patient, seed):
        a, b = bench.draw(seed, 1)
        once = bench.end(patient, a, b, rounds=1, local_steps=1)
        return np.isclose(once, 2 - 0.1 * a[0] * (2 - b[0]))


def test_a_trial_hides_names_and_takes_truth_values_of_numpy() -> None:
    found = bench.trial(Half)
    assert found["healthy"] == [True] * 5 and found["sick"] == [False] * 5
    assert found["hidden"] == [False] * 3 and found["copies"] == 0 and not found["ignores"]
    assert found["excess"] < 1e-3  # (1/2)^30 of the way, in w, and more of it in each round

    class ByName(Half):
        def passes(self, patient, seed):
            return patient.name == "FedAvg" and not isinstance(patient.algorithm, Half)

    blind = bench.trial(ByName)
    assert blind["healthy"] == blind["sick"] == [True] * 5


def test_a_trial_knows_copies_and_a_server_that_ignores_its_clients() -> None:
    class Plain(Half):
        def aggregate(self, server, updates):
            return updates.params.mean(0)

    class Nothing(Half):
        def aggregate(self, server, updates):
            return 0 * updates.weighted_mean()

    class Away(Half):
        def aggregate(self, server, updates):
            return server.params * torch.inf

    assert bench.trial(Plain)["copies"] == 1
    assert bench.trial(Nothing)["ignores"]
    assert np.isnan(bench.trial(Away)["excess"])


def test_what_is_no_truth_value_is_told_in_words() -> None:
    class Words(Half):
        def passes(self, patient, seed):
            return None

    assert bench.trial(Words)["sick"] == ["None"] * 5


def test_the_exercise_examines_by_the_nine_of_the_ward() -> None:
    assert {"limit", "order", "round 1"} | set(clinic.GIVEN) == set(ward.EXAMINATIONS)
    assert len(ward.EXAMINATIONS) == 8, "the ninth is the reader's: cut"
    assert exercises_of_7.found_by_the_nine(fl.FedAvg) == []
    assert exercises_of_7.found_by_the_nine(Half) == ["round 1"]


def test_a_mean_that_ignores_sizes_is_found_by_cutting_a_client() -> None:
    class Unweighted(fl.FedAvg):
        def aggregate(self, server, updates):
            return updates.params.mean(0)

    assert "cut" in exercises_of_7.found_by_the_nine(Unweighted)
