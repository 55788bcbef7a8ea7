"""Small steps use one thread, large ones all of them, and the number is restored."""

import numpy as np
import pytest
import torch

from fedlab_core.engines import threads


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
    assert threads.products_per_step(sizes, clients, batch_size, inputs * outputs) == products
