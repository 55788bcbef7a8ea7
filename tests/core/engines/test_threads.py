"""Threads train chunks of clients side by side: the numbers do not depend on them, and PyTorch's
setting survives.
"""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.engines import base, cores, cutting, threads
from fedlab_core.engines.stacked import engine as stacked
from tests.core.engines.test_equality import ALGORITHMS, LOCAL, RAGGED, VARIANTS, images, texts
from tests.support import blobs

MANY = 2, 3


@pytest.fixture
def four_inside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyTorch's own setting is four threads, on a machine with sixteen cores."""
    monkeypatch.setattr(cores, "usable", lambda: 16)
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even tiny work into several chunks and give it to threads."""
    monkeypatch.setattr(threads, "LITTLE", 0)
    monkeypatch.setattr(cutting, "CALL_PRODUCTS", 1)
    monkeypatch.setattr(cutting, "CHUNK_CLIENTS", 1)
    monkeypatch.setattr(base, "EVALUATION_SAMPLES", 7)
    monkeypatch.setattr(stacked, "GRADIENT_VALUES", 300)
    monkeypatch.setattr(stacked, "MOMENT_SAMPLES", 3)


def seen_by_a_new_thread() -> int:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return found[0]


# How many threads


def test_ones_own_number_goes_first_then_the_variable_then_cores_and_pytorchs_setting(
    four_inside, monkeypatch
) -> None:
    assert threads.number() == 4
    monkeypatch.setattr(cores, "usable", lambda: 3)
    assert threads.number() == 3
    monkeypatch.setenv(threads.VARIABLE, "7")
    assert (threads.number(), threads.number(20)) == (7, 20)
    assert fl.Simulation(*small_run(), threads=5, **RUN)._engine.threads == 5


@pytest.mark.parametrize("word", ["0", "two"])
def test_a_variable_that_is_no_number_is_refused(monkeypatch, word: str) -> None:
    monkeypatch.setenv(threads.VARIABLE, word)
    with pytest.raises(ValueError, match=r"FEDLAB_THREADS=.*must be an integer from 1 to"):
        threads.number()


@pytest.mark.parametrize(("little", "is_here"), [(0, False), (10**9, True)])
def test_little_work_stays_on_the_thread_that_asks(
    small_chunks, monkeypatch, little: int, is_here: bool
) -> None:
    monkeypatch.setattr(threads, "LITTLE", little)
    engine = fl.Simulation(*small_run(), threads=3, **RUN)._engine
    names = set(
        engine.each(lambda twin, task: threading.current_thread().name, range(4), samples=1)
    )
    assert (names == {threading.current_thread().name}) == is_here


# PyTorch's setting


def test_inside_it_is_one_and_afterwards_as_before(four_inside) -> None:
    with threads.one_inside():
        assert torch.get_num_threads() == 1
        with threads.one_inside():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert (torch.get_num_threads(), seen_by_a_new_thread()) == (4, 4)


def test_a_thread_that_begins_inside_the_block_of_another_leaves_nothing_behind(
    four_inside,
) -> None:
    inside = threading.Event()
    leave = threading.Event()
    found = []

    def other() -> None:
        with threads.one_inside():
            found.append(threads.number())
            inside.set()
            leave.wait(60)

    with threads.one_inside():
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(60)
    leave.set()
    thread.join()
    assert (found, torch.get_num_threads(), seen_by_a_new_thread()) == ([4], 4, 4)


RUN = {
    "rounds": 3,
    "clients_per_round": 1.0,
    "local_epochs": 2,
    "batch_size": 5,
    "lr": 0.1,
    "progress": False,
}


def small_run() -> tuple[fl.FederatedDataset, nn.Module, fl.Algorithm]:
    fed = blobs(RAGGED)
    return fed, fl.models.mlp(fed, (6,), seed=1), fl.FedAvg()


class Interrupted(fl.Algorithm):
    """Raises ``error`` when the second round begins."""

    def __init__(self, error: BaseException | None) -> None:
        self._error = error

    def describe(self) -> dict[str, str]:
        return {"name": "Interrupted"}

    def cohorts(self, server) -> Iterator[np.ndarray]:
        if server.round == 2 and self._error:
            raise self._error
        assert torch.get_num_threads() == 1
        yield server.uniform_cohort()


@pytest.mark.parametrize(
    ("error", "number"), [(None, 1), (ZeroDivisionError(), 3), (KeyboardInterrupt(), 3)], ids=repr
)
def test_a_run_leaves_pytorchs_setting_as_it_was(
    four_inside, small_chunks, error, number: int
) -> None:
    fed, model, _ = small_run()
    with pytest.raises(type(error)) if error else threads.one_inside():
        fl.simulate(fed, model, Interrupted(error), threads=number, **RUN)
    assert (torch.get_num_threads(), seen_by_a_new_thread()) == (4, 4)


def test_an_interruption_while_threads_train_leaves_the_round_undone(
    four_inside, small_chunks, monkeypatch
) -> None:
    """The thread that asked waits, and is interrupted in its second round. The run then goes on as
    if nothing were.
    """
    fed, model, algorithm = small_run()
    expected = fl.simulate(fed, model, algorithm, threads=1, **RUN).params
    simulation = fl.Simulation(fed, model, algorithm, threads=3, **RUN)
    train = stacked.StackedEngine._train_chunk
    next(simulation)
    once = iter([True])

    def interrupting(self, *arguments):
        if next(once, False):
            _thread.interrupt_main()
        return train(self, *arguments)

    # tests in the background ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(stacked.StackedEngine, "_train_chunk", interrupting)
            next(simulation)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (simulation.round, torch.get_num_threads(), seen_by_a_new_thread()) == (1, 4, 4)
    assert torch.equal(simulation.run().params, expected)


# Tasks


def test_results_come_in_the_order_of_the_tasks_from_workers_with_one_thread_inside(
    four_inside,
) -> None:
    def slow_at_first(task: int) -> tuple[int, int]:
        time.sleep(0.02 if task == 0 else 0)
        return task, torch.get_num_threads()

    for number in (1, 3):
        assert list(threads.each(slow_at_first, range(20), number)) == [
            (task, 1) for task in range(20)
        ]


def test_no_more_work_than_threads_at_once_and_few_results_ahead() -> None:
    lock = threading.Lock()
    running = 0
    most = 0
    begun = 0

    def work(task: int) -> int:
        nonlocal running, most, begun
        with lock:
            running = running + 1
            begun = begun + 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1
        return task

    results = threads.each(work, range(100), 3)
    for taken in range(10):
        next(results)
        assert begun <= taken + 1 + 2 * 3
    assert most <= 3
    results.close()


def test_work_inside_work_needs_no_further_thread() -> None:
    nested = threads.each(lambda task: sum(threads.each(abs, range(task), 2)), range(6), 2)
    assert list(nested) == [0, 0, 1, 3, 6, 10]


@pytest.mark.parametrize("word", ["10000", "999999999999", "9" * 5000])
def test_more_threads_than_the_cores_can_use_are_refused_before_any_starts(
    four_inside, monkeypatch, word: str
) -> None:
    before = threading.active_count()
    with pytest.raises(
        ValueError, match=r"^threads=10000: must be an integer from 1 to 256 .*, for example 16$"
    ):
        fl.Simulation(*small_run(), threads=10000, **RUN)
    monkeypatch.setenv(threads.VARIABLE, word)
    with pytest.raises(
        ValueError,
        match=r"^\$FEDLAB_THREADS=.*: must be an integer from 1 to 256 .*, for example 16$",
    ):
        fl.Simulation(*small_run(), **RUN)
    assert threading.active_count() == before


def test_a_pool_that_cannot_start_all_threads_ends_those_that_have_started(monkeypatch) -> None:
    started = []
    start = threading.Thread.start

    def refused(self: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    with (
        monkeypatch.context() as patched,
        pytest.raises(RuntimeError, match=r"threads=5: .* use fewer"),
    ):
        patched.setattr(threading.Thread, "start", refused)
        list(threads.each(abs, range(4), 5))
    assert len(started) == 2 and not any(thread.is_alive() for thread in started)
    assert list(threads.each(abs, range(4), 5)) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_that_is_forked_after_training_on_our_threads_trains_to_the_same_bits() -> None:
    """PyTorch's own threads have not started here: after a matrix product on these, a forked child
    can hang.
    """
    code = """
import os
import torch
import fedlab_core as fl
from fedlab_core.engines import cutting, threads
from tests.support import blobs
threads.LITTLE, cutting.CALL_PRODUCTS, cutting.CHUNK_CLIENTS = 0, 1, 1
torch.set_num_threads(1)
fed = blobs((7, 12, 9, 15, 4))
def trained():
    model = fl.models.mlp(fed, (6,), seed=1)
    work = {"rounds": 2, "clients_per_round": 1.0, "local_epochs": 1, "batch_size": 5, "lr": 0.1}
    return fl.simulate(fed, model, fl.FedAvg(), threads=2, progress=False, **work).params
expected = trained()
assert threads._pool.cache_info().currsize == 1, "no threads have trained"
child = os.fork()
if child == 0:
    assert threads._pool.cache_info().currsize == 0
    os._exit(0 if torch.equal(trained(), expected) else 1)
raise SystemExit(os.waitpid(child, 0)[1])"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=600)


# The same numbers


class Opaque(nn.Module):
    """A model whose layers cannot be seen: it trains through vmap."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def assert_same_bits(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **changes
) -> None:
    arguments = {**RUN, "clients_per_round": 5, **changes}
    alone = fl.simulate(fed, model, algorithm, threads=1, **arguments)
    for number in MANY:
        found = fl.simulate(fed, model, algorithm, threads=number, **arguments)
        assert torch.equal(found.params, alone.params), number
        columns = [name for name in alone.frame if name != "seconds"]
        assert found.frame[columns].equals(alone.frame[columns]), number
        assert np.array_equal(found.clients.accuracy, alone.clients.accuracy)


@pytest.mark.parametrize("algorithm", (ALGORITHMS + VARIANTS)[::3], ids=str)
def test_algorithms_give_the_same_bits(small_chunks, algorithm: fl.Algorithm) -> None:
    fed = blobs(RAGGED, dtype=torch.float32)
    assert_same_bits(fed, fl.models.mlp(fed, (6,), seed=1), algorithm)


@pytest.mark.parametrize("algorithm", [fl.FedCurv(0.5), LOCAL[-1]], ids=str)
def test_vmap_gives_the_same_bits(small_chunks, algorithm: fl.Algorithm) -> None:
    fed = blobs(RAGGED, dtype=torch.float32)
    assert_same_bits(fed, Opaque(fl.models.mlp(fed, (6,), seed=1)), algorithm, rounds=2)


@pytest.mark.parametrize(
    ("fed", "model", "algorithm"),
    [
        (images(10), fl.models.cnn_mnist, fl.FedCurv(0.5)),
        (images(16, channels=3), fl.models.cnn_cifar, LOCAL[-1]),
        (
            texts(),
            lambda fed, seed: fl.models.lstm(fed, embedding=4, hidden=6, seed=seed),
            fl.Scaffold(option=1),
        ),
    ],
    ids=["cnn_mnist", "cnn_cifar", "lstm"],
)
def test_every_model_gives_the_same_bits(small_chunks, fed, model, algorithm: fl.Algorithm) -> None:
    assert_same_bits(fed, model(fed, seed=0).double(), algorithm, rounds=2)


def test_the_threads_share_the_work(small_chunks, monkeypatch) -> None:
    """Otherwise the tests above would compare one thread with itself."""
    names = set()
    train = stacked.StackedEngine._train_chunk

    def noted(self, *arguments):
        names.add(threading.current_thread().name)
        time.sleep(0.01)
        return train(self, *arguments)

    monkeypatch.setattr(stacked.StackedEngine, "_train_chunk", noted)
    fed, model, algorithm = small_run()
    fl.simulate(fed, model, algorithm, threads=3, **RUN)
    assert len(names) == 3 and threading.current_thread().name not in names
