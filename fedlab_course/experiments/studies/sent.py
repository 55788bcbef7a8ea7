"""Chapters 12 and 13, on the digits: what do compressed uploads cost, and which labels does a
server read off them?

"compressed": FedAvg with compressed uploads, by rounds and by bytes. ``megabytes_to_80`` counts
both directions up to the first round with a test accuracy of 0.8, ``up_to_80`` those sent up; a run
that never gets there has what one more round would have cost.

"leaked_labels": moves from w_0: the probe of FedSSO and FedMas (one epoch at 0.01), one epoch and
five at FedAvg's rate of 0.05; and one and five epochs from the model after 30 rounds of FedAvg. The
probe again as clients may hide it: clipped to the median norm C of all probes, with noise of σ C in
every entry. OPTICS on the same moves, against the clients' label sets; ``sums_rand``: on the ten
sums alone from which the labels are read.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.algorithms import Compressed
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal, label_sets
from fedlab_course.methods import leaks
from fedlab_course.methods.forgetful import Forgetful
from fedlab_course.theory import cluster_quality

KEPT = (0.1, 0.01)
TARGET = 0.8
MEGABYTE = 1e6
MOVES: dict[str, dict[str, Any]] = {
    "probe": {"amount": 1, "lr": 0.01},
    "one epoch": {"amount": 1, "lr": 0.05},
    "five epochs": {"amount": 5, "lr": 0.05},
    "one epoch, late": {"amount": 1, "lr": 0.05},
    "five epochs, late": {"amount": 5, "lr": 0.05},
}
NOISES = (0.0, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03, 0.1, 0.3)
LATE = DIGITS | {"rounds": 30, "eval_every": 30}


def methods(epochs: int) -> dict[str, fl.Algorithm]:
    """By name; only E = 5 has other ways to compress than the
    largest entries with error feedback.
    """
    inner = fl.FedAvg()
    algorithms: dict[str, fl.Algorithm] = {"FedAvg": inner}
    algorithms |= {f"keep {keep:g}": Compressed(inner, keep=keep) for keep in KEPT}
    if epochs == 5:
        algorithms |= {f"keep {keep:g}, forgetful": Forgetful(inner, keep=keep) for keep in KEPT}
        algorithms |= {f"{bits} bits": Compressed(inner, bits=bits) for bits in (8, 4)}
        algorithms["FedProx"] = fl.FedProx(0.1)
        algorithms["FedProx, keep 0.1"] = Compressed(fl.FedProx(0.1), keep=0.1)
        algorithms["keep 0.1, 8 bits"] = Compressed(inner, keep=0.1, bits=8)
    return algorithms


def compressed(seed: int, *, split: str, epochs: int) -> list[ResultRow]:
    """One row for each method, and its curve."""
    fed = deal(split, seed)
    rows = list[ResultRow]()
    model = fl.models.mlp(fed, seed=seed)
    work = DIGITS | {"local_epochs": epochs}
    for name, algorithm in methods(epochs).items():
        frame = fl.simulate(fed, model, algorithm, **work, seed=seed, progress=False).frame
        about = {"method": name}
        rows.append(
            about | {"end_accuracy": float(frame.test_accuracy.tail(5).mean())} | to_target(frame)
        )
        for row in frame.itertuples():
            spent = {
                "megabytes": (row.bytes_up + row.bytes_down) / MEGABYTE,
                "up": row.bytes_up / MEGABYTE,
            }
            rows.append(
                about
                | {"table": "curves", "round": row.round, "test_accuracy": row.test_accuracy}
                | spent
            )
    return rows


def to_target(frame: pd.DataFrame) -> ResultRow:
    """What a run, by its ``frame``, has spent when it first reaches the target: rounds and
    megabytes.
    """
    reached = frame[frame.test_accuracy >= TARGET]
    last = frame.iloc[-1]
    rounds = int(reached["round"].iloc[0]) if len(reached) else int(last["round"]) + 1
    share = rounds / last["round"] / MEGABYTE  # every round costs the same
    both = last.bytes_up + last.bytes_down
    return {
        "rounds_to_80": rounds,
        "megabytes_to_80": float(both * share),
        "up_to_80": float(last.bytes_up * share),
    }


def labels(seed: int, *, split: str) -> list[ResultRow]:
    """One row for each move, noise and rule."""
    fed = deal(split, seed)
    mixes = leaks.label_mixes(fed)
    every = np.bincount(fed.y.numpy(), minlength=fed.num_classes or 0) / len(fed.y)
    model = fl.models.mlp(fed, seed=seed)
    late = fl.simulate(fed, model, fl.FedAvg(), **LATE, seed=seed, progress=False).params
    with torch.no_grad():
        outputs = model(fed.test.x).softmax(1).mean(0).double().numpy()
    rows = []
    for kind, work in MOVES.items():
        moves, steps = leaks.moves(
            fed, model, late if kind.endswith("late") else None, seed=seed, **work
        )
        told = leaks.mixes_from(leaks.scores(moves, model), outputs, work["lr"], steps)
        emd, left = (float(np.abs(estimate - mixes).sum(1).mean()) for estimate in (every, told))
        distances = {"emd": emd, "emd_told": left, "closer": emd - left}
        for noise, sent in _sent(moves, seed) if kind == "probe" else [("", moves)]:
            agrees = agreement(sent, fed, split) if kind == "probe" else math.nan
            for rule in ("bias", "row"):
                sums = leaks.scores(sent, model, rule)
                alone = (
                    agreement(torch.from_numpy(sums), fed, split) if kind == "probe" else math.nan
                )
                about = {"move": kind, "noise": noise, "rule": rule} | leaks.named(
                    sums, mixes
                )._asdict()
                rows.append(about | distances | {"adjusted_rand": agrees, "sums_rand": alone})
    return rows


def _sent(moves: torch.Tensor, seed: int) -> Iterator[tuple[Any, torch.Tensor]]:
    """The moves as they are, under no noise level, and clipped with each of them."""
    yield "", moves
    clip = float(torch.linalg.vector_norm(moves, dim=1).median())
    for noise in NOISES:
        yield noise, hidden(moves, clip, noise, fl.randomness.stream(seed, "privacy"))


def hidden(
    moves: torch.Tensor, clip: float, noise: float, rng: np.random.Generator
) -> torch.Tensor:
    """``moves`` [N, P] as clients may send them: each clipped to the norm C = ``clip``, with N(0,
    (σ C)² I) on top.

    ``noise`` is σ. Every client adds its own, so that the server sees no move without noise.
    """
    norms = torch.linalg.vector_norm(moves, dim=1, keepdim=True)
    clipped = moves * (clip / norms).clamp(max=1)
    return clipped + noise * clip * torch.from_numpy(rng.standard_normal(moves.shape)).to(moves)


def agreement(moves: torch.Tensor, fed: fl.FederatedDataset, split: str) -> float:
    """The adjusted Rand index of OPTICS' clusters of ``moves`` and the label sets; NaN where there
    are no such sets.
    """
    if not split.endswith(("label", "labels")):
        return math.nan
    return cluster_quality.quality(
        clustering.optics(moves).labels, label_sets(fed, split)
    ).adjusted_rand


_EPOCHS = (("two labels", 5), ("dirichlet", 5), ("dirichlet", 1), ("dirichlet", 20))
_CASES = [{"split": split, "epochs": epochs} for split, epochs in _EPOCHS]
_SPLITS = [{"split": split} for split in ("iid", "dirichlet", "two labels", "one label")]
_NAMES = {"split": "partition"}
COMPRESSED = Experiment("compressed", compressed, _CASES, bands=("test_accuracy",), columns=_NAMES)
LABELS = Experiment("leaked_labels", labels, _SPLITS, columns=_NAMES)
