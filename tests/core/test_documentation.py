"""The code in docs/algorithms.md runs, and does what the page says; docs/sources.md names every
data set.
"""

import re
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import torch

import fedlab_core as fl
from fedlab_core.data import DATASETS
from fedlab_core.data.disk.sources import SOURCES
from tests.support import blobs, path, quadratics, scalar_model
from tests.support import run as finished

PAGE = (Path(__file__).parents[2] / "docs" / "algorithms.md").read_text(encoding="utf-8")
WORK = {
    "rounds": 3,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 4,
    "lr": 0.1,
    "progress": False,
}


@pytest.fixture(scope="module")
def page() -> dict:
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
    return names


def run(algorithm: fl.Algorithm, **changes) -> fl.History:
    fed = blobs((9, 5, 12, 7, 3))
    return fl.simulate(fed, fl.models.mlp(fed, (4,), seed=1), algorithm, **{**WORK, **changes})


def test_the_example_trains_and_draws_both_algorithms(page) -> None:
    histories = page["histories"]
    assert (
        {trace.name for trace in page["figure"].data if trace.name}
        == set(histories)
        == {"FedAvg", "Careful"}
    )
    assert all(history.frame["round"].iloc[-1] == 20 for history in histories.values())
    assert not histories["FedAvg"].params.equal(histories["Careful"].params)


def test_the_algorithm_of_the_example_is_fedavg_and_fedprox_in_its_special_cases(page) -> None:
    for algorithm, same in (
        (page["Careful"](0.0, 1.0), fl.FedAvg()),
        (page["Careful"](0.3, 1.0), fl.FedProx(0.3)),
    ):
        torch.testing.assert_close(run(algorithm).params, run(same).params, rtol=1e-6, atol=1e-7)


def test_every_field_of_a_correction_and_every_method_is_named() -> None:
    missing = {name for name in vars(fl.Correction()) if f"`{name}`" not in PAGE}
    own = {
        name
        for name in vars(fl.Algorithm)
        if not name.startswith("_") and callable(getattr(fl.Algorithm, name))
    }
    missing |= {name for name in own if not re.search(rf"\b{name}\b", PAGE)} - {
        "describe",
        "after_aggregation",
    }
    assert not missing


@pytest.mark.parametrize("mu", [0.5, 1e6])
def test_the_implicit_step_of_a_proximal_term_by_hand(page, mu: float) -> None:
    """The explicit step of FedProx would diverge at η μ = 50,000."""
    lr = 0.05
    a = 3.0
    b = 1.0
    w = 1.5
    expected = []
    for _ in range(3):
        received = w
        for _ in range(4):
            w = (w - lr * a * (w - b) + lr * mu * received) / (1 + lr * mu)
        expected.append(w)
    work = {"rounds": 3, "local_steps": 4, "lr": lr, "start": 1.5}
    found = path(quadratics([a], [b]), page["Held"](mu), **work)
    assert found == pytest.approx(expected, abs=1e-9)


def test_every_variant_of_fedmas_is_named() -> None:
    """Each parameter with a few allowed values, and each value."""
    hints = get_type_hints(fl.FedMas)
    choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    assert {"penalty_step", "output"} <= set(choices)
    for name, values in choices.items():
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}=")]
        assert all(f'"{value}"' in row for value in values), name


def test_the_neediest_of_all_are_those_with_the_largest_loss(page) -> None:
    asked = []
    seen = []

    class Watched(page["Neediest"]):
        def correction(self, server, client):
            if not asked or asked[-1][0] != server.round:
                losses = server.losses(range(5))
                asked.append((server.round, set(losses.argsort(descending=True)[:3].tolist())))
            seen.append((server.round, client))
            return super().correction(server, client)

    history = run(Watched(5))
    for round, expected in asked:
        assert {client for r, client in seen if r == round} == expected
    size = 8 * len(history.params)
    assert history.records[-1].bytes_down == 3 * (5 + 3) * size
    assert history.records[-1].bytes_up == 3 * (5 * 8 + 3 * size)


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_named_with_its_terms_and_what_to_cite(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    if name in SOURCES:
        assert row == f"| `{name}` | {SOURCES[name].citation} | {SOURCES[name].terms} |"


@pytest.mark.parametrize("max_delay", [0, 3])
def test_every_update_of_fedasync_by_hand(page, max_delay: int) -> None:
    a = [1.0, 3.0, 0.5]
    b = [0.0, 1.0, -2.0]
    lr = 0.05
    steps = 4
    alpha = 0.6
    power = 0.5
    mu = 0.2
    late = 0
    past = [1.5]
    algorithm = page["FedAsync"](alpha, power, mu, max_delay)
    work = {"rounds": 5, "local_steps": steps, "lr": lr, "seed": 2}
    found = finished(quadratics(a, b), scalar_model(past[0]), algorithm, **work).history
    for t in range(1, 6):
        delays = fl.randomness.stream(2, "delay", round=t).integers(
            max_delay, size=3, endpoint=True
        )
        for k in range(3):
            d = min(delays[k], len(past) - 1)
            late += d > 0
            start = past[-1 - d]
            optimum = (a[k] * b[k] + mu * past[-1 - d]) / (a[k] + mu)
            end = optimum + (1 - lr * (a[k] + mu)) ** steps * (start - optimum)
            share = alpha * (d + 1) ** -power
            past.append((1 - share) * past[-1] + share * end)
    assert (late > 5) == (max_delay > 0)
    assert float(found.params[0]) == pytest.approx(past[-1], abs=1e-12)
    assert found.frame.server_updates.tolist() == [3, 6, 9, 12, 15]
