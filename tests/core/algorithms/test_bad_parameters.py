"""Bad hyper-parameters of every algorithm: refused with a message that names the parameter and its
value.
"""

import math

import pytest

import fedlab_core as fl
from fedlab_core import algorithms as al
from fedlab_core.algorithms.tiers import Dbscan, KMeans

INF = math.inf
NAN = math.nan
AVG = fl.FedAvg()
INNER = {"inner": AVG}
PRIVATE = {**INNER, "clip": 1.0, "noise": 1.0}
BAD = [
    (fl.FedProx, {}, {"mu": [-1.0, NAN, INF, True, "1"]}),
    (fl.FedNova, {}, {"mu": [-1.0]}),
    (fl.Scaffold, {}, {"option": [3, True], "control_update": ["papr"], "server_lr": [0]}),
    (fl.FedCurv, {}, {"strength": [-1]}),
    (al.FedAvgM, {}, {"beta": [1.0, -0.1], "server_lr": [0.0, INF]}),
    (
        al.FedAdam,
        {"server_lr": 0.1},
        {"server_lr": [0], "beta1": [1.0], "beta2": [1.0], "tau": [0.0, -1]},
    ),
    (
        al.FedYogi,
        {"server_lr": 0.1},
        {"server_lr": [0], "beta1": [-0.1], "beta2": [-0.1], "tau": [0.0]},
    ),
    (al.FedDyn, {}, {"mu": [0.0, -1.0]}),
    (al.MimeLite, {}, {"beta": [1.0, -0.1, "0.9"]}),
    (al.QFedAvg, {}, {"q": [-0.1, NAN, None]}),
    (al.PowerOfChoice, {}, {"candidates": [0, 2.5, True]}),
    (al.IFCA, {}, {"num_models": [0]}),
    (al.Ditto, {}, {"strength": [-1]}),
    (al.FedPer, {}, {"local": ["3", 3, (3,), None]}),
    (al.FineTune, {}, {"epochs": [0, -1, 1.5]}),
    (
        fl.FedSSO,
        {},
        {"min_samples": [1], "xi": [0.0, 1.0], "probe": ["epochs"], "sampling": ["uniform"]},
    ),
    (fl.FedSSO, {}, {"noise": ["keeep"], "eps": [0.0], "weights": ["none"], "probe_lr": [0.0]}),
    (fl.FedSSO, {}, {"probe_batch": [0], "projection": [0]}),
    (
        fl.FedMas,
        {"strength": 1.0},
        {"strength": [-1.0], "importance_update": ["ewma"], "no_penalty": ["never"]},
    ),
    (
        fl.FedMas,
        {"strength": 1.0},
        {"tiers": ["dbscam", [0, -1], [0.5, 1]], "tier_order": ["random"]},
    ),
    (KMeans, {}, {"num_tiers": [0], "probe_epochs": [0], "projection": [0]}),
    (Dbscan, {}, {"min_samples": [1], "eps": [0], "probe_lr": [0], "probe_batch": [0]}),
    (al.Compressed, INNER, {"keep": [None, 0.0, 1.1], "bits": [2, 17, 4.0]}),
    (al.Compressed, {"keep": 0.1}, {"inner": ["fedavg", fl.FedAvg, al.Compressed(AVG, keep=0.1)]}),
    (al.Private, PRIVATE, {"clip": [0.0, -INF, NAN], "noise": [-1.0, INF], "inner": ["fedavg"]}),
    (al.Private, PRIVATE | {"clip": INF}, {"noise": [1.0]}),
]
CASES = [
    (kind, good, name, value)
    for kind, good, bad in BAD
    for name, values in bad.items()
    for value in values
]


@pytest.mark.parametrize(
    ("kind", "good", "name", "value"), CASES, ids=[f"{c[0].__name__}-{c[2:]}" for c in CASES]
)
def test_a_bad_value_is_named(kind, good, name: str, value) -> None:
    with pytest.raises(ValueError, match=f"{name}[=:]"):
        kind(**{**good, name: value})
