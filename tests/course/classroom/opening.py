"""A class on this machine: a server in the running loop, and phones that a test holds."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import torch

import fedlab_core as fl
from fedlab_course.classroom import serving, virtual
from fedlab_course.classroom.keeping import KeptRoom
from fedlab_course.classroom.serving import RunningClass
from fedlab_course.classroom.simulated import SimulatedPhone

T = TypeVar("T")
PATIENCE = 240.0  # seconds until a wait gives up; a machine may have much else to do


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread: Playwright may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@contextlib.asynccontextmanager
async def opened(folder: Path | None = None, **given: Any) -> AsyncIterator[RunningClass]:
    """A server on a free port, or on a given one."""
    running = await serving.start(None if folder is None else KeptRoom(folder), **given)
    try:
        yield running
    finally:
        await running.stop()


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Wait until ``condition`` holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def phones(
    running: RunningClass, number: int, draw: Any = None
) -> AsyncIterator[list[SimulatedPhone]]:
    """Phones that join one after another, so that phone k has seat k."""
    made = []
    tasks = []
    for place in range(number):
        before = len(running.room.seats)
        phone = SimulatedPhone(running.local, running.room.code, place, draw)
        made.append(phone)
        tasks.append(asyncio.create_task(phone.run()))
        await until(lambda before=before: len(running.room.seats) > before, "a phone joins")
    await until(lambda: ready(running) == number, "all phones are ready")
    try:
        yield made
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def ready(running: RunningClass) -> int:
    """How many phones have drawings for the task."""
    room = running.room
    return sum(
        1 for seat in room.seats if seat.is_awake and seat.task == room.task and seat.samples
    )


async def trained(running: RunningClass, rounds: int) -> torch.Tensor:
    """Start a run, wait for its end and return its parameters."""
    await running.room.order({"do": "start"})
    run = running.room.run
    assert run is not None
    await until(lambda: run.simulation.round == rounds and running.room.run is None, "the run ends")
    assert running.room.trouble == ""
    return run.simulation.params


def expected(
    clients: Sequence[tuple[torch.Tensor, torch.Tensor]],
    algorithm: fl.Algorithm,
    seed: int = 0,
    **settings: Any,
) -> fl.History:
    """What the library gives for the same drawings."""
    fed = fl.FederatedDataset.from_clients(clients, test=virtual.test_samples())
    model = virtual.model(seed)
    return fl.simulate(
        fed, model, algorithm, seed=seed, engine="reference", progress=False, **settings
    )
