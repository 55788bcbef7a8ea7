"""The page's numbers are the library's, with the same weights, parts, cohorts and batches."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import vector_to_parameters

import fedlab_core as fl
from fedlab_core.data import Dataset, Split
from fedlab_course import playground
from tests.course.playground.draws import Draws, client_draws

pytestmark = pytest.mark.needs_browser

ROUNDS = 5
ALGORITHMS = {
    "fedavg": fl.FedAvg(),
    "fedprox": fl.FedProx(mu=0.5),
    "scaffold": fl.Scaffold(server_lr=0.5),
    "fednova": fl.FedNova(),
    "fedavgm": fl.algorithms.FedAvgM(beta=0.8),
    "fedsso": fl.FedSSO(),
    "fedmas": fl.FedMas(strength=0.02),
    "fedmas implicit": fl.FedMas(strength=0.5, penalty_step="implicit"),
    "fedmas softmax": fl.FedMas(strength=0.5, output="softmax"),
    "fedmas implicit softmax": fl.FedMas(strength=5, penalty_step="implicit", output="softmax"),
}
GIVEN = {
    "fedprox": "&a.mu=0.5",
    "scaffold": "&a.serverRate=0.5",
    "fedavgm": "&a.beta=0.8",
    "fedmas": "&a.lambda=0.02",
    "fedmas implicit": "&a.lambda=0.5&a.penaltyStep=implicit",
    "fedmas softmax": "&a.lambda=0.5&a.output=softmax",
    "fedmas implicit softmax": "&a.lambda=5&a.penaltyStep=implicit&a.output=softmax",
}
SPLITS = ("labels&labels=2", "dirichlet&alpha=0.3", "quantity&alpha=1", "iid")
TRAIN = """([text, rounds]) => {
    const state = parse(text).state;
    const data = decoded(CATALOGUE.sets[state.data]);
    const parts = split(data.train.y, state);
    const [options] = optionsOf({ ...state, two: 0 });
    const run = new Run(data, parts, options);
    const first = Array.from(run.w);
    const records = [];
    const params = [];
    for (const record of run.rounds()) {
        if (!record) continue;
        records.push(record);
        params.push(Array.from(run.w));
        if (params.length === rounds) break;
    }
    const clusters = run.clusters ?? null;
    return { parts: parts.map((part) => Array.from(part)), first, params, records, clusters };
}"""


@pytest.fixture(autouse=True)
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library draw cohorts, batches and stragglers as the page does."""
    monkeypatch.setattr("fedlab_core.server.stream", Draws)
    monkeypatch.setattr("fedlab_core.engines.work.client_streams", client_draws)


def largest_difference(page: Any, text: str, algorithm: str, dtype: torch.dtype) -> float:
    """Of the parameters after ``ROUNDS`` rounds. Accuracy, losses, drift and cost are compared
    here.
    """
    theirs = page.evaluate(
        TRAIN, [f"a.method={algorithm.split()[0]}{GIVEN.get(algorithm, '')}&{text}", ROUNDS]
    )
    values = dict(pair.split("=") for pair in text.split("&"))
    source = (
        fl.load_dataset("digits")
        if values["data"] == "digits"
        else playground.plane(values["data"])
    )
    train, test = (Split(part.x.to(dtype), part.y) for part in (source.train, source.test))
    fed = fl.FederatedDataset(Dataset("page", train, test, source.num_classes), theirs["parts"])
    hidden = [int(width) for width in values["hidden"].split("-") if width]
    model = fl.models.mlp(fed, hidden) if hidden else fl.models.softmax_regression(fed)
    vector_to_parameters(torch.tensor(theirs["first"], dtype=dtype), model.parameters())
    simulation = fl.Simulation(
        fed,
        model,
        ALGORITHMS[algorithm],
        rounds=ROUNDS,
        clients_per_round=int(values["cohort"]),
        local_epochs=int(values["a.epochs"]),
        batch_size=int(values["batch"]),
        lr=float(values["a.lr"]),
        stragglers=float(values["stragglers"]),
        client_accuracy=True,
        progress=False,
    )
    history = simulation.run()
    if theirs["clusters"]:
        assert simulation.state_dict()["algorithm"]["clusters"].tolist() == theirs["clusters"]
    if dtype == torch.float64:
        check_records(history, theirs["records"])
    mine = torch.cat([values.detach().flatten() for values in simulation.model.parameters()])
    return float(
        (mine.double() - torch.tensor(theirs["params"][-1], dtype=torch.float64)).abs().max()
    )


def check_records(history: fl.History, records: list[dict[str, Any]]) -> None:
    columns = {
        "test_accuracy": "accuracy",
        "test_loss": "testLoss",
        "train_loss": "loss",
        "drift": "drift",
    }
    for mine, theirs in columns.items():
        np.testing.assert_allclose(
            history.frame[mine], [one[theirs] for one in records], rtol=1e-8, atol=1e-10
        )
    assert history.frame["server_updates"].tolist() == [one["updates"] for one in records]
    # the page counts four bytes a number
    for mine, theirs in {"bytes_up": "up", "bytes_down": "down"}.items():
        assert history.frame[mine].tolist() == [2 * one[theirs] for one in records]
    np.testing.assert_allclose(history.client_accuracy, [one["clients"] for one in records])
    worst = [np.sort(one["clients"])[: -(-len(one["clients"]) // 10)].mean() for one in records]
    np.testing.assert_allclose([one["worst"] for one in records], worst)


SETTINGS = "clients=12&cohort=5&batch=10&a.epochs=3&a.lr=0.1"


@pytest.mark.parametrize(("algorithm", "hidden"), list(product(ALGORITHMS, ("", "16", "16-16"))))
def test_every_algorithm_model_and_split_in_double_precision(
    page: Any, algorithm: str, hidden: str
) -> None:
    for number, split in enumerate(SPLITS):
        text = (
            f"data=blobs&split={split}&hidden={hidden}&stragglers={(0, 0.5)[number % 2]}&{SETTINGS}"
        )
        assert largest_difference(page, text, algorithm, torch.float64) < 1e-9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_on_the_digits(page: Any, algorithm: str) -> None:
    split = "data=digits&split=labels&labels=1&hidden=32&stragglers=0&clients=30"
    text = f"{split}&cohort=6&batch=10&a.epochs=2&a.lr=0.05"
    assert largest_difference(page, text, algorithm, torch.float64) < 1e-9
    assert largest_difference(page, text, algorithm, torch.float32) < 1e-4


@pytest.mark.parametrize("data", playground.PLANES)
def test_every_set_of_the_plane(page: Any, data: str) -> None:
    text = f"data={data}&split=labels&labels=2&hidden=8&stragglers=0&{SETTINGS}"
    assert largest_difference(page, text, "fedavg", torch.float64) < 1e-9


def test_a_split_gives_every_sample_to_one_client(page: Any) -> None:
    for data, split, clients in product(("blobs", "digits"), SPLITS, (2, 37, 100)):
        text = f"data={data}&split={split}&clients={clients}&seed=4&labels=5"
        parts = page.evaluate(PARTS, text)
        joined = sorted(sample for part in parts for sample in part)
        assert len(parts) == clients and min(map(len, parts)) > 0
        assert joined == list(range(len(joined)))


PARTS = """(text) => {
    const state = parse(text).state;
    const labels = decoded(CATALOGUE.sets[state.data]).train.y;
    return split(labels, state).map((part) => Array.from(part));
}"""
