"""The bridge in one process: every algorithm gives the numbers of the simulation, and failures are
handled.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core import algorithms as gallery
from tests.support import blobs

pytest.importorskip("flwr", reason="Flower is not installed (make test-flower)")
from flwr.app import Error, Message
from flwr.supercore.task_identity import TaskIdentity

from fedlab_core.flower import wire
from fedlab_core.flower.nodes import Nodes
from fedlab_core.remote import Client, ClientFailed, RemoteSimulation
from fedlab_core.settings import from_keywords

TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1
SIZES = (9, 5, 12, 7, 3, 8)
WORK = {
    "rounds": 3,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 4,
    "lr": 0.1,
    "progress": False,
}
ALL = [
    fl.FedAvg(),
    fl.FedProx(mu=0.3),
    fl.Scaffold(),
    fl.Scaffold(option=1),
    fl.FedNova(),
    fl.FedCurv(),
    fl.FedSSO(),
    fl.FedMas(strength=5.0, penalty_step="implicit", output="softmax"),
    fl.FedCurv(5.0, penalty_step="implicit"),
    fl.FedMas(strength=0.1),
    gallery.FedAvgM(),
    gallery.FedAdam(0.1),
    gallery.FedYogi(0.1),
    gallery.FedDyn(0.3),
    gallery.MimeLite(0.5),
    gallery.QFedAvg(1.0),
    gallery.PowerOfChoice(4),
    gallery.IFCA(2),
    gallery.Ditto(0.1),
    gallery.FedPer(local=["3.bias"]),
    gallery.FineTune(1),
    gallery.TFedAvg(),
    gallery.Compressed(fl.FedAvg(), keep=0.5),
    gallery.Private(fl.FedAvg(), clip=1.0, noise=0.1),
]


class Clock:
    """A clock that only waiting moves, so that no test depends on the speed of the machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedlab_core.flower.nodes.time", Clock())


class FakeGrid:
    """Nodes 100, 101, … that answer at once, as their clients would. ``fate``: (client, round) →
    what happens there.
    """

    def __init__(
        self, fed: fl.FederatedDataset, model: torch.nn.Module, fate=lambda client, values: None
    ) -> None:
        self.clients = {
            100 + k: Client(k, fed.client(k), model, "cross_entropy")
            for k in range(fed.num_clients)
        }
        self.fate = fate
        self.replies = {}
        self.gone = set()

    def get_node_ids(self) -> list[int]:
        return [node for node in self.clients if node not in self.gone]

    def push_messages(self, messages: list[Message]) -> list[str]:
        ids = [f"message {len(self.replies) + place}" for place in range(len(messages))]
        for name, message in zip(ids, messages, strict=True):
            node = message.metadata.dst_node_id
            client, (vectors, values) = self.clients[node], wire.unpack(message.content)
            fate = "silent" if node in self.gone else self.fate(client.number, values)
            message.metadata.__dict__["_message_id"] = name
            if fate == "silent":
                self.replies[name] = None
            elif fate is not None:
                self.replies[name] = Message(Error(2, fate), reply_to=message)
            else:
                self.replies[name] = Message(
                    wire.pack(*client.answer(vectors, values)), reply_to=message
                )
        return ids

    def pull_messages(self, names: list[str]) -> list[Message]:
        found = [self.replies[name] for name in names if self.replies[name] is not None]
        self.replies |= dict.fromkeys([one.metadata.reply_to_message_id for one in found])
        return found


def federation() -> tuple[fl.FederatedDataset, torch.nn.Module]:
    fed = blobs(SIZES, dtype=torch.float32)
    return fed, fl.models.mlp(fed, (4,), seed=1)


def remote(
    algorithm: fl.Algorithm, grid: FakeGrid | None = None, goes_on: bool = False, **changes
) -> RemoteSimulation:
    fed, model = federation()
    grid = grid or FakeGrid(fed, model)
    nodes = Nodes(grid, fed.num_clients, goes_on, 0.3)
    nodes.connect(f"{sum(value.numel() for value in model.parameters())} float32")
    return RemoteSimulation(nodes, model, algorithm, from_keywords({**WORK, **changes}), None)


@pytest.mark.parametrize("algorithm", ALL, ids=str)
def test_every_algorithm_gives_the_numbers_of_the_simulation(algorithm: fl.Algorithm) -> None:
    fed, model = federation()
    simulation = remote(algorithm)
    expected = fl.Simulation(fed, model, algorithm, engine="reference", **WORK)
    for mine, theirs in zip(simulation, expected, strict=True):
        assert [one.tolist() for one in simulation.cohorts] == [
            one.tolist() for one in expected.cohorts
        ]
        assert (mine.bytes_up, mine.bytes_down) == (theirs.bytes_up, theirs.bytes_down)
    torch.testing.assert_close(
        simulation.history.params, expected.history.params, rtol=0, atol=1e-6
    )
    assert simulation.history.frame["train_loss"].notna().all()


def test_vectors_are_sent_once_and_the_bytes_are_those_of_the_ledger() -> None:
    """FedProx: w down (its anchor is w itself), y up. SCAFFOLD:
    w and c − c_k down, but y alone up.
    """
    size = 4 * (4 * 4 + 4 + 4 * 3 + 3) + 128  # float32, and NumPy's header
    for algorithm, down in ((fl.FedProx(mu=0.1), 1), (fl.Scaffold(), 2)):
        simulation = remote(algorithm)
        simulation.run()
        assert simulation.clients.sent == (3 * 3 * down * size, 3 * 3 * size)


def failing(client: int, round: int, how: str):
    return lambda k, values: how if (k, values.get("round")) == (client, round) else None


@pytest.mark.parametrize(
    ("how", "message"), [("silent", "gave no answer within 0.3 s"), ("boom", "failed: boom")]
)
def test_a_client_that_fails_stops_the_run_or_is_left_out(how: str, message: str, capsys) -> None:
    everybody = {"clients_per_round": 6}
    simulation = remote(fl.FedAvg(), FakeGrid(*federation(), failing(2, 2, how)), **everybody)
    with pytest.raises(
        ClientFailed, match=f"round 2: client 2 {message}; on_failure='continue' would go on"
    ):
        simulation.run()
    assert simulation.round == 1 and len(simulation.history.records) == 1
    simulation = remote(
        fl.FedAvg(), FakeGrid(*federation(), failing(2, 2, how)), goes_on=True, **everybody
    )
    cohorts = [simulation.cohorts[0].tolist() for _ in simulation]
    assert f"round 2: client 2 {message}; the run goes on without it" in capsys.readouterr().out
    # round 2 was drawn with client 2, and in round 3 it was back
    assert cohorts == [[0, 1, 2, 3, 4, 5]] * 3


def test_the_mean_is_over_those_that_answered() -> None:
    grid = FakeGrid(*federation(), failing(2, 1, "boom"))
    simulation = remote(fl.FedAvg(), grid, goes_on=True, clients_per_round=6, rounds=1)
    simulation.run()
    fed, model = federation()
    others = fl.FederatedDataset(fed.dataset, [part for k, part in enumerate(fed.parts) if k != 2])
    assert len(others.sizes) == 5

    class Without(fl.FedAvg):
        def aggregate(self, server, updates):
            kept = torch.tensor([k != 2 for k in updates.clients.tolist()])
            return updates.weighted_mean(updates.num_samples * kept)

    expected = fl.simulate(fed, model, Without(), **{**WORK, "clients_per_round": 6, "rounds": 1})
    torch.testing.assert_close(simulation.history.params, expected.params, rtol=0, atol=1e-6)


def test_a_node_that_is_gone_is_not_drawn_until_it_is_back(capsys) -> None:
    grid = FakeGrid(*federation())
    simulation = remote(fl.FedAvg(), grid, goes_on=True, clients_per_round=6, rounds=4)
    next(simulation)
    grid.gone = {103}
    next(simulation)
    assert simulation.cohorts[0].tolist() == [0, 1, 2, 4, 5]
    assert "round 2: client 3 is not connected any more" in capsys.readouterr().out
    grid.clients[200] = grid.clients.pop(103)  # it starts again, as another node
    next(simulation)
    next(simulation)
    assert simulation.cohorts[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_probe_needs_every_client() -> None:
    for goes_on in (True, False):
        grid = FakeGrid(
            *federation(),
            lambda k, values: "boom" if k == 1 and values.get("stream") == "probe" else None,
        )
        with pytest.raises(
            (ValueError, ClientFailed), match=r"client 1 failed|a probe needs all its clients"
        ):
            remote(fl.FedSSO(), grid, goes_on).run()


def test_wrong_nodes_are_refused_before_the_first_round() -> None:
    fed, model = federation()
    with pytest.raises(ClientFailed, match=r"clients \[6\] gave no answer within 1 s"):
        Nodes(FakeGrid(fed, model), 7, False, 1.0).connect("35 float32")
    with pytest.raises(ClientFailed, match=r"partition-id=5: must be from 0 to 4"):
        Nodes(FakeGrid(fed, model), 5, False, 600.0).connect("35 float32")
    with pytest.raises(
        ClientFailed,
        match="its model has the parameters 35 float32, but that of the server 9 float32",
    ):
        Nodes(FakeGrid(fed, model), 6, False, 600.0).connect("9 float32")
    twins = FakeGrid(fed, model)
    twins.clients[200] = twins.clients[100]
    with pytest.raises(ClientFailed, match="partition-id=0: two SuperNodes have this number"):
        Nodes(twins, 7, False, 600.0).connect("35 float32")


def test_bad_arguments_are_refused_before_anything_starts(tmp_path) -> None:
    _, model = federation()
    given = {"num_clients": 3, "out": tmp_path / "run.npz", **WORK}
    given.pop("progress")
    for changes, message in (
        ({"on_failure": "retry"}, "on_failure='retry': must be one of"),
        ({"clients_per_round": 4}, "clients_per_round=4: must be"),
        ({"engine": "stacked"}, "engine='stacked': does not apply to real clients"),
        ({"timeout": 0}, "timeout=0: must be"),
    ):
        with pytest.raises(ValueError, match=message):
            fl.flower.server_app(model, fl.FedAvg(), **{**given, **changes})
    assert fl.flower.server_app(model, fl.FedAvg(), **given) is not None


def test_a_run_resumes_from_its_checkpoint(tmp_path) -> None:
    whole = remote(fl.Scaffold())
    whole.run()
    first = remote(fl.Scaffold(), checkpoint=tmp_path / "c.npz")
    for record in first:
        if record.round == 2:
            break
    second = remote(fl.Scaffold(), checkpoint=tmp_path / "c.npz")
    assert second.round == 2
    second.run()
    assert torch.equal(second.history.params, whole.history.params)
    assert np.isfinite(second.history.frame["train_loss"]).all()
