"""Random streams: named, independent of one another, and paired across algorithms, partners and
resumption.
"""

import threading
from itertools import chain

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.engines.work import Work, plan_batches
from fedlab_core.randomness import client_streams, stream, torch_generator
from tests.support import blobs

NAMES = (
    "partition",
    "held_out",
    "cohort",
    "availability",
    "privacy",
    "batches",
    "stragglers",
    "probe",
    "personal",
)
SIZES = (7, 12, 9, 15, 4, 11, 20, 6)


def test_a_stream_repeats_and_every_key_part_changes_it() -> None:
    base = {"seed": 3, "name": "batches", "round": 2, "client": 5}
    draws = stream(**base).random(4)
    assert (stream(**base).random(4) == draws).all()
    for change in ({"seed": 4}, {"name": "cohort"}, {"round": 3}, {"client": 6}):
        assert (stream(**{**base, **change}).random(4) != draws).all()


def test_streams_do_not_overlap() -> None:
    first = {
        tuple(stream(seed, name, round=r, client=c).integers(2**62, size=2))
        for seed in (0, 1)
        for name in NAMES
        for r in range(10)
        for c in range(10)
    }
    assert len(first) == 2 * len(NAMES) * 100


def test_the_global_generator_is_lent_to_one_thread_at_a_time_and_goes_on_afterwards() -> None:
    torch.manual_seed(1)
    expected = torch.rand(4)
    torch.manual_seed(2)
    alone = torch.rand(8)
    torch.manual_seed(1)

    def other() -> None:
        with torch_generator("cpu", seed=3):
            torch.rand(5)

    with torch_generator("cpu", seed=2):
        drawn = torch.rand(4)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
        drawn = torch.cat([drawn, torch.rand(4)])
    thread.join()
    assert torch.equal(drawn, alone)
    assert torch.equal(torch.rand(4), expected)


def simulation(algorithm: fl.Algorithm, **changes) -> fl.Simulation:
    fed = blobs(SIZES)
    work = {
        "rounds": 5,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 4,
        "lr": 0.1,
        "progress": False,
    }
    return fl.Simulation(fed, fl.models.mlp(fed, (5,), seed=0), algorithm, **work | changes)


def test_the_streams_of_several_clients_are_those_of_each_of_them() -> None:
    clients = [3, 0, 2**40]
    streams = client_streams(7, "batches", round=5, clients=clients)
    for client, moved in zip(clients, streams, strict=True):
        own = stream(7, "batches", round=5, client=client)
        for generator in (moved, own):
            # leaves half a word in the generator's buffer
            generator.integers(10, size=3, dtype=np.uint8)
        assert (moved.permutation(9) == own.permutation(9)).all() and moved.random() == own.random()


def test_algorithms_under_one_seed_see_the_same_clients() -> None:
    runs = [
        simulation(algorithm)
        for algorithm in (fl.FedAvg(), fl.FedProx(1.0), fl.Scaffold(), fl.FedNova())
    ]
    logs = [[[cohort.tolist() for cohort in run.cohorts] for _ in run] for run in runs]
    assert all(log == logs[0] for log in logs)
    assert len(set(map(str, logs[0]))) > 1


def test_batches_of_a_client_do_not_depend_on_its_partners_or_on_the_algorithm() -> None:
    def plan(clients: list[int], position: int) -> np.ndarray:
        work = Work(np.array(clients), np.full(len(clients), 3), "epochs", 4, 0.1, round=2, seed=9)
        return plan_batches(work, [SIZES[client] for client in clients])[position].orders

    assert (plan([1, 3, 6], 1) == plan([3], 0)).all() and (
        plan([3, 7], 0) == plan([0, 2, 3], 2)
    ).all()


def test_each_epoch_covers_every_sample_once_with_the_last_short_batch() -> None:
    work = Work(np.array([3]), np.array([2]), "epochs", 4, 0.1, round=1, seed=0)
    (plan,) = plan_batches(work, [10])
    assert plan.num_steps == 6
    batches = [plan.batch(step).tolist() for step in range(6)]
    assert [len(b) for b in batches] == [4, 4, 2, 4, 4, 2]
    assert sorted(chain(*batches[:3])) == sorted(chain(*batches[3:])) == list(range(10))
    assert batches[:3] != batches[3:]


def test_global_random_state_is_neither_used_nor_changed() -> None:
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    results = []
    for reseed in (5, 99):
        torch.manual_seed(reseed)
        np.random.seed(reseed)
        results.append(simulation(fl.Scaffold()).run().params)
    assert torch.equal(*results)
    torch.manual_seed(5)
    np.random.seed(5)
    simulation(fl.FedAvg()).run()
    assert torch.equal(torch.rand(3), expected[0]) and (np.random.rand(3) == expected[1]).all()


def test_stragglers_draw_every_amount_from_one_to_e_and_pair_across_algorithms() -> None:
    run = simulation(fl.FedProx(0.1), local_epochs=3, stragglers=1.0)
    amounts = set()
    for _ in run:
        amounts |= {run._server._amount(client) for client in range(len(SIZES))}
    assert amounts == {1, 2, 3}
    other = simulation(fl.Scaffold(), local_epochs=3, stragglers=1.0)
    other.run()
    assert [run._server._amount(k) for k in range(8)] == [
        other._server._amount(k) for k in range(8)
    ]
