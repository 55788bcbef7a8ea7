"""Which patient is it? The hidden patient is who the case says, and guesses are judged with reasons
from the runs.
"""

import html

import pytest

import fedlab_core as fl
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic.mystery import WhoIsIt

SHORT = {"rounds": 3, "num_clients": 10, "clients_per_round": 4, "local_epochs": 1}


def case_of(number: int, **choice) -> WhoIsIt:
    """The explorer that hides this patient."""
    found = (clinic.who_is_it(case, **{**SHORT, **choice}) for case in range(9))
    return next(explorer for explorer in found if explorer.number == number)


def test_the_cases_are_all_patients_who_have_others_to_be_taken_for() -> None:
    numbers = [clinic.who_is_it(case, **SHORT).number for case in range(9)]
    methods = [patient.method for patient in clinic.PATIENTS.values()]
    assert sorted(numbers) == [
        n for n, patient in clinic.PATIENTS.items() if methods.count(patient.method) > 1
    ]


def test_the_patient_runs_beside_the_healthy_one_unnamed_until_a_right_guess() -> None:
    explorer = case_of(3)
    figure = explorer.run()
    assert [trace.name for trace in figure.data] == ["SCAFFOLD", "the patient"]
    digits = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        digits.train.y, num_clients=10, labels_per_client=2, seed=0
    )
    fed = fl.FederatedDataset(digits, parts)
    work = {
        "rounds": 3,
        "clients_per_round": 4,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.05,
        "progress": False,
    }
    alone = fl.simulate(fed, fl.models.mlp(fed, seed=0), clinic.PATIENTS[3].algorithm, **work)
    assert list(figure.data[1].y) == alone.frame.test_accuracy.tolist()
    texts = [
        figure.to_json(),
        explorer.code,
        explorer.verdict.value,
        explorer.messages.value,
        explorer.fold.value,
    ]
    assert not [text for text in texts if "Patient 3" in text or "PATIENTS[3]" in text]
    assert "It says that it is SCAFFOLD" in explorer.verdict.value
    assert explorer.guess(3)
    explorer.wait(60)
    assert "Yes, it is Patient 3" in explorer.verdict.value
    assert clinic.diagnosis(3) in html.unescape(explorer.verdict.value)
    shown = {name: one.frame.test_accuracy.tolist() for name, one in explorer.histories.items()}
    namespace: dict = {}
    exec(explorer.code, namespace)
    assert {
        name: one.frame.test_accuracy.tolist() for name, one in namespace["histories"].items()
    } == shown


def test_a_wrong_guess_is_told_with_a_reason_from_both_runs_and_the_next_patient_forgets_it() -> (
    None
):
    explorer = case_of(3)
    explorer.run()
    assert not explorer.guess(9)
    explorer.wait(60)
    assert list(explorer.histories) == ["SCAFFOLD", "the patient", "Patient 9"]
    hidden, named = (explorer.histories[name] for name in ("the patient", "Patient 9"))
    pairs = zip(hidden.records, named.records, strict=True)
    round, ours, theirs = next(
        (one.round, one.train_loss, other.train_loss)
        for one, other in pairs
        if one.train_loss != other.train_loss
    )
    reason = (
        f"In round {round} the training loss of Patient 9 is {theirs:.4g}, and that of the "
        f"patient is {ours:.4g}."
    )
    assert "No, it is not Patient 9" in explorer.verdict.value
    assert reason in explorer.verdict.value
    before = explorer.case
    explorer.next()
    explorer.wait(60)
    assert explorer.case == before + 1 and explorer.number != 3 and len(explorer.histories) == 2
    assert f"Case {before + 2}" in explorer.verdict.value


def test_where_two_patients_run_alike_it_says_so() -> None:
    explorer = case_of(3, rounds=1)  # in round 1 no correction is known yet
    explorer.run()
    explorer.guess(6)
    explorer.wait(60)
    assert "Which settings would tell them apart?" in explorer.verdict.value


def test_only_patients_who_say_the_same_can_be_named() -> None:
    with pytest.raises(ValueError, match=r"number=1: must be one of 2, 3, 6, 8, 9, 11"):
        case_of(3).guess(1)


def test_headless_it_says_what_it_is_and_trains_nothing(monkeypatch, capsys) -> None:
    monkeypatch.setattr(fl.Simulation, "__next__", lambda self: pytest.fail("it trains"))
    monkeypatch.setenv("FEDLAB_HEADLESS", "1")
    clinic.who_is_it()._ipython_display_()
    assert "Which patient is it?" in capsys.readouterr().out
