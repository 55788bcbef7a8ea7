"""Small steps use one thread, large ones all of them, and the number is restored."""

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
