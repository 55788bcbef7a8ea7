"""Everything that ``server.state`` may hold comes back from a checkpoint as it was; everything else
is refused.
"""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.checkpoints import check_state
from fedlab_core.clients.table import ClientTable
from tests.core.test_checkpoints import same, simulation
from tests.support import blobs

PLAIN = {
    "none": None,
    "bool": True,
    "int": -(2**70),
    "float": 0.1 + 0.2,
    "infinite": -math.inf,
    "minus zero": -0.0,
    "text": 'naïve "text"\n\u2028\x00\ud800',
    "list": [1, 2.0, "3", None, [True, []]],
    "dictionary": {"b": 1, "a": {"": [{}]}, "10": 2.5},
}
TENSORS = {
    "scalar": torch.tensor(0.1, dtype=torch.float64),
    "flag": torch.tensor(True),
    "labels": torch.tensor([-1, 2**40]),
    "half": torch.tensor([0.1, math.nan], dtype=torch.float16),
    "matrix": torch.arange(12, dtype=torch.int16).reshape(3, 4),
    "transposed": torch.arange(12.0).reshape(3, 4).T,
    "empty": torch.zeros(0, 7),
    "a/b.npy": torch.tensor([1 + 2j]),
}


class Keeper(fl.Scaffold):
    """Keeps an entry of every kind, one of which decides what it does."""

    def setup(self, server):
        super().setup(server)
        server.state |= {
            "met": [],
            "seen": ClientTable(server.num_clients, torch.zeros(2, dtype=torch.float64)),
        }
        server.state |= PLAIN | TENSORS

    def aggregate(self, server, updates):
        met = [*server.state["met"], updates.clients.tolist()]
        server.state["met"] = met
        server.state["seen"][updates.clients] = server.state["seen"][updates.clients] + 1 / 3
        return super().aggregate(server, updates) * (1 - 0.01 * len(met))


def assert_equal(left, right) -> None:
    assert type(left) is type(right)
    if isinstance(left, ClientTable):
        left = left.dense()
        right = right.dense()
    if isinstance(left, torch.Tensor):
        assert left.dtype == right.dtype and left.stride() == right.stride()
        assert (
            torch.equal(torch.nan_to_num(left), torch.nan_to_num(right))
            and left.shape == right.shape
        )
    else:
        # tells 1 from 1.0 and from True, and sees the order of keys
        assert repr(left) == repr(right)


@pytest.mark.parametrize("stop", [1, 4])
def test_every_kind_comes_back_as_it_was_and_the_run_goes_on_bit_for_bit(
    tmp_path, stop: int
) -> None:
    whole = simulation(Keeper())
    path = tmp_path / "run.npz"
    whole.run()
    for record in simulation(Keeper(), checkpoint=path):
        if record.round == stop:
            break
    stopped = simulation(Keeper())
    for _ in range(stop):
        next(stopped)
    resumed = simulation(Keeper(), checkpoint=path)
    expected = stopped.compact_state()["algorithm"]
    found = resumed.compact_state()["algorithm"]
    assert list(found) == list(expected) and len(found) == 4 + len(PLAIN) + len(TENSORS)
    for name, value in expected.items():
        assert_equal(found[name], value)
    same(resumed.run(), whole.history)
    for name, value in whole.compact_state()["algorithm"].items():
        assert_equal(resumed.compact_state()["algorithm"][name], value)


SELF = []
SELF.append(SELF)


@pytest.mark.parametrize(
    "value",
    [
        (1, 2),
        {1, 2},
        np.zeros(3),
        np.float64(0.5),
        np.int64(3),
        object(),
        {1: "a"},
        {"a": (1, 2)},
        [1, [torch.zeros(2)]],
        {"a": np.zeros(2)},
        SELF,
        torch.nn.Parameter(torch.zeros(2)),
        torch.zeros(2, requires_grad=True),
        torch.zeros(2, dtype=torch.bfloat16),
        torch.eye(2).to_sparse(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_refused_by_name(value) -> None:
    with pytest.raises(ValueError, match=r"^server.state\['mine'\]"):
        check_state({"good": 1, "mine": value})


def test_such_a_state_is_refused_before_a_file_is_written(tmp_path) -> None:
    class Mine(fl.FedAvg):
        def setup(self, server):
            server.state["mine"] = (1, 2)

    with pytest.raises(ValueError, match=r"^server.state\['mine'\]"):
        simulation(Mine(), checkpoint=tmp_path / "run.npz").run()
    assert not (tmp_path / "run.npz").exists()


@pytest.mark.parametrize("name", [3, None, "two\nlines", "nul\0", "\ud800"])
def test_a_name_that_a_file_cannot_hold_is_refused(name) -> None:
    with pytest.raises(ValueError, match="the name of an entry must be a printable text"):
        check_state({name: 1})


@pytest.mark.parametrize(
    "work", [{}, {"epochs": 0}, {"epochs": 1, "steps": 2}, {"epochs": -1}, {"steps": 1.5}], ids=str
)
def test_a_probe_needs_epochs_or_steps(work: dict[str, float]) -> None:
    class Probed(fl.FedAvg):
        def setup(self, server) -> None:
            server.probe(np.arange(2), lr=0.1, batch_size=2, **work)

    fed = blobs((5, 4))
    arguments = {"rounds": 1, "clients_per_round": 2, "local_epochs": 1, "batch_size": 2, "lr": 0.1}
    with pytest.raises(ValueError, match=r"epochs=|steps="):
        fl.simulate(fed, fl.models.mlp(fed, (3,)), Probed(), progress=False, **arguments)
