"""Figure 3 of the SCAFFOLD paper (Karimireddy et al. 2020): two quadratics whose gradients differ
by G.

    f_1(x) = μ x² + G x    f_2(x) = −G x    f = (f_1 + f_2)/2 = μ/2 x²

(theorem II there), here with μ = 1 and x_0 = 1.

Full gradients and full participation; "sgd" is one step on f. The paper names neither x_0 nor its
rates: each measure is that of the best of eleven rates from 10 to 10⁻⁴. ``rounds_to_gap``: until
f(x) − f* is 10⁻³ of that at x_0, 601 if 600 rounds do not suffice; ``log10_gap``: (f(x) −
f*)/(f(x_0) − f*) after 100 rounds, at least 10⁻²⁰. "scaffold" starts from c_k = 0, so its first
round drifts as FedAvg's does; "scaffold_gradients" starts from c_k = ∇f_k(x_0).
"""

import math
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import parameters
from fedlab_course.experiments.problems import linear

MU = 1.0
START = 1.0
RATES = tuple(float(f"{10 ** (1 - i / 2):.3g}") for i in range(11))
GAP = 1e-3
LEAST = 1e-20
LOST = 1e12
ROUNDS = 600
SHOWN = 100


class ScaffoldFromGradients(fl.Scaffold):
    """SCAFFOLD whose control variates are c_k = ∇F_k(w_0) and c = mean c_k when it starts."""

    def setup(self, server: Server) -> None:
        super().setup(server)
        everyone = np.arange(server.num_clients)
        gradients = server.gradients(everyone)
        server.state["c_clients"][everyone] = gradients
        server.state["c"] = gradients.mean(0)


ALGORITHMS = {
    "sgd": fl.FedAvg(),
    "fedavg": fl.FedAvg(),
    "scaffold": fl.Scaffold(),
    "scaffold_gradients": ScaffoldFromGradients(),
}


def objective(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """f_k of the model's ``output`` x, by its slope at 0, the ``target``: only the client with
    slope G has μx².
    """
    slope = target.reshape(output.shape)
    return (slope * output + MU * output.square() * (slope > 0)).mean()


def federation(G: float) -> fl.FederatedDataset:
    """The two clients, in float64: the input 1, so that the model's output is its parameter, and
    the slopes ±G.
    """
    x = torch.ones(1, 1, dtype=torch.float64)
    return fl.FederatedDataset.from_clients([(x, G * x), (x, -G * x)], (x, x))


def gaps(
    algorithm: fl.Algorithm, G: float, local_steps: int, lr: float, rounds: int = ROUNDS
) -> list[float]:
    """(f(x) − f*)/(f(x_0) − f*) after rounds 0, 1, …, ``SHOWN`` of them and on until ``GAP`` is
    reached.

    A run that exceeds ``LOST`` ends, and keeps that gap.
    """
    settings: dict[str, Any] = {
        "rounds": rounds,
        "local_steps": local_steps,
        "lr": lr,
        "eval_every": rounds,
        "clients_per_round": 2,
        "batch_size": None,
        "loss": objective,
        "progress": False,
    }
    simulation = fl.Simulation(federation(G), linear(start=START), algorithm, **settings)
    gaps_by_round = [1.0]
    for _ in simulation:
        gaps_by_round.append((float(parameters(simulation)[0]) / START) ** 2)
        if gaps_by_round[-1] > LOST:
            gaps_by_round += [LOST] * (SHOWN + 1 - len(gaps_by_round))
        if len(gaps_by_round) > SHOWN and (gaps_by_round[-1] >= LOST or min(gaps_by_round) <= GAP):
            break
    return gaps_by_round


def run(seed: int, *, algorithm: str, G: float, local_steps: int) -> list[ResultRow]:
    """The best of all rates, by each measure, and the curve of the least gap after 100 rounds.
    There is no chance.
    """
    paths = {}
    rounds = {}
    most = ROUNDS
    for lr in RATES:
        paths[lr] = gaps(ALGORITHMS[algorithm], G, local_steps, lr, most)
        rounds[lr] = next((t for t, gap in enumerate(paths[lr]) if gap <= GAP), ROUNDS + 1)
        most = max(SHOWN, min(most, rounds[lr]))  # a rate that takes longer is not the best
    ends = {lr: math.log10(max(path[SHOWN], LEAST)) for lr, path in paths.items()}
    fastest = min(RATES, key=lambda lr: rounds[lr])
    least = min(RATES, key=lambda lr: ends[lr])
    row = {
        "rounds_to_gap": rounds[fastest],
        "lr_rounds": fastest,
        "log10_gap": ends[least],
        "lr_gap": least,
    }
    shown = range(0, SHOWN + 1, 2)
    points = [
        {"table": "curves", "lr": least, "round": t, "gap": max(paths[least][t], LEAST)}
        for t in shown
    ]
    return [row, *points]


_STEPS = [(name, steps) for name in ALGORITHMS for steps in ((1,) if name == "sgd" else (2, 10))]
_CASES = [
    {"algorithm": name, "G": G, "local_steps": steps}
    for G in (1, 10, 100)
    for name, steps in _STEPS
]
SCAFFOLD_FIGURE_3 = Experiment("scaffold_figure_3", run, _CASES)
