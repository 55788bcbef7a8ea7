"""Chapter 14: FedAvg with compressed uploads on the digits, by rounds and by bytes.

``megabytes_to_80`` counts both directions up to the first round with a test accuracy of 0.8, ``up_to_80`` those sent
up; a run that never gets there has what one more round would have cost.
"""

import pandas as pd

import fedlab_core as fl
from fedlab_core.algorithms import Compressed
from fedlab_course.chapters.ch14_what_is_sent.compression import Forgetful
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal

KEPT = (0.1, 0.01)
TARGET, MEGABYTE = 0.8, 1e6
CASES = (
    {"split": "two labels", "epochs": 5},
    {"split": "dirichlet", "epochs": 5},
    {"split": "dirichlet", "epochs": 1},
    {"split": "dirichlet", "epochs": 20},
)


def methods(epochs: int) -> dict[str, fl.Algorithm]:
    """By name; only E = 5 has other ways to compress than the largest entries with error feedback."""
    inner = fl.FedAvg()
    found: dict[str, fl.Algorithm] = {"FedAvg": inner}
    found |= {f"keep {keep:g}": Compressed(inner, keep=keep) for keep in KEPT}
    if epochs == 5:
        found |= {f"keep {keep:g}, forgetful": Forgetful(inner, keep=keep) for keep in KEPT}
        found |= {f"{bits} bits": Compressed(inner, bits=bits) for bits in (8, 4)}
        found["keep 0.1, 8 bits"] = Compressed(inner, keep=0.1, bits=8)
    return found


def run(seed: int, *, split: str, epochs: int) -> list[Row]:
    """One row for each method, and its curve."""
    fed, rows = deal(split, seed), list[Row]()
    model, work = fl.models.mlp(fed, seed=seed), DIGITS | {"local_epochs": epochs}
    for name, algorithm in methods(epochs).items():
        frame = fl.simulate(fed, model, algorithm, **work, seed=seed, progress=False).frame
        about = {"method": name}
        rows.append(about | {"end_accuracy": float(frame.test_accuracy.tail(5).mean())} | to_target(frame))
        for one in frame.itertuples():
            spent = {"megabytes": (one.bytes_up + one.bytes_down) / MEGABYTE, "up": one.bytes_up / MEGABYTE}
            rows.append(about | {"table": "curves", "round": one.round, "test_accuracy": one.test_accuracy} | spent)
    return rows


def to_target(frame: pd.DataFrame) -> Row:
    """What a run, by its ``frame``, has spent when it first reaches the target: rounds and megabytes."""
    reached = frame[frame.test_accuracy >= TARGET]
    last = frame.iloc[-1]
    rounds = int(reached["round"].iloc[0]) if len(reached) else int(last["round"]) + 1
    share = rounds / last["round"] / MEGABYTE  # every round costs the same
    both = last.bytes_up + last.bytes_down
    return {"rounds_to_80": rounds, "megabytes_to_80": float(both * share), "up_to_80": float(last.bytes_up * share)}


COMPRESSED = Experiment("c14_compressed", run, CASES, bands=("test_accuracy",), columns={"split": "partition"})
