"""The page that is federated averaging: short, and the code that every run goes through."""

import inspect

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core import one_page
from fedlab_core.correction import Correction
from fedlab_core.randomness import stream
from tests.support import blobs, flat

WORK = {
    "rounds": 3,
    "clients_per_round": 2,
    "local_epochs": 1,
    "batch_size": 2,
    "lr": 0.1,
    "progress": False,
}


def test_it_is_one_page() -> None:
    assert len(inspect.getsource(one_page).splitlines()) <= 66


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_every_round_of_a_run_goes_through_it(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    seen = []

    def counted(server, algorithm, train) -> None:
        seen.append(server.round)
        one_page.one_round(server, algorithm, train)

    monkeypatch.setattr("fedlab_core.simulation.one_round", counted)
    fed = blobs([5, 6, 7])
    fl.simulate(fed, fl.models.softmax_regression(fed), fl.FedAvg(), **WORK, engine=engine)
    assert seen == [1, 2, 3]


def test_the_page_alone_is_fedavg() -> None:
    """Cohort, local steps and average put together by hand from the page, on full batches, are the
    library's round.
    """
    fed = blobs([5, 9, 7, 6])
    model = fl.models.softmax_regression(fed, seed=1)
    work = {
        "rounds": 1,
        "clients_per_round": 3,
        "local_steps": 4,
        "batch_size": None,
        "lr": 0.2,
        "progress": False,
    }
    history = fl.simulate(fed, model, fl.FedAvg(), **work, seed=7)
    cohort = one_page.draw_cohort(np.arange(4), 3, stream(7, "cohort", round=1))

    def gradient(params: torch.Tensor, batch) -> torch.Tensor:
        params = params.detach().requires_grad_()
        weight = params[:12].view(3, 4)
        bias = params[12:]
        loss = torch.nn.functional.cross_entropy(batch[0] @ weight.T + bias, batch[1])
        return torch.autograd.grad(loss, params)[0]

    local = [
        one_page.local_sgd(flat(model), [fed.client(k)] * 4, gradient, Correction(), 0.2)
        for k in cohort
    ]
    expected = one_page.average(
        torch.stack(local), torch.tensor(fed.sizes[cohort], dtype=torch.float64)
    )
    torch.testing.assert_close(history.params, expected, rtol=0, atol=1e-12)


class Forgetful(fl.FedAvg):
    """Overrides one method with ``answer``."""

    def __init__(self, method: str, answer) -> None:
        object.__setattr__(self, method, answer)

    def describe(self):
        return {"name": "Forgetful"}


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        (
            "correction",
            lambda server, client: None,
            r"correction of client \d: must be a Correction, got NoneType",
        ),
        (
            "correction",
            lambda server, client: Correction(1.0, server.params[:3]),
            r"client \d: anchor: .* got .* \[3\]",
        ),
        (
            "correction",
            lambda server, client: Correction(server.params[None]),
            r"weight: .* got .* \[1, 15\]",
        ),
        (
            "aggregate",
            lambda server, updates: None,
            r"the global parameters: must be a tensor \[P\], got NoneType",
        ),
        (
            "aggregate",
            lambda server, updates: updates.params,
            r"must be torch.float64 \[15\].* got .* \[2, 15\]",
        ),
        (
            "aggregate",
            lambda server, updates: updates.params[0].requires_grad_(),
            "carry a gradient graph",
        ),
    ],
    ids=range(6),
)
def test_what_an_algorithm_returns_is_checked_in_words(method: str, answer, said: str) -> None:
    fed = blobs([5, 6, 7])
    with pytest.raises(ValueError, match=said):
        fl.simulate(fed, fl.models.softmax_regression(fed), Forgetful(method, answer), **WORK)


def test_an_interrupted_round_is_undone_even_where_it_worked_in_place() -> None:
    class InPlace(fl.FedAvg):
        interrupted = True

        def setup(self, server) -> None:
            server.state["sum"] = torch.zeros_like(server.params)

        def aggregate(self, server, updates):
            server.state["sum"] += updates.weighted_mean()
            server.params.mul_(0.5)
            if server.round == 2 and InPlace.interrupted:
                raise KeyboardInterrupt
            return server.params + updates.weighted_mean()

    fed = blobs([5, 6, 7])
    runs = [
        fl.Simulation(fed, fl.models.softmax_regression(fed), InPlace(), **WORK) for _ in range(2)
    ]
    next(runs[0])
    with pytest.raises(KeyboardInterrupt):
        next(runs[0])
    InPlace.interrupted = False
    for run in runs:
        run.run()
    assert torch.equal(runs[0].history.params, runs[1].history.params)
    assert torch.equal(*(run.state_dict()["algorithm"]["sum"] for run in runs))
