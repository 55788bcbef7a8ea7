"""Accuracy client by client: whose model, on which samples, in which rounds."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.evaluation import hold_out
from fedlab_core.server import Server
from tests.support import blobs

SIZES = (7, 12, 2, 15)
WORK = {
    "rounds": 3,
    "clients_per_round": 2,
    "local_epochs": 2,
    "batch_size": 4,
    "lr": 0.1,
    "progress": False,
}


def model_of(fed: fl.FederatedDataset) -> torch.nn.Module:
    return fl.models.mlp(fed, (5,), seed=1)


def right(model: torch.nn.Module, params: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> float:
    torch.nn.utils.vector_to_parameters(params, model.parameters())
    return float((model(x).argmax(1) == y).double().mean())


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_what_is_held_out(share: float) -> None:
    fed = blobs(SIZES)
    kept, held = hold_out(fed, share, seed=3)
    for k, n in enumerate(SIZES):
        assert sorted([*kept.parts[k], *held.parts[k]]) == sorted(fed.parts[k])
        assert len(held.parts[k]) == min(max(1, round(share * n)), n - 1)
    again = hold_out(fed, share, seed=3)[1]
    other = hold_out(fed, share, seed=4)[1]
    assert [part.tolist() for part in again.parts] == [part.tolist() for part in held.parts]
    assert [part.tolist() for part in other.parts] != [part.tolist() for part in held.parts]


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_training_sees_only_what_is_kept(engine: str) -> None:
    fed = blobs(SIZES)
    kept, held = hold_out(fed, 0.3, seed=5)
    work = {**WORK, "seed": 5, "engine": engine}
    found, expected = (
        fl.simulate(*args, fl.FedAvg(), **work, **more)
        for args, more in (((fed, model_of(fed)), {"held_out": 0.3}), ((kept, model_of(fed)), {}))
    )
    assert torch.equal(found.params, expected.params)
    assert found.clients.sizes.tolist() == [len(part) for part in held.parts]
    accuracy = [right(model_of(fed), found.params, *held.client(k)) for k in range(len(SIZES))]
    assert found.clients.accuracy.tolist() == accuracy


class OwnModels(fl.Algorithm):
    """Client k uses w with its last bias moved so far that it answers k mod 3."""

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        rows = server.params.repeat(len(clients), 1)
        for row, client in zip(rows, clients, strict=True):
            row[server.layout["3.bias"]] = 1000.0 * torch.eye(3, dtype=rows.dtype)[client % 3]
        return rows


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_a_client_is_measured_with_the_model_that_it_uses(engine: str) -> None:
    fed = blobs(SIZES)
    history = fl.simulate(
        fed, model_of(fed), OwnModels(), **WORK, engine=engine, client_accuracy=True
    )
    shares = [float((fed.client(k)[1] == k % 3).double().mean()) for k in range(len(SIZES))]
    assert history.clients.accuracy.tolist() == shares
    assert history.client_accuracy.tolist() == [shares] * 3


def test_the_accuracy_of_every_evaluated_round_is_kept_saved_and_resumed(tmp_path) -> None:
    fed = blobs(SIZES)
    work = {**WORK, "rounds": 5, "eval_every": 2, "client_accuracy": True, "held_out": 0.3}
    whole = fl.simulate(fed, model_of(fed), fl.FedAvg(), **work)
    assert whole.client_accuracy.shape == (len(whole.records), len(SIZES)) == (3, 4)
    assert (whole.client_accuracy[-1] == whole.clients.accuracy).all()
    short = fl.simulate(fed, model_of(fed), fl.FedAvg(), **work | {"rounds": 2})
    assert (short.client_accuracy[-1] == whole.client_accuracy[0]).all()
    whole.save(tmp_path / "history.npz")
    assert (
        fl.History.load(tmp_path / "history.npz").client_accuracy == whole.client_accuracy
    ).all()
    for record in fl.Simulation(
        fed, model_of(fed), fl.FedAvg(), **work, checkpoint=tmp_path / "run.npz"
    ):
        if record.round == 3:
            break
    resumed = fl.simulate(fed, model_of(fed), fl.FedAvg(), **work, checkpoint=tmp_path / "run.npz")
    assert (resumed.client_accuracy == whole.client_accuracy).all()


def test_a_function_is_called_after_each_round_with_record_and_server() -> None:
    fed = blobs(SIZES)
    seen = []
    history = fl.simulate(
        fed,
        model_of(fed),
        fl.FedAvg(),
        **WORK,
        on_round=lambda record, server: seen.append((record, server.params)),
    )
    assert [record for record, _ in seen] == history.records
    assert torch.equal(seen[-1][1], history.params)


def test_a_round_whose_function_fails_is_undone() -> None:
    fed = blobs(SIZES)

    def fails_once(record: fl.RoundRecord, server: Server) -> None:
        if record.round == 2 and not failed:
            failed.append(record)
            server.params.zero_()
            raise KeyboardInterrupt

    failed: list = []
    simulation = fl.Simulation(fed, model_of(fed), fl.FedAvg(), **WORK, on_round=fails_once)
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    assert simulation.round == 1
    assert torch.equal(
        simulation.run().params, fl.simulate(fed, model_of(fed), fl.FedAvg(), **WORK).params
    )


class Stateful(fl.Algorithm):
    """Keeps in its instance what belongs in ``server.state``: a second run would begin where the
    first has ended.
    """

    def __init__(self, change, late: bool = False) -> None:
        self.held = [0]
        self.change = change
        self.late = late

    def aggregate(self, server: Server, updates) -> torch.Tensor:
        if server.round > 2 * self.late:
            self.change(self)
        return updates.weighted_mean()


def assign(algorithm: Stateful) -> None:
    algorithm.held = [1]


def write(algorithm: Stateful) -> None:
    algorithm.held[0] = 1


@pytest.mark.parametrize(("change", "late"), [(assign, False), (write, False), (write, True)])
def test_state_in_the_instance_is_refused_in_the_end(change, late: bool) -> None:
    fed = blobs(SIZES)
    with pytest.raises(
        ValueError,
        match=r"Stateful: changes its attribute 'held' during a run; keep state in server",
    ):
        fl.simulate(fed, model_of(fed), Stateful(change, late), **WORK)


@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_a_cohort_with_a_client_twice_is_refused(engine: str) -> None:
    class Twice(fl.Scaffold):
        def cohorts(self, server: Server):
            yield [2, 2, 3]

    fed = blobs(SIZES)
    with pytest.raises(ValueError, match=r"cohort: has client 2 2 times"):
        fl.simulate(fed, model_of(fed), Twice(), engine=engine, **WORK)
