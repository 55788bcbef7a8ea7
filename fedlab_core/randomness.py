"""Named random streams, so that runs under one seed are paired.

A stream is a counter-based generator (Philox) keyed by ``(seed, name, round, client)``. Seed and name form the key,
round and client the high words of the counter. Two streams therefore never overlap, and what one client draws in one
round depends neither on the algorithm, nor on the engine, nor on which other clients were drawn before it.
"""

import hashlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import torch

_BEFORE = ("partition", "data", "shared", "portion", "held_out", "model", "evaluation", "projection")
_OF_ROUNDS = ("availability", "cohort", "candidates", "importance", "models", "privacy")
_OF_CLIENTS = ("stragglers", "batches", "dropout", "probe", "personal", "fine_tune", "compression")
STREAMS = (*_BEFORE, *_OF_ROUNDS, *_OF_CLIENTS)
MAX_SEED = 2**63 - 1
_LENT = threading.RLock()


@cache
def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def stream(seed: int, name: str, *, round: int = 0, client: int = 0) -> np.random.Generator:
    """The generator of one named stream.

    ``seed``: 0 … 2⁶³−1. ``name``: any; those of the library are :data:`STREAMS`. ``round``: 1 for the first round, 0
    outside rounds. Every call returns a fresh generator at the start of its stream.
    """
    return np.random.Generator(np.random.Philox(key=[seed, _key(name)], counter=[0, 0, round, client]))


def client_streams(seed: int, name: str, *, round: int, clients: Iterable[int]) -> Iterator[np.random.Generator]:
    """``stream(seed, name, round=round, client=client)`` of one client after another, five times as fast.

    It is one generator that is moved: what is wanted of a stream has to be drawn before the next one is asked for.
    """
    philox = np.random.Philox(key=[seed, _key(name)], counter=[0, 0, round, 0])
    generator, state = np.random.Generator(philox), philox.state
    for client in clients:
        state["state"]["counter"][3] = client
        philox.state = state
        yield generator


def derived_seed(seed: int, name: str, *, round: int = 0, client: int = 0) -> int:
    """A 63-bit integer drawn from a stream, for libraries that want a seed (PyTorch, scikit-learn)."""
    return int(stream(seed, name, round=round, client=client).integers(MAX_SEED))


@contextmanager
def torch_generator(device: str | torch.device, seed: int | None = None) -> Iterator[None]:
    """PyTorch's global generator of the CPU and of ``device``, at ``seed`` if given; it goes on as before afterwards.

    Dropout draws from it, and all threads have the same one: whoever else asks for it waits until the block ends.
    """
    kind = torch.device(device).type
    with _LENT, torch.random.fork_rng([] if kind == "cpu" else [device], device_type=kind):
        if seed is not None:
            torch.manual_seed(seed)
        yield
