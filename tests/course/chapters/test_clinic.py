"""The bug clinic: right algorithms pass every examination, and each wrong one fails those, and only
those, it must.
"""

import runpy
from functools import partial

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedconform.declared import SHIPPED
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic import bench as bench_tools
from fedlab_course.check import exercises, registry
from tests.course.check.from_notebook import defined
from tests.support import quadratics, run, scalar_model

EXAMINATIONS = (
    "limit",
    "order",
    "cut",
    "clones",
    "seeds_matter",
    "round_1",
    "effect",
    "mean_of_controls",
    "mean_gradient",
)
# Worked out by hand: a mistake shows only where sizes, steps,
# cohorts, order or seeds differ as it needs.
FAILS = {
    1: {"cut"},
    2: {"mean_of_controls"},
    3: {"limit", "effect", "mean_gradient"},
    4: {"limit", "effect"},
    5: {"limit", "order", "round_1"},
    6: {"limit", "mean_gradient"},
    7: {"clones"},
    8: {"mean_gradient"},
    9: {"limit", "mean_of_controls"},
    10: {"seeds_matter"},
    11: {"limit", "round_1", "mean_of_controls"},
}
NOT_FOR = {
    "FedAvg": {"effect", "mean_of_controls", "mean_gradient"},
    "FedNova": {"effect", "mean_of_controls", "mean_gradient"},
    "FedProx": {"mean_of_controls", "mean_gradient"},
    "SCAFFOLD": {"cut"},
}
WELL = [clinic.HEALTHY[method] for method in NOT_FOR]


@pytest.fixture(scope="module")
def bench():
    """The examinations that chapter 7 shows and gives, and its reader's as the solution is."""
    names = {"np": np, "clinic": clinic}
    names |= {name: getattr(bench_tools, name) for name in ("draw", "end", "same", "start")}
    shown = defined("07_bug_clinic.ipynb", "exams", names=names)
    given = {examination.__name__: examination for examination in clinic.GIVEN.values()}
    return shown | given | {"cut": registry.get("07-cut").solution}


def outcome(bench, patient: clinic.Patient, seed: int) -> dict[str, bool | None]:
    return {name: bench[name](patient, seed) for name in EXAMINATIONS}


@pytest.mark.parametrize("patient", WELL, ids=lambda patient: patient.name)
def test_the_healthy_pass_every_examination_that_applies(bench, patient: clinic.Patient) -> None:
    skipped = NOT_FOR[patient.method]
    assert outcome(bench, patient, seed=3) == {
        name: None if name in skipped else True for name in EXAMINATIONS
    }


@pytest.mark.parametrize("number", FAILS)
def test_a_patient_fails_what_it_must_and_passes_the_rest(bench, number: int) -> None:
    patient = clinic.PATIENTS[number]
    expected = dict.fromkeys(EXAMINATIONS, True) | dict.fromkeys(FAILS[number], False)
    expected |= dict.fromkeys(NOT_FOR[patient.method], None)
    assert outcome(bench, patient, seed=0) == expected


def test_the_patient_that_divides_by_the_cohort_is_the_rule_of_the_seed_texts() -> None:
    arguments = {"rounds": 5, "clients_per_round": 2, "local_steps": 3}
    fed = quadratics([1.0, 2.0, 0.5, 3.0], [0.0, 1.0, -1.0, 2.0])
    ours = run(fed, scalar_model(1.0), clinic.PATIENTS[2].algorithm, **arguments)
    theirs = run(fed, scalar_model(1.0), fl.Scaffold(control_update="cohort"), **arguments)
    torch.testing.assert_close(ours.history.params, theirs.history.params, rtol=0, atol=1e-12)


def test_a_correction_that_is_never_applied_is_fedavg() -> None:
    fed = quadratics([1.0, 3.0], [0.0, 1.0])
    rules = (fl.FedAvg(), clinic.PATIENTS[3].algorithm, clinic.PATIENTS[4].algorithm)
    fedavg, *ours = (run(fed, scalar_model(1.0), rule, rounds=4).history.params for rule in rules)
    assert all(one.equal(fedavg) for one in ours)


def smallest_weight(algorithm: fl.Algorithm) -> float:
    """Of FedCurv's penalty, up to a positive factor, over all
    clients and six rounds with sampling.
    """
    fed = quadratics([1.0, 2.0, 0.5, 3.0, 1.5], [0.0, 1.0, -1.0, 2.0, 0.3])
    arguments = {
        "clients_per_round": 2,
        "batch_size": None,
        "local_steps": 5,
        "lr": 0.1,
        "loss": "squared_error",
    }
    simulation = fl.Simulation(
        fed, scalar_model(2.0), algorithm, rounds=6, progress=False, **arguments
    )
    states = (simulation.state_dict()["algorithm"] for _ in simulation)
    return min(float((state["u"] - state["fisher"]).min()) for state in states)


def test_the_penalty_of_fedcurv_is_never_negative_but_that_of_patient_12_is() -> None:
    assert smallest_weight(clinic.HEALTHY["FedCurv"].algorithm) >= -1e-12
    assert smallest_weight(clinic.PATIENTS[12].algorithm) < -1e-3


def test_importance_is_squared_too_early_of_the_last_batch_alone_or_signed() -> None:
    """Softmax regression in float64, 20 samples, and the gradients of the samples [n, P], written
    out.
    """
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(20, 4)))
    y = torch.tensor(rng.integers(3, size=20))
    fed = fl.FederatedDataset.from_clients([(x, y)], test=(x, y))
    model = fl.models.softmax_regression(fed, seed=1)
    logits = model(x).detach()
    residual = logits.softmax(1) - torch.eye(3, dtype=x.dtype)[y]
    inputs = torch.cat([x, torch.ones(20, 1, dtype=x.dtype)], 1)

    def flat(outer: torch.Tensor) -> torch.Tensor:
        """Weights first, then biases, as the parameters are ordered."""
        return torch.cat([outer[:, :, :-1].flatten(1), outer[:, :, -1]], 1)

    gradients = flat(residual[:, :, None] * inputs[:, None])
    outputs = flat(2 * logits[:, :, None] * inputs[:, None])
    right = (gradients**2).mean(0)
    torch.testing.assert_close(fl.importance.fisher_diagonal(model, x, y), right)
    torch.testing.assert_close(clinic.HELPERS[13](model, x, y), gradients.mean(0) ** 2)
    torch.testing.assert_close(clinic.HELPERS[14](model, x, y), (gradients[16:] ** 2).mean(0))
    torch.testing.assert_close(clinic.HELPERS[15](model, x), outputs.mean(0))
    assert (outputs.mean(0) < 0).any() and (fl.importance.mas(model, x) >= 0).all()


def test_the_retry_loop_ends_for_large_alpha_only() -> None:
    labels = np.repeat(np.arange(10), 60)
    retry = clinic.HELPERS[16]
    parts, deals = retry(labels, num_clients=10, alpha=100.0, min_size=10)
    assert deals == 1 and np.array_equal(np.sort(np.concatenate(parts)), np.arange(600))
    with pytest.raises(clinic.GaveUp, match="after 50 deals"):
        retry(labels, num_clients=20, alpha=0.01, min_size=10, patience=50)


def test_straggler_epochs_leave_out_e_and_fail_for_one() -> None:
    rng = np.random.default_rng(0)
    assert {clinic.HELPERS[17](4, rng) for _ in range(300)} == {1, 2, 3}
    with pytest.raises(ValueError, match="low >= high"):
        clinic.HELPERS[17](1, rng)


def test_accuracy_per_batch_depends_on_the_batch_size() -> None:
    # four right, then one wrong
    x = torch.eye(2)[[0, 0, 0, 0, 1]]
    y = torch.tensor([0, 0, 0, 0, 0])
    identity = torch.nn.Identity()
    assert clinic.HELPERS[18](identity, x, y, batch_size=5) == pytest.approx(0.8)
    assert clinic.HELPERS[18](identity, x, y, batch_size=4) == pytest.approx(0.5)


def test_a_name_gives_nothing_away() -> None:
    for number, patient in clinic.PATIENTS.items():
        shown = {
            patient.name,
            str(patient.algorithm),
            repr(patient.algorithm),
            patient.algorithm.describe()["name"],
        }
        assert shown == {f"Patient {number}"}
        assert isinstance(patient.algorithm, type(clinic.HEALTHY[patient.method].algorithm))
    assert {"UniformMean", "squared_mean"}.isdisjoint(dir(clinic))


def test_the_bench_says_where_a_run_ends_and_that_a_diverged_one_ends_nowhere() -> None:
    """One client, f(w) = (w − 1)², from w = 2 with η = 0.1: a
    step leaves 0.8 of the distance to 1.
    """
    fedavg = clinic.HEALTHY["FedAvg"]
    assert bench_tools.end(fedavg, [2.0], [1.0], rounds=2, local_steps=3) == pytest.approx(
        1 + 0.8**6
    )
    lost = bench_tools.end(fedavg, [2.0], [1.0], rounds=400, lr=10.0)
    assert np.isnan(lost) and not bench_tools.same(lost, lost)


def test_an_open_answer_is_stood_in_for_by_the_solution(capsys: pytest.CaptureFixture[str]) -> None:
    exercise = registry.get("07-cut")
    stub = exercise.build(exercise.stub_source)
    solution = exercise.build(exercise.solution_source)
    found = exercises.or_solution("07-cut", stub)
    assert "`cut` is not solved yet" in capsys.readouterr().out
    assert found(clinic.PATIENTS[1], 0) is False and found(clinic.HEALTHY["FedNova"], 0) is True
    assert exercises.or_solution("07-cut", solution) is solution
    assert capsys.readouterr().out == ""


def test_every_patient_has_a_diagnosis() -> None:
    texts = [clinic.diagnosis(number) for number in range(1, 19)]
    assert len(set(texts)) == 18
    assert all(text.endswith(".") for text in texts)
    assert "n_k" in clinic.diagnosis(1)
    assert "largest number of steps" in clinic.diagnosis(8)
    with pytest.raises(ValueError, match="patient=19: must be one of"):
        clinic.diagnosis(19)


def test_the_chart_shows_marks_and_says_who_fails() -> None:
    limit = {"FedAvg": True, "Patient 3": False, "Patient 4": False}
    cut = {"FedAvg": None, "Patient 3": True}
    figure = clinic.chart(
        {"limit": limit, "cut": cut | {"Patient 4": False}, "order": dict.fromkeys(limit, True)}
    )
    assert [list(row) for row in figure.data[0].text] == [
        ["✓", "✗", "✗"],
        ["·", "✓", "✗"],
        ["✓"] * 3,
    ]
    assert list(figure.layout.xaxis.ticktext) == ["FedAvg", "3 SCAFFOLD", "4 FedProx"]
    words = "limit: Patient 3 and Patient 4 fail; cut: Patient 4 fails; order: nobody fails."
    assert words in fl.plots.describe(figure)
    assert figure.layout.meta["table"]["rows"][1] == ["cut", "does not apply", "passes", "fails"]


# What the conformance suite says of each patient; patient 10
# draws cohorts, which the suite prescribes.
DISEASES = {
    1: "the plain mean is taken where n_k weights are due",
    2: "the server divides by |S| where N is due, in the update of c",
    3: "the correction c − c_k never reaches a local step",
    4: "the proximal term is zero: it is missing, or tied to the moving model",
    5: "the last client of the cohort overwrites the others",
    6: "the correction has the wrong sign: c_k − c",
    7: "the step is multiplied by N/K, although the weights sum to 1 over the cohort already",
    8: "c_k⁺ has the largest number of steps in the cohort, not the client's own",
    9: "c_k is overwritten before its change is formed, so that c stays where it is",
    11: "c starts as a copy of the weights",
    12: (
        "a client subtracts its own share of an earlier round although it was absent from the "
        "last one"
    ),
}


@pytest.mark.parametrize("number", DISEASES)
def test_the_conformance_suite_names_the_mistake_of_a_patient(number: int) -> None:
    patient = clinic.PATIENTS[number]
    name = patient.method.replace("SCAFFOLD", "Scaffold")
    ours = runpy.run_path(str(SHIPPED / "fedlab_core.py"))["run"]
    report = fl.conformance.check(partial(ours, classes={name: type(patient.algorithm)}), [name])
    assert report.mistakes and set(report.mistakes.values()) == {((DISEASES[number],),)}
