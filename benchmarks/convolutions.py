"""Compare the stacked engine with the reference engine on networks with convolutions.

    python benchmarks/convolutions.py [--repeats 5] [--only cifar-lenet] [--out results/convolutions.csv]
    python benchmarks/convolutions.py --ways

A row is a network and a batch size: seconds of one round of local training (8 clients, 4 steps each) by the reference
engine, by the stacked engine, and by the stacked engine with every pass forced into one way of convolving. Rounds are
timed in turn; medians are reported, and ``ratio`` is reference / stacked. ``--ways`` times single layers: each pass by
patches, by PyTorch's convolution for each client, and by one grouped convolution of all clients. Inputs are random,
because speed does not depend on them.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines import ReferenceEngine, StackedEngine, threads
from fedlab_core.engines.stacked import convolution
from fedlab_core.engines.stacked.ways import Way, Ways
from fedlab_core.engines.work import Work
from fedlab_core.losses import LOSSES

CLIENTS = 8
STEPS = 4
BATCH_SIZES = (10, 50)
FORCED: tuple[Way, ...] = ("patches", "each")
Round = Callable[[], object]


def block(channels: int, filters: int, kernel: int, padding: int = 0) -> list[nn.Module]:
    """A convolution, ReLU and a max-pool."""
    convolved = nn.Conv2d(channels, filters, kernel, padding=padding)
    return [convolved, nn.ReLU(), nn.MaxPool2d(2)]


def small(channels: int, filters: int, kernel: int, padding: int = 0) -> list[nn.Module]:
    """A convolution and ReLU."""
    return [nn.Conv2d(channels, filters, kernel, padding=padding), nn.ReLU()]


# Name → the shape of an image, and the layers below the linear output.
NETWORKS: dict[str, tuple[tuple[int, int, int], Callable[[], list[nn.Module]]]] = {
    "8x8, 1-8, 3x3": ((1, 8, 8), lambda: block(1, 8, 3)),
    "8x8, 1-16-16, 3x3, padded": ((1, 8, 8), lambda: [*small(1, 16, 3, 1), *block(16, 16, 3, 1)]),
    "16x16, 3-8-16, 3x3": ((3, 16, 16), lambda: [*block(3, 8, 3), *small(8, 16, 3)]),
    "16x16, 3-16-32, 5x5, padded": ((3, 16, 16), lambda: [*block(3, 16, 5, 2), *block(16, 32, 5, 2)]),
    "16x16, 16-16, 3x3": ((16, 16, 16), lambda: block(16, 16, 3)),
    "28x28, 1-32, 5x5 (mnist)": ((1, 28, 28), lambda: block(1, 32, 5)),
    "28x28, 1-16-32, 5x5": ((1, 28, 28), lambda: [*block(1, 16, 5), *block(16, 32, 5)]),
    "28x28, 1-32-64, 5x5, padded": ((1, 28, 28), lambda: [*block(1, 32, 5, 2), *block(32, 64, 5, 2)]),
    "28x28, 1-8-8, 3x3": ((1, 28, 28), lambda: [*small(1, 8, 3), *block(8, 8, 3)]),
    "32x32, 3-6-16, 5x5 (lenet)": ((3, 32, 32), lambda: [*block(3, 6, 5), *block(6, 16, 5)]),
    "32x32, 3-32-64, 5x5": ((3, 32, 32), lambda: [*block(3, 32, 5), *block(32, 64, 5)]),
    "32x32, 3-32-32, 3x3, padded": ((3, 32, 32), lambda: [*block(3, 32, 3, 1), *block(32, 32, 3, 1)]),
    "32x32, 3-64-64, 3x3": ((3, 32, 32), lambda: [*block(3, 64, 3), *block(64, 64, 3)]),
    "32x32, 3-16, 3x3": ((3, 32, 32), lambda: block(3, 16, 3)),
}


def network(name: str) -> tuple[tuple[int, int, int], nn.Module]:
    """The shape of an image and the network, with ten outputs."""
    shape, make = NETWORKS[name]
    torch.manual_seed(0)
    below = nn.Sequential(*make(), nn.Flatten())
    with torch.no_grad():
        features = below(torch.zeros(1, *shape)).shape[1]
    return shape, nn.Sequential(*below, nn.Linear(features, 10))


def round_of(kind: type, name: str, batch_size: int, forced: Way | None = None) -> Round:
    """One round of local training by an engine; ``forced``: the way of every pass."""
    shape, model = network(name)
    samples = CLIENTS * STEPS * batch_size
    x = torch.rand(samples, *shape, generator=torch.Generator().manual_seed(0))
    train = Split(x, torch.arange(samples) % 10)
    parts = list(np.arange(samples).reshape(CLIENTS, -1))
    fed = fl.FederatedDataset(Dataset("random", train, train, 10), parts)
    work = Work(np.arange(CLIENTS), np.full(CLIENTS, 1), "epochs", batch_size, 0.01, round=1, seed=0)
    engine = kind(fed, model, LOSSES["cross_entropy"], threads=threads.number())
    params = engine.model.parameters()
    corrections = [fl.Correction()] * CLIENTS

    def run() -> object:
        if forced is None:
            return engine.train(params, work, corrections).weighted_mean()
        with mock.patch.object(convolution, "fastest", lambda *_: Ways(forced, forced, forced)):
            return engine.train(params, work, corrections).weighted_mean()

    return run


def medians(rounds: dict[str, Round], repeats: int) -> dict[str, float]:
    """Median seconds of each contestant, timed in turn; one round first warms up."""
    times: dict[str, list[float]] = {name: [] for name in rounds}
    for repeat in range(repeats + 1):
        for name, run in rounds.items():
            start = time.perf_counter()
            run()
            elapsed = time.perf_counter() - start
            if repeat:
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()}


def compare(name: str, batch_size: int, repeats: int) -> dict[str, object]:
    """A row of the table."""
    rounds = {
        "reference": round_of(ReferenceEngine, name, batch_size),
        "stacked": round_of(StackedEngine, name, batch_size),
    }
    for way in FORCED:
        rounds[way] = round_of(StackedEngine, name, batch_size, way)
    seconds = medians(rounds, repeats)
    ratio = seconds["reference"] / seconds["stacked"]
    rounded = {kind: float(f"{value:.3g}") for kind, value in seconds.items()}
    return {"network": name, "batch_size": batch_size, **rounded, "ratio": round(ratio, 2)}


# One layer: channels, filters, kernel, and the height and width of the image.
LAYERS = ((1, 32, 5, 28), (3, 6, 5, 32), (6, 16, 5, 14), (16, 16, 3, 16), (32, 64, 5, 14), (64, 64, 3, 15))


def layer_passes(channels: int, filters: int, kernel: int, size: int, batch: int) -> dict[str, Round]:
    """The passes of one layer for all clients in each of three ways."""
    x = torch.rand(CLIENTS, batch, channels, size, size)
    weight = torch.rand(CLIENTS, filters, channels, kernel, kernel)
    out = size - kernel + 1
    gradient = torch.rand(CLIENTS, batch, filters, out, out)
    grouped_x = x.transpose(0, 1).flatten(1, 2).contiguous()
    grouped_weight = weight.flatten(0, 1)
    grouped_gradient = gradient.transpose(0, 1).flatten(1, 2).contiguous()
    patches = torch.nn.functional.unfold(x.flatten(0, 1), kernel).unflatten(0, (CLIENTS, batch))
    matrix = patches.transpose(1, 2).flatten(2)
    rows = gradient.flatten(3).transpose(1, 2).flatten(2)
    flat_weight = weight.flatten(2)

    def backward(x: torch.Tensor, w: torch.Tensor, g: torch.Tensor, groups: int, wanted: list[bool]) -> object:
        geometry = ([1, 1], [0, 0], [1, 1], False, [0, 0], groups)
        return torch.ops.aten.convolution_backward(g, x, w, None, *geometry, wanted)

    def each_backward(wanted: list[bool]) -> list[object]:
        return [backward(*client, 1, wanted) for client in zip(x, weight, gradient, strict=True)]

    def grouped_backward(wanted: list[bool]) -> object:
        return backward(grouped_x, grouped_weight, grouped_gradient, CLIENTS, wanted)

    to_input, to_weight = [True, False, False], [False, True, False]
    return {
        "forward, patches": lambda: torch.bmm(flat_weight, matrix),
        "forward, each": lambda: [torch.conv2d(*client) for client in zip(x, weight, strict=True)],
        "forward, grouped": lambda: torch.conv2d(grouped_x, grouped_weight, groups=CLIENTS),
        "input gradient, patches": lambda: torch.bmm(flat_weight.mT, rows),
        "input gradient, each": lambda: each_backward(to_input),
        "input gradient, grouped": lambda: grouped_backward(to_input),
        "weight gradient, patches": lambda: torch.bmm(rows, matrix.mT),
        "weight gradient, each": lambda: each_backward(to_weight),
        "weight gradient, grouped": lambda: grouped_backward(to_weight),
    }


def ways(repeats: int) -> pd.DataFrame:
    """Milliseconds of each pass of single layers on one core. Patches are without their copies."""
    rows = []
    for channels, filters, kernel, size in LAYERS:
        for batch in BATCH_SIZES:
            seconds = medians(layer_passes(channels, filters, kernel, size, batch), repeats)
            about = {"channels": channels, "filters": filters, "kernel": kernel, "size": size, "batch": batch}
            rows.append(about | {name: round(1e3 * value, 2) for name, value in seconds.items()})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--ways", action="store_true", help="time single layers, each pass in each of three ways")
    parser.add_argument("--out", type=Path, help="write the table to this CSV file")
    given = parser.parse_args()
    print(f"PyTorch {torch.__version__}, {platform.processor() or platform.machine()}, {threads.number()} threads")
    if given.ways:
        torch.set_num_threads(1)
        table = ways(given.repeats)
    else:
        table = pd.DataFrame([compare(name, size, given.repeats) for name in given.only for size in BATCH_SIZES])
    print(table.to_string(index=False))
    if given.out:
        table.to_csv(given.out, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
