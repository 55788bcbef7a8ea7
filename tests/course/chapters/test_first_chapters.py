"""Chapters 0 and 1: the twin in PyTorch, averages of networks, where FedAvg stops, and what the
figures read from stored runs.
"""

import copy

import nbformat
import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import fedlab_core as fl
from fedlab_course import folders, scene
from fedlab_course.chapters.ch00_start_here import figures as figures_00
from fedlab_course.chapters.ch00_start_here import softmax
from fedlab_course.chapters.ch01_noniid_and_drift import figures as figures_01
from fedlab_course.chapters.ch01_noniid_and_drift import ideas as ideas_01
from fedlab_course.check import own, registry
from fedlab_course.evidence import judging, tables
from fedlab_course.explore import quadratics
from tests.course.check.from_notebook import defined
from tests.support import blobs

LOCAL, AGGREGATE, FEDAVG, RESTING, EMD = (
    registry.get(name).solution
    for name in ("00-local", "00-aggregate", "00-fedavg", "01-resting-point", "01-emd")
)


@pytest.fixture(scope="module")
def digits() -> fl.data.Dataset:
    return fl.load_dataset("digits")


def test_the_twin_in_pytorch_is_fedavg_in_numpy_on_ragged_clients() -> None:
    fed = blobs((3, 17, 8, 30))
    names = {"torch": torch, "copy": copy, "cross_entropy": cross_entropy, "fed": fed}
    twin = defined("00_start_here.ipynb", "twin", names=names)
    model = fl.models.softmax_regression(fed, seed=1).double()
    state = copy.deepcopy(model.state_dict())
    cohorts = [np.array([0, 1]), np.array([3, 1, 2]), np.array([2])]
    mine = FEDAVG(softmax.flat(state), softmax.gradient_of(fed), fed.sizes, cohorts, 0.3, 4)
    theirs = twin["torch_fedavg"](state, model, fed.sizes, cohorts, 0.3, 4)
    assert figures_00.largest_differences([mine], [theirs])[0] < 1e-12
    assert figures_00.largest_differences([mine + 0.5], [theirs])[0] == pytest.approx(0.5)


def test_without_a_copy_the_twin_would_be_wrong() -> None:
    """state_dict() names the tensors of the model, which the next client changes."""
    fed = blobs((3, 17))
    model = fl.models.softmax_regression(fed, seed=1)
    names = model.state_dict()
    before = softmax.flat(copy.deepcopy(names))
    with torch.no_grad():
        for tensor in model.parameters():
            tensor += 1
    assert softmax.flat(names) == pytest.approx(before + 1)


def test_one_full_batch_step_of_all_clients_is_gradient_descent() -> None:
    fed = blobs((3, 17, 8, 30))
    gradient = softmax.gradient_of(fed)
    w = softmax.flat(fl.models.softmax_regression(fed, seed=1).double().state_dict())
    found = FEDAVG(w, gradient, fed.sizes, [np.arange(4)], 0.3, 1)
    mean = sum(n * gradient(k, w) for k, n in enumerate(fed.sizes)) / fed.sizes.sum()
    assert found == pytest.approx(w - 0.3 * mean)


def test_the_ends_of_an_average_are_the_two_networks(digits) -> None:
    """At share 0 and 1 an average is one network; in the middle the reader's code decides."""
    networks = ["two hidden layers of 32", "one hidden layer of 200"]
    right = figures_00.between(AGGREGATE, digits, seed=50)
    assert right.layout.meta["table"]["rows"][0][0].startswith(networks[0])
    larger = lambda models, sizes: models[np.argmax(sizes)]  # noqa: E731
    other = figures_00.between(larger, digits, seed=50)
    for curve, jump in zip(right.data, other.data, strict=True):
        assert (curve.y[0], curve.y[-1]) == (jump.y[0], jump.y[-1])
        assert set(jump.y) == {curve.y[0], curve.y[-1]}
    narrow = [[float(cell.rstrip("%")) for cell in row[1:]] for row in _rows(right)[:2]]
    assert narrow[0][1] > min(narrow[0][0], narrow[0][2]) - 2  # one start
    assert narrow[1][1] < min(narrow[1][0], narrow[1][2]) - 10  # a start for each


def _rows(figure) -> list[list[str]]:
    return figure.layout.meta["table"]["rows"]


def test_the_cost_of_skew_is_what_the_stored_statements_say() -> None:
    ids = {"α = 0.3, rounds 1 to 10": "00-skew-early", "α = 0.3, rounds 46 to 50": "00-skew-end"}
    ids["α = 0.05, rounds 46 to 50"] = "00-skew-end-strong"
    rows = {row[0]: row[1:] for row in _rows(figures_00.cost_of_skew())}
    for name, id in ids.items():
        finding = judging.every()[id].finding
        numbers = [100 * value for value in (finding.mean, finding.low, finding.high)]
        assert [float(value) for value in rows[name][:3]] == pytest.approx(numbers, abs=0.051)
    assert rows["the same, each at its best η"][-1] == 20


@pytest.mark.parametrize("rate", [0.03, 0.1])
@pytest.mark.parametrize("steps", [1, 7])
def test_runs_stop_where_the_formula_says_in_both_directions(steps: int, rate: float) -> None:
    """w = Σ s_k b_k / Σ s_k in each direction of the plane, s = 1 − (1 − ηa)^τ."""
    parts = 1 - (1 - rate * quadratics.CLIENTS.a) ** steps
    expected = (parts * quadratics.CLIENTS.b).sum(0) / parts.sum(0)
    assert figures_01.in_the_plane(RESTING)(steps, rate) == pytest.approx(expected)
    assert figures_01.end(LOCAL, steps, rate) == pytest.approx(expected, abs=1e-6)


def test_the_figure_draws_the_readers_formula_and_the_readers_steps() -> None:
    stops = figures_01.in_the_plane(lambda a, b, rho, eta, tau: (rho * b).sum())
    figure = figures_01.stopping(LOCAL, stops)
    middle = np.linalg.norm(quadratics.CLIENTS.b.mean(0) - quadratics.CLIENTS.optimum)
    assert "with your code" in figure.layout.title.text
    assert figure.data[0].y == pytest.approx([middle] * 50)
    assert figure.data[1].y[0] == pytest.approx(0, abs=1e-6)  # one step: the optimum
    solution = registry.get("01-resting-point")
    built = own.mark(solution.build(solution.solution_source))
    figure = figures_01.stopping(LOCAL, figures_01.in_the_plane(built))
    assert "with the course's solution" in figure.layout.title.text


def test_a_gradient_at_w_is_one_long_step_of_gradient_descent() -> None:
    """w − τη∇F(w): the distance shrinks by 1 − 2.5 τη in both directions, and grows from 0.8 on."""
    at_w = defined("01_noniid_and_drift.ipynb", "at-w", names=_stubs())["at_w"]
    optimum = quadratics.CLIENTS.optimum
    first = scene.walk(at_w, scene._mean, 5, 0.1)[0]["next"]
    expected = optimum + (1 - 2.5 * 0.5) * (np.array(quadratics.START) - optimum)
    assert first == pytest.approx(expected, abs=1e-4)
    grown = scene.walk(at_w, scene._mean, 10, 0.1)[1]["next"]
    expected = optimum + (1 - 2.5) ** 2 * (np.array(quadratics.START) - optimum)
    assert grown == pytest.approx(expected, abs=1e-4)


def _stubs() -> dict:
    """Names for the cell that defines a function and shows it."""
    nothing = lambda *given, **named: None  # noqa: E731
    shown = type("Shown", (), {"play": nothing, "outcome": nothing})
    names = dict.fromkeys(("local_update", "stops"))
    return names | {"scene": shown, "questions": shown, "display": nothing}


def test_accuracy_against_skew_has_all_seeds_and_the_readers_distance(digits) -> None:
    figure = figures_01.by_alpha(lambda mine, every, classes: 0.5, digits)
    drawn = {trace.name: trace for trace in figure.data}
    late = drawn["rounds 46 to 50, seeds"]
    stored = tables.matching("first_skew", {"partition": "dirichlet", "alpha": 0.1})
    places = np.array(late.x)
    assert list(figure.layout.xaxis.ticktext) == ["0.05", "0.1", "0.3", "1", "10", "IID"]
    assert len(late.y) == 60 and set(places) == set(figure.layout.xaxis.tickvals)
    assert np.array(late.y)[places == 1] == pytest.approx(stored["end_accuracy"])
    distances = np.array(drawn["EMD, with your code"].y)
    assert distances[[0, 1, 2, 3, 4, 6]] == pytest.approx([0.5] * 6)
    assert np.isnan(distances[5])  # IID has no α: the line ends before it


def test_accuracy_against_epochs_is_that_of_the_stored_statements() -> None:
    drawn = {trace.name: trace.y for trace in figures_01.by_epochs().data}
    for id, split, sign in (("01-epochs-iid", "IID", 1), ("01-epochs-one", "one label", -1)):
        mean = judging.every()[id].finding.mean
        assert sign * (drawn[split][2] - drawn[split][0]) == pytest.approx(mean, abs=1e-6)
    stars = {name: y for name, y in drawn.items() if "best" in name}
    assert [len(y) for y in stars.values()] == [2, 3, 3, 3]
    for split, where in (("one label", "one_label"), ("Dirichlet 0.1", "dirichlet_0.1")):
        best = {"method": "FedAvg", "best_by": "rounds", "partition": where}
        means = tables.matching("rated_digits", best).groupby("epochs")["end_accuracy"].mean()
        assert stars[f"{split}, at its best η"] == pytest.approx(means.tolist())


def test_at_best_rates_one_label_loses_half_a_point_by_more_local_work() -> None:
    for where, points in (("one_label", -0.5), ("dirichlet_0.1", 2.7)):
        best = {"method": "FedAvg", "best_by": "rounds", "partition": where}
        means = tables.matching("rated_digits", best).groupby("epochs")["end_accuracy"].mean()
        assert round(100 * (means[20] - means[1]), 1) == points


def test_the_table_of_both_rates_has_the_means_of_the_stored_runs() -> None:
    splits = {
        "IID": ("iid", "skew_epochs", {"partition": "iid"}),
        "α = 0.1": ("dirichlet_0.1", "first_skew", {"partition": "dirichlet", "alpha": 0.1}),
        "two labels": ("two_labels", "skew_epochs", {"labels_per_client": 2}),
        "one label": ("one_label", "skew_epochs", {"labels_per_client": 1}),
    }
    path = folders.NOTEBOOKS / "01_noniid_and_drift.ipynb"
    cells = {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}
    lines = [line for line in cells["cost-seen"].splitlines() if line.endswith("% |")]
    assert len(lines) == 8
    for line in lines:
        clients, epochs, *shown = (cell.strip() for cell in line.strip("|").split("|"))
        name, table, where = splits[clients]
        local = {"local_epochs": int(epochs)} if table == "skew_epochs" else {}
        rated = {"method": "FedAvg", "best_by": "rounds", "partition": name, "epochs": int(epochs)}
        runs = tables.matching(table, where | local), tables.matching("rated_digits", rated)
        assert shown == [f"{one['end_accuracy'].mean():.0%}".replace("%", " %") for one in runs]


def test_the_explorer_of_skew_shows_the_readers_distance(digits) -> None:
    figure = ideas_01.skew(digits, EMD).figure(alpha=100.0, seed=0)
    parts = fl.partition.dirichlet(digits.train.y, num_clients=100, alpha=100.0, seed=0)
    emd = fl.FederatedDataset(digits, parts).heterogeneity().totals["emd"]
    assert f"mean EMD {emd:.2f}" in figure.layout.title.text
