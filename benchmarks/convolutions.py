"""Compare the stacked engine with the reference engine on networks with convolutions, and the ways
of convolving.

    python benchmarks/convolutions.py [--seconds 2] [--out results/convolutions.csv]
    python benchmarks/convolutions.py --ways

The first command times one round of local training (four clients, two batches each) of each network
in both engines, in turn, and writes the shortest times and their ratio: other processes only add
time. The second prints nanoseconds per multiplication of each way of convolving, on one core, to
check the choices of ``fedlab_core/engines/stacked/ways.py``. Inputs are random.
"""

import argparse
import csv
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))

from speed import LOSS, Workload, federation

from fedlab_core.correction import Correction
from fedlab_core.engines import ReferenceEngine, StackedEngine, threads
from fedlab_core.engines.stacked import convolution
from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.ways import Ways
from fedlab_core.engines.work import Work

CLIENTS = 4
STEPS = 2


@dataclass(frozen=True)
class Net:
    """Two convolutions k×k with these channels, each with ReLU and a max-pool 2×2, and a linear
    layer.
    """

    side: int
    channels: tuple[int, int, int]
    kernel: int
    padding: int
    batch: int

    @property
    def name(self) -> str:
        channels = "-".join(map(str, self.channels))
        return f"{self.side}x{self.side} {channels} k{self.kernel} p{self.padding} B{self.batch}"

    def module(self) -> nn.Sequential:
        first, second, third = self.channels
        layers: list[nn.Module] = []
        for inputs, outputs in ((first, second), (second, third)):
            layers += [
                nn.Conv2d(inputs, outputs, self.kernel, padding=self.padding),
                nn.ReLU(),
                nn.MaxPool2d(2),
            ]
        side = self.side
        for _ in range(2):
            side = (side + 2 * self.padding - self.kernel + 1) // 2
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(third * side * side, 10))


SHAPES = [
    (8, (1, 8, 16), 3, 1),
    (8, (3, 16, 16), 3, 1),
    (8, (64, 64, 64), 3, 1),
    (16, (1, 16, 32), 3, 0),
    (16, (3, 32, 64), 3, 1),
    (28, (1, 6, 16), 5, 2),
    (28, (1, 16, 32), 5, 0),
    (28, (1, 32, 64), 5, 2),
    (32, (3, 6, 16), 5, 0),
    (32, (3, 16, 32), 3, 1),
    (32, (3, 32, 64), 5, 2),
]
NETS = [
    Net(side, channels, kernel, padding, batch)
    for side, channels, kernel, padding in SHAPES
    for batch in (10, 50)
]


def rounds(net: Net) -> dict[str, Callable[[], object]]:
    """One round of each engine on the same work."""
    torch.manual_seed(0)
    model = net.module()
    sizes = np.full(CLIENTS, STEPS * net.batch)
    shape = (net.channels[0], net.side, net.side)
    fed = federation(Workload(lambda _: model, shape, sizes, CLIENTS, 1))
    work = Work(np.arange(CLIENTS), np.full(CLIENTS, 1), "epochs", net.batch, 0.05, round=1, seed=0)

    def trained(kind: type[ReferenceEngine | StackedEngine]) -> Callable[[], object]:
        engine = kind(fed, model, LOSS, threads=threads.number())
        return lambda: engine.train(engine.model.parameters(), work, [Correction()] * CLIENTS)

    return {"reference": trained(ReferenceEngine), "stacked": trained(StackedEngine)}


def compare(budget: float, out: Path | None) -> None:
    """Print the seconds of both engines on each network, timed for ``budget`` seconds, and write
    them to ``out``.
    """
    rows = []
    for net in NETS:
        seconds = shortest(rounds(net), budget)
        row = {
            "network": net.name,
            "reference_s": round(seconds["reference"], 5),
            "stacked_s": round(seconds["stacked"], 5),
            "ratio": round(seconds["stacked"] / seconds["reference"], 3),
            "threads": threads.number(),
            "torch": torch.__version__,
            "processor": platform.processor() or platform.machine(),
        }
        rows.append(row)
        print(
            f"{net.name:32} {row['reference_s']:9} {row['stacked_s']:9} {row['ratio']:6}",
            flush=True,
        )
    if out:
        with out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def passes(net: Net, way: str) -> dict[str, Callable[[], object]]:
    """The three passes of the second convolution of ``net`` in one way; "grouped" is all clients in
    one call.
    """
    layer = net.module()[3]
    side = (net.side + 2 * net.padding - net.kernel + 1) // 2
    x = torch.rand(CLIENTS, net.batch, side, side, layer.in_channels)
    weight = torch.rand(CLIENTS, *layer.weight.shape)
    if way == "grouped":
        return _grouped(layer, x, weight)
    stacked = convolution.Conv2d(0, layer, False, Workspace(x))
    stacked._choices[net.batch] = Ways(way, way, way)
    views = weight, torch.rand(CLIENTS, 1, layer.out_channels)
    above = torch.rand_like(stacked.forward(views, x))
    return {
        "forward": lambda: stacked.forward(views, x),
        "weight gradient": lambda: stacked.update(views, above, 1e-9),
        "input gradient": lambda: stacked.input_gradient(views, above),
    }


def _grouped(
    layer: nn.Conv2d, x: torch.Tensor, weight: torch.Tensor
) -> dict[str, Callable[[], object]]:
    """One convolution with a group for each client.

    It needs the channels of all clients side by side, [B, A·C, H, W], while every other layer has
    the clients apart: images and gradients are copied there, and the result is copied back.
    """
    filters = weight.flatten(0, 1)
    padding = list(layer.padding)
    geometry = [1, 1], padding, [1, 1], False, [0, 0], CLIENTS

    def together(images: torch.Tensor) -> torch.Tensor:
        return images.permute(1, 0, 4, 2, 3).flatten(1, 2)

    def apart(images: torch.Tensor) -> torch.Tensor:
        return images.unflatten(1, (CLIENTS, -1)).permute(1, 0, 3, 4, 2).contiguous()

    def forward() -> torch.Tensor:
        images = together(x)
        return apart(torch.conv2d(images, filters, None, 1, padding, 1, CLIENTS))

    above = torch.rand_like(forward())
    kept = together(x)  # the forward pass has copied them

    def backward(*wanted: bool) -> tuple[torch.Tensor, ...]:
        return torch.ops.aten.convolution_backward(
            together(above), kept, filters, [len(filters)], *geometry, list(wanted)
        )

    return {
        "forward": forward,
        "weight gradient": lambda: backward(False, True, False),
        "input gradient": lambda: apart(backward(True, False, False)[0]),
    }


@torch.no_grad()
def compare_ways(seconds: float = 0.2) -> None:
    """Print the nanoseconds per multiplication of each way and pass of the second convolutions, on
    one core.
    """
    ways = ("patches", "each", "grouped")
    print(f"{'second convolution of':32} {'pass':16}", *(f"{way:>9}" for way in ways))
    with threads.one_inside():
        for net in NETS:
            by_way = {way: passes(net, way) for way in ways}
            layer = net.module()[3]
            side = (
                (net.side + 2 * net.padding - net.kernel + 1) // 2
                + 2 * net.padding
                - net.kernel
                + 1
            )
            products = CLIENTS * net.batch * side * side * layer.weight.numel()
            for name in by_way["patches"]:
                best = shortest({way: by_way[way][name] for way in ways}, seconds)
                print(
                    f"{net.name:32} {name:16}",
                    *(f"{best[way] / products * 1e9:9.4f}" for way in ways),
                    flush=True,
                )


def shortest(calls: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The shortest time of each call, in turn, within ``seconds``."""
    for call in calls.values():
        call()
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2, help="for each network")
    parser.add_argument(
        "--ways", action="store_true", help="time the ways of convolving, not the engines"
    )
    parser.add_argument("--out", type=Path, help="write the seconds to this CSV file")
    given = parser.parse_args()
    if given.ways:
        compare_ways()
    else:
        compare(given.seconds, given.out)


if __name__ == "__main__":
    main()
