"""Interrupted and resumed is the same as never interrupted,
bit for bit on the CPU; files are safe.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.support import blobs

SIZES = (7, 12, 9, 15, 4)


def simulation(
    algorithm=None, *, sizes=SIZES, dtype=torch.float32, hidden=6, **changes
) -> fl.Simulation:
    fed = blobs(sizes, dtype=dtype)
    arguments = {
        "rounds": 5,
        "clients_per_round": 2,
        "local_epochs": 2,
        "batch_size": 4,
        "lr": 0.1,
        "progress": False,
    }
    return fl.Simulation(
        fed, fl.models.mlp(fed, (hidden,)), algorithm or fl.Scaffold(), **{**arguments, **changes}
    )


def same(left: fl.History, right: fl.History) -> None:
    assert torch.equal(left.params, right.params)
    assert left.frame.drop(columns="seconds").equals(right.frame.drop(columns="seconds"))
    assert (left.clients.accuracy == right.clients.accuracy).all()


@pytest.mark.parametrize("stop", [1, 4, 5])
def test_resuming_from_a_file_is_bit_for_bit(tmp_path, stop: int) -> None:
    whole = simulation(stragglers=0.5).run()
    path = tmp_path / "run.npz"
    for record in simulation(stragglers=0.5, checkpoint=path):
        if record.round == stop:
            break
    resumed = simulation(stragglers=0.5, checkpoint=path)
    assert resumed.round == stop
    same(resumed.run(), whole)


def test_a_run_of_one_round_is_resumed_at_its_end(tmp_path) -> None:
    path = tmp_path / "run.npz"
    whole = simulation(rounds=1, checkpoint=path).run()
    same(simulation(rounds=1, checkpoint=path).run(), whole)


def test_the_state_of_a_finished_run_has_names_and_shapes_of_the_contract_and_its_report() -> None:
    whole = simulation()
    last = simulation()
    whole.run()
    state = whole.state_dict()["algorithm"]
    size = len(whole.history.params)
    assert state["c"].shape == (size,) and state["c_clients"].shape == (5, size)
    last.load_state_dict(whole.state_dict())
    same(last.history, whole.history)


def test_a_state_that_is_loaded_is_not_shared() -> None:
    first = simulation()
    second = simulation()
    next(first)
    state = first.state_dict()
    before = state["params"].clone(), state["algorithm"]["c_clients"].clone()
    second.load_state_dict(state)
    second.run()
    assert torch.equal(state["params"], before[0]) and torch.equal(
        state["algorithm"]["c_clients"], before[1]
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [({"lr": 0.2}, "lr: 0.1 there, 0.2 now"), ({"algorithm": fl.FedProx(0.1)}, "algorithm")],
)
def test_another_configuration_is_refused_by_name(tmp_path, change, words: str) -> None:
    path = tmp_path / "run.npz"
    simulation(checkpoint=path).run()
    with pytest.raises(ValueError, match=words):
        simulation(checkpoint=path, **change)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("lr", lambda t: 0.1, lambda t: 0.3),
        ("lr", lambda t: 0.1, lambda t: 0.1 if t < 4 else 0.2),
        ("loss", torch.nn.CrossEntropyLoss(), torch.nn.CrossEntropyLoss(label_smoothing=0.3)),
    ],
    ids=["rate", "last rate", "loss"],
)
def test_another_function_of_the_same_name_is_refused(tmp_path, name: str, first, second) -> None:
    path = tmp_path / "run.npz"
    simulation(checkpoint=path, **{name: first}).run()
    with pytest.raises(ValueError, match=f"belongs to another run, with {name}: "):
        simulation(checkpoint=path, **{name: second})
    assert simulation(checkpoint=path, **{name: first}).round == 5


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"algorithm": fl.FedAvg()}, "algorithm='Scaffold', but this run has 'FedAvg'"),
        ({"sizes": SIZES[:-1]}, "num_clients=5, but this run has 4"),
        ({"dtype": torch.float64}, "dtype='float32', but this run has 'float64'"),
        ({"hidden": 7}, "num_parameters=51, but this run has 59"),
    ],
    ids=["algorithm", "clients", "dtype", "size"],
)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(other, words: str) -> None:
    first = simulation()
    second = simulation(**other)
    next(first)
    before = second.state_dict()
    with pytest.raises(ValueError, match=words):
        second.load_state_dict(first.state_dict())
    assert second.round == 0 and torch.equal(second.state_dict()["params"], before["params"])


def test_a_folder_is_refused_before_training(tmp_path) -> None:
    with pytest.raises(
        ValueError,
        match=r"^checkpoint='.*': must be a file, not a folder, for example '.*run\.npz'$",
    ):
        simulation(checkpoint=tmp_path)


def test_checkpoint_holds_rows_of_participants_only(tmp_path) -> None:
    path = tmp_path / "run.npz"
    run = simulation(checkpoint=path)
    next(run)
    with np.load(path) as file:
        assert file["rows/c_clients"].shape[0] == 2


def test_history_file_round_trip(tmp_path) -> None:
    history = simulation().run()
    history.save(tmp_path / "h.npz")
    loaded = fl.History.load(tmp_path / "h.npz")
    same(loaded, history)
    assert loaded.config == history.config and loaded.frame.seconds.equals(history.frame.seconds)
    x = blobs(SIZES, dtype=torch.float32).x
    assert torch.equal(loaded.model(x), history.model(x))
