"""The bug clinic: right algorithms pass every examination, and each wrong one fails those, and only those, it must."""

import inspect
import textwrap

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.chapters.ch09_bug_clinic import bench as bench_tools
from fedlab_course.check import exercises
from tests.course.from_notebook import defined
from tests.support import quadratics, run, scalar_model

EXAMINATIONS = ("limit", "order", "cut", "clones", "seeds_matter", "round_1", "effect")
EXAMINATIONS += ("mean_of_controls", "mean_gradient")
CELLS = ("limit", "symmetries", "reductions", "mean-of-controls", "mean-gradient")
# Worked out by hand: a mistake shows only where sizes, steps, cohorts, order or seeds differ as it needs.
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
SICK = [clinic.PATIENTS[number] for number in FAILS]
WELL = [clinic.HEALTHY[method] for method in NOT_FOR]


@pytest.fixture(scope="module")
def bench():
    """The examinations as chapter 9 shows them, and those that its reader writes as their solutions are."""
    shown = defined("09_bug_clinic.ipynb", "imports", *(f"exam-{cell}" for cell in CELLS))
    return shown | {name: exercises.get(f"09-{name}").solution for name in ("cut", "clones")}


def outcome(bench, patient: clinic.Patient, seed: int) -> dict[str, bool | None]:
    return {name: bench[name](patient, seed) for name in EXAMINATIONS}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("patient", WELL, ids=lambda patient: patient.name)
def test_the_healthy_pass_every_examination_that_applies(bench, patient: clinic.Patient, seed: int) -> None:
    skipped = NOT_FOR[patient.method]
    assert outcome(bench, patient, seed) == {name: None if name in skipped else True for name in EXAMINATIONS}


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


def test_patients_3_and_4_are_told_apart_by_their_source() -> None:
    """Both run as FedAvg, each for a reason of its own, which its source shows."""
    sources = [inspect.getsource(type(clinic.PATIENTS[number].algorithm).correction) for number in (3, 4)]
    bodies = [set(source.splitlines()[1:]) for source in sources]
    assert ".grad" in sources[0] and "autograd" in sources[1]
    assert not bodies[0] & bodies[1]
    assert not any("return Correction()" in line for line in bodies[1])


@pytest.mark.parametrize("number", [3, 4])
def test_a_correction_that_is_never_applied_is_fedavg(number: int) -> None:
    fed, arguments = quadratics([1.0, 3.0], [0.0, 1.0]), {"rounds": 4}
    ours = run(fed, scalar_model(1.0), clinic.PATIENTS[number].algorithm, **arguments)
    assert ours.history.params.equal(run(fed, scalar_model(1.0), fl.FedAvg(), **arguments).history.params)


def smallest_weight(algorithm: fl.Algorithm) -> float:
    """Of FedCurv's penalty, up to a positive factor, over all clients and six rounds with sampling."""
    fed = quadratics([1.0, 2.0, 0.5, 3.0, 1.5], [0.0, 1.0, -1.0, 2.0, 0.3])
    arguments = {"clients_per_round": 2, "batch_size": None, "local_steps": 5, "lr": 0.1, "loss": "squared_error"}
    simulation = fl.Simulation(fed, scalar_model(2.0), algorithm, rounds=6, progress=False, **arguments)
    states = (simulation.state_dict()["algorithm"] for _ in simulation)
    return min(float((state["u"] - state["fisher"]).min()) for state in states)


def test_the_penalty_of_fedcurv_is_never_negative_but_that_of_patient_12_is() -> None:
    assert smallest_weight(clinic.HEALTHY["FedCurv"].algorithm) >= -1e-12
    assert smallest_weight(clinic.PATIENTS[12].algorithm) < -1e-3


@pytest.fixture
def softmax():
    """Softmax regression in float64, 20 samples, and the gradients of the samples [n, P], written out."""
    rng = np.random.default_rng(0)
    x, y = torch.tensor(rng.normal(size=(20, 4))), torch.tensor(rng.integers(3, size=20))
    fed = fl.FederatedDataset.from_clients([(x, y)], test=(x, y))
    model = fl.models.softmax_regression(fed, seed=1)
    logits = model(x).detach()
    residual = logits.softmax(1) - torch.eye(3, dtype=x.dtype)[y]
    inputs = torch.cat([x, torch.ones(20, 1, dtype=x.dtype)], 1)

    def flat(outer: torch.Tensor) -> torch.Tensor:
        """Weights first, then biases, as the parameters are ordered."""
        return torch.cat([outer[:, :, :-1].flatten(1), outer[:, :, -1]], 1)

    return model, x, y, flat(residual[:, :, None] * inputs[:, None]), flat(2 * logits[:, :, None] * inputs[:, None])


def test_fisher_of_the_batch_and_fisher_of_the_last_batch(softmax) -> None:
    model, x, y, gradients, _ = softmax
    right = (gradients**2).mean(0)
    torch.testing.assert_close(fl.importance.fisher_diagonal(model, x, y), right)
    torch.testing.assert_close(clinic.HELPERS[13](model, x, y), gradients.mean(0) ** 2)
    torch.testing.assert_close(clinic.HELPERS[14](model, x, y), (gradients[16:] ** 2).mean(0))
    for number in (13, 14):
        assert not torch.allclose(clinic.HELPERS[number](model, x, y), right, rtol=0.05)


def test_signed_importance_is_negative_somewhere_and_the_right_one_nowhere(softmax) -> None:
    model, x, _, _, gradients = softmax
    torch.testing.assert_close(clinic.HELPERS[15](model, x), gradients.mean(0))
    assert (clinic.HELPERS[15](model, x) < 0).any()
    assert (fl.importance.mas(model, x) >= 0).all()


def test_the_retry_loop_ends_for_large_alpha_only_and_then_covers_the_data() -> None:
    labels, retry = np.repeat(np.arange(10), 60), clinic.HELPERS[16]
    parts, deals = retry(labels, num_clients=10, alpha=100.0, min_size=10)
    assert deals == 1
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(600))
    with pytest.raises(clinic.GaveUp, match="after 50 deals"):
        retry(labels, num_clients=20, alpha=0.01, min_size=10, patience=50)
    right = fl.partition.dirichlet(labels, num_clients=20, alpha=0.01, by="class", min_size=10)
    assert min(map(len, right)) == 10


def test_straggler_epochs_leave_out_e_and_fail_for_one() -> None:
    rng = np.random.default_rng(0)
    assert {clinic.HELPERS[17](4, rng) for _ in range(300)} == {1, 2, 3}
    with pytest.raises(ValueError, match="low >= high"):
        clinic.HELPERS[17](1, rng)


def test_accuracy_per_batch_depends_on_the_batch_size() -> None:
    x, y = torch.eye(2)[[0, 0, 0, 0, 1]], torch.tensor([0, 0, 0, 0, 0])  # four right, then one wrong
    identity = torch.nn.Identity()
    assert clinic.HELPERS[18](identity, x, y, batch_size=5) == pytest.approx(0.8)
    assert clinic.HELPERS[18](identity, x, y, batch_size=4) == pytest.approx(0.5)


def test_a_name_gives_nothing_away() -> None:
    for number, patient in clinic.PATIENTS.items():
        shown = {patient.name, str(patient.algorithm), repr(patient.algorithm), patient.algorithm.describe()["name"]}
        assert shown == {f"Patient {number}"}
        assert isinstance(patient.algorithm, type(clinic.HEALTHY[patient.method].algorithm))
    assert {"UniformMean", "squared_mean"}.isdisjoint(dir(clinic))


def test_the_bench_says_where_a_run_ends_and_that_a_diverged_one_ends_nowhere() -> None:
    """One client, f(w) = (w − 1)², from w = 2 with η = 0.1: a step leaves 0.8 of the distance to 1."""
    fedavg = clinic.HEALTHY["FedAvg"]
    assert bench_tools.end(fedavg, [2.0], [1.0], rounds=2, local_steps=3) == pytest.approx(1 + 0.8**6)
    lost = bench_tools.end(fedavg, [2.0], [1.0], rounds=400, lr=10.0)
    assert np.isnan(lost) and not bench_tools.same(lost, lost)


def test_the_problems_of_a_seed_are_those_of_the_bench() -> None:
    a, b = bench_tools.draw(3, 1000)
    assert a.min() >= 1 and a.max() <= 3 and abs(b.mean()) < 0.2
    assert np.array_equal(bench_tools.draw(3, 1000)[1], b) and not np.array_equal(bench_tools.draw(4, 1000)[1], b)


def test_an_open_answer_is_stood_in_for_by_the_solution(capsys: pytest.CaptureFixture[str]) -> None:
    exercise = exercises.get("09-clones")
    stub, solution = exercise.build(exercise.stub_source), exercise.build(exercise.solution_source)
    found = exercises.or_solution("09-clones", stub)
    assert "`clones` is not solved yet" in capsys.readouterr().out
    assert found(clinic.PATIENTS[7], 0) is False and found(clinic.HEALTHY["FedNova"], 0) is True
    assert exercises.or_solution("09-clones", solution) is solution
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
    findings = {"limit": {"FedAvg": True, "Patient 3": False}, "cut": {"FedAvg": None, "Patient 3": True}}
    figure = clinic.chart(findings)
    assert [list(row) for row in figure.data[0].text] == [["✓", "✗"], ["·", "✓"]]
    assert list(figure.layout.xaxis.ticktext) == ["FedAvg", "3"]
    assert "limit: Patient 3 fails; cut: nobody fails" in fl.plots.describe(figure)
    assert figure.layout.meta["table"]["rows"] == [["limit", "passes", "fails"], ["cut", "does not apply", "passes"]]


def test_several_patients_fail_in_the_plural() -> None:
    figure = clinic.chart({"limit": {"Patient 3": False, "Patient 4": False}})
    assert "limit: Patient 3 and Patient 4 fail." in fl.plots.describe(figure)


@pytest.mark.parametrize("bad", [{}, {"limit": {}}, {"limit": {"FedAvg": True}, "cut": {}}])
def test_a_chart_needs_the_same_patients_in_every_row(bad) -> None:
    with pytest.raises(ValueError, match="findings"):
        clinic.chart(bad)


OTHER_WAYS = {
    "09-cut": """
if patient.method == "SCAFFOLD":
    return None
a, b = draw(seed, 5)
whole = end(patient, a[:2], b[:2], sizes=(3, 2))
return same(end(patient, [a[0]] * 3 + [a[1]] * 2, [b[0]] * 3 + [b[1]] * 2), whole)""",
    "09-clones": """
a, b = draw(seed, 7)
alone = end(patient, a[-1:], b[-1:], rounds=1)
return alone == alone and same(alone, end(patient, [a[-1]] * 6, [b[-1]] * 6, clients_per_round=2, rounds=1))""",
    "09-fisher": "return (residual**2 @ x**2) / len(x)",
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_right_answer_passes(name: str) -> None:
    exercise = exercises.get(name)
    first = exercise.solution_source.splitlines()[0]
    answer = exercise.build(f"{first}\n{textwrap.indent(OTHER_WAYS[name], '    ')}")
    assert exercises.judge(exercise, answer).status == "solved"


def test_there_are_exercises() -> None:
    assert len(exercises.of_chapter("09")) >= 2
