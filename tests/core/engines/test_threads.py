"""Small steps use one thread, large ones all of them, and the number is restored."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.engines import threads
from fedlab_core.server import Server
from tests.support import one_sample_each


@pytest.fixture
def four_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("products", "inside"), [(threads.SMALL_STEP - 1, 1), (threads.SMALL_STEP, 4)])
def test_threads_follow_the_size_of_a_step(four_threads, products: int, inside: int) -> None:
    with threads.suited_to(products):
        assert torch.get_num_threads() == inside
    assert torch.get_num_threads() == 4


def test_the_number_is_restored_after_an_error(four_threads) -> None:
    with pytest.raises(KeyError), threads.suited_to(1):
        raise KeyError
    assert torch.get_num_threads() == 4


@pytest.mark.parametrize(("batch_size", "batch"), [(10, 10), (1000, 300), (None, 300)])
def test_products_are_one_per_client_sample_and_weight(batch_size: int | None, batch: int) -> None:
    """A layer without bias multiplies each of its weights once for each sample; no batch is larger than a client."""
    sizes, (inputs, outputs), clients = np.array([20, 300, 7]), (50, 8), 2
    products = clients * batch * inputs * outputs
    model = torch.nn.Linear(inputs, outputs, bias=False)
    assert threads.products_per_step(sizes, clients, batch_size, model) == products


def test_an_embedding_is_looked_up_and_not_multiplied() -> None:
    """Unless a product uses its table too, as an output layer that shares it does."""
    tokens, width, sizes = 5_000, 32, np.array([10, 20])
    model = torch.nn.Sequential(torch.nn.Embedding(tokens, width), torch.nn.Linear(width, tokens, bias=False))
    products = 2 * 10 * tokens * width
    assert threads.products_per_step(sizes, 2, 10, model) == products
    model[1].weight = model[0].weight
    assert threads.products_per_step(sizes, 2, 10, model) == products
    assert threads.products_per_step(sizes, 2, 10, model[0]) == 0


def test_the_state_of_many_clients_is_kept_by_one_thread_too(four_threads, monkeypatch) -> None:
    """A copy of a label per client is large enough for all threads, who would then wait for work through the round."""
    snapshot, seen = Server.snapshot, []
    monkeypatch.setattr(Server, "snapshot", lambda server: seen.append(torch.get_num_threads()) or snapshot(server))
    fed = one_sample_each(20)
    arguments = {"rounds": 2, "clients_per_round": 5, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    fl.simulate(fed, fl.models.softmax_regression(fed), fl.FedMas(0.01, tiers="one"), **arguments)
    assert seen == [1, 1] and torch.get_num_threads() == 4
