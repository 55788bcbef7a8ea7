"""What the runner and an adapter say to each other. Needs NumPy alone, because every peer has its
own environment.

An adapter is a script:

    python run_NAME.py TASK.npz --rounds 8 --processes 1

It trains one round that is not counted (compilation, first allocations) and then ``rounds`` counted
ones, without any evaluation between them. Its last line of output is one JSON object with the
fields of :class:`Report`.
"""

import argparse
import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Work:
    """One task as every peer gets it: data, clients of each round, initial weights.

    ``x`` float32 [n, channels, height, width]; ``y`` int64 [n]; ``parts`` [N, n_k] the samples of
    each client; ``cohorts`` [rounds, K] the clients of each round; ``start`` weights in PyTorch's
    names and shapes; ``layers`` the network, from input to output.
    """

    x: np.ndarray
    y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    parts: np.ndarray
    cohorts: np.ndarray
    epochs: int
    batch_size: int
    lr: float
    layers: list[list[object]]
    start: dict[str, np.ndarray]

    def client(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The samples and targets of client k."""
        part = self.parts[k]
        return self.x[part], self.y[part]


@dataclass(frozen=True)
class Report:
    """What one run of an adapter measured.

    ``seconds``: one entry a counted round; ``samples``: training samples, all rounds together,
    counted where the gradients are computed; ``accuracy``: on the test set after the last round.
    """

    seconds: list[float]
    samples: int
    accuracy: float
    versions: dict[str, str]


@dataclass(frozen=True)
class Options:
    """Command-line options of an adapter."""

    rounds: int
    processes: int


def save(path: Path, work: Work) -> None:
    """Write a task to an NPZ file."""
    fields = dict(vars(work))
    start = fields.pop("start")
    fields["layers"] = json.dumps(fields["layers"])
    weights = {f"start/{name}": value for name, value in start.items()}
    np.savez(path, **fields, **weights)


def load(path: Path) -> Work:
    """Read a task from an NPZ file."""
    with np.load(path) as file:
        fields = {name: file[name] for name in file.files}
    start = {}
    for name in list(fields):
        if name.startswith("start/"):
            start[name.removeprefix("start/")] = fields.pop(name)
    for name in ("epochs", "batch_size"):
        fields[name] = int(fields[name])
    fields["lr"] = float(fields["lr"])
    fields["layers"] = json.loads(str(fields["layers"]))
    return Work(**fields, start=start)


def versions(*names: str) -> dict[str, str]:
    """The installed versions of these distributions, and Python's."""
    installed = {name: importlib.metadata.version(name) for name in names}
    python = ".".join(map(str, sys.version_info[:3]))
    return {**installed, "python": python}


def batches(count: int, batch_size: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """The batches of one epoch, shuffled; the last one may be smaller."""
    order = generator.permutation(count)
    for begin in range(0, count, batch_size):
        yield order[begin : begin + batch_size]


def main(run: Callable[[Work, Options], Report | None]) -> None:
    """Run an adapter from the command line; None means that another process reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task", type=Path)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    report = run(load(given.task), Options(given.rounds, given.processes))
    if report is not None:
        print(json.dumps(asdict(report)), flush=True)
