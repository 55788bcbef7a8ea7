"""FedMas and its ablations against closed forms on quadratics, its ledger, its tiers, its
importance.
"""

import copy
import itertools
import warnings

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FedMas, TFedAvg
from fedlab_core.algorithms.base import Server
from fedlab_core.algorithms.tiers import Dbscan, KMeans
from tests.support import Trace, blobs, path, quadratics, run, scalar_model, simulation

A = np.array([1.0, 3.0, 0.5])
B = np.array([2.0, 1.0, -1.0])
LR = 0.05
STEPS = 6
START = 1.5
RAGGED = (3, 17, 8, 30, 1, 12, 25)
TIERS = [0, 0, 0, 1, 1, 2, 2]


def scalar_run(algorithm: fl.Algorithm, rounds: int, seed: int = 0) -> list[float]:
    """Three clients; the global parameter after each round."""
    arguments = {"rounds": rounds, "local_steps": STEPS, "lr": LR, "seed": seed, "start": START}
    return path(quadratics(A, B), algorithm, **arguments).tolist()


class Replay:
    """FedMas with one client per tier, written out: Ω =
    |2wx·x| = 2a|w| for f(x) = wx with x² = a.
    """

    def __init__(
        self,
        strength: float,
        update: str = "replace",
        no_penalty: str = "first_tier",
        step: str = "explicit",
    ):
        self.strength = strength
        self.update = update
        self.no_penalty = no_penalty
        self.step = step
        self.w = START
        self.omega = None
        self.round = 0

    def visit(self, orders) -> list[float]:
        """The parameter after each round of ``orders``, the tiers in the order of their visits."""
        return [self._round(order) for order in orders]

    def _round(self, order) -> float:
        self.round += 1
        for k in order:
            is_free = self.omega is None or (self.no_penalty == "first_round" and self.round == 1)
            pull = 0.0 if is_free else 2 * self.strength * self.omega
            received = self.w
            y = self.w
            for _ in range(STEPS):
                if self.step == "explicit":
                    y = y - LR * (A[k] * (y - B[k]) + pull * (y - received))
                else:
                    y = (y - LR * A[k] * (y - B[k]) + LR * pull * received) / (1 + LR * pull)
            self.w = y
            self._measure(2 * A[k] * abs(y))
        return self.w

    def _measure(self, new: float) -> None:
        if self.omega is None or self.update == "replace":
            self.omega = new
        elif self.update == "accumulate":
            self.omega += new
        else:
            self.omega = 0.9 * self.omega + 0.1 * new


@pytest.mark.parametrize(
    ("update", "no_penalty", "strength"),
    [
        ("replace", "first_tier", 0.3),
        ("replace", "first_round", 0.3),
        ("accumulate", "first_tier", 0.3),
        ("ema", "first_round", 0.3),
        ("ema", "first_tier", 0.0),
    ],
)
def test_every_round_in_closed_form(update: str, no_penalty: str, strength: float) -> None:
    """The gradient of the penalty is 2λΩ(w − w*): no factor ½, absolute values, tiers 0, 1, 2 in
    sequence.
    """
    algorithm = FedMas(strength, tiers=[0, 1, 2], importance_update=update, no_penalty=no_penalty)
    expected = Replay(strength, update, no_penalty).visit([(0, 1, 2)] * 5)
    assert scalar_run(algorithm, rounds=5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("strength", [0.3, 30.0])
def test_every_round_of_the_implicit_step_in_closed_form(strength: float) -> None:
    """λ = 30 is far above the explicit step's bound: 2ηλΩ is about 10."""
    algorithm = FedMas(strength, tiers=[0, 1, 2], penalty_step="implicit")
    expected = Replay(strength, step="implicit").visit([(0, 1, 2)] * 5)
    assert scalar_run(algorithm, rounds=5) == pytest.approx(expected, abs=1e-12)


def test_the_importance_is_examined_once_for_a_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each client: it has P numbers."""
    examined = []
    has_penalty = FedMas._has_penalty

    def counting(self: FedMas, server: Server) -> bool:
        examined.append(server.round)
        return has_penalty(self, server)

    monkeypatch.setattr(FedMas, "_has_penalty", counting)
    scalar_run(FedMas(0.3, tiers=[0, 0, 1]), rounds=3)
    assert examined == [1, 1, 2, 2, 3, 3]


def one_tier_after_another(algorithm: fl.Algorithm, local_steps: int, rounds: int = 1) -> float:
    """Client 0, then client 1, each its own tier; a and b of the second are 3 and 1."""
    arguments = {"rounds": rounds, "local_steps": local_steps, "lr": LR, "start": START}
    return float(path(quadratics(A[:2], B[:2]), algorithm, **arguments)[-1])


def test_both_steps_rest_at_the_minimum_of_loss_and_penalty() -> None:
    """Tier 0 goes to b_0 = 2, where Ω = 2 a_0 b_0 = 4; tier 1
    to (a_1 b_1 + 2λΩ b_0) / (a_1 + 2λΩ).
    """
    pull = 2 * 0.3 * 2 * A[0] * B[0]
    expected = (A[1] * B[1] + pull * B[0]) / (A[1] + pull)
    for step in ("explicit", "implicit"):
        found = one_tier_after_another(
            FedMas(0.3, tiers=[0, 1], penalty_step=step), local_steps=500
        )
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_implicit_step_is_stable_for_every_strength_and_freezes_in_the_limit() -> None:
    """Tier 1 moves from b_0 = 2 by a_1 (b_1 − b_0) / (a_1 + 2λΩ) at most."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for strength in (1e2, 1e6, 1e12):
            algorithm = FedMas(strength, tiers=[0, 1], penalty_step="implicit")
            found = one_tier_after_another(algorithm, local_steps=500)
            pull = 2 * strength * 2 * A[0] * B[0]
            assert found == pytest.approx(B[0] + A[1] * (B[1] - B[0]) / (A[1] + pull), abs=1e-9)
    with pytest.raises(fl.Diverged), pytest.warns(UserWarning, match="penalty_step='implicit'"):
        one_tier_after_another(FedMas(1e2, tiers=[0, 1]), local_steps=500)


@pytest.mark.parametrize("step", ["explicit", "implicit"])
def test_without_strength_either_step_is_tiers_alone_bit_for_bit(step: str) -> None:
    fed = blobs(RAGGED)
    arguments = {"rounds": 3, "clients_per_round": 4, "local_epochs": 2, "batch_size": 5}
    runs = [
        run(fed, fl.models.mlp(fed, (6,)), algorithm, **arguments).history.params
        for algorithm in (TFedAvg(tiers=TIERS), FedMas(0.0, tiers=TIERS, penalty_step=step))
    ]
    assert torch.equal(*runs)


def test_the_importance_of_the_softmax_is_bounded_where_that_of_the_logits_grows() -> None:
    """‖softmax‖² ≤ 1; with logits times ten the gradient of ‖f‖² is a hundred times as large."""
    fed = blobs((12,))
    found = {}
    for output in ("logits", "softmax"):
        algorithm = FedMas(0.1, tiers=[0], output=output)
        sim = run(
            fed, fl.models.softmax_regression(fed, seed=1), algorithm, rounds=1, batch_size=None
        )
        expected = fl.importance.mas(sim.model, fed.client(0)[0], output)
        found[output] = sim.state_dict()["algorithm"]["importance"]
        torch.testing.assert_close(found[output], expected, rtol=0, atol=1e-12)
    assert not torch.allclose(found["logits"], found["softmax"])


def test_shuffled_tiers_follow_some_order_and_not_always_the_same() -> None:
    """Six possible orders a round; from round to round and from seed to seed they change."""
    runs = []
    for seed in range(2):
        replay = Replay(0.3)
        orders = []
        for w in scalar_run(
            FedMas(0.3, tiers=[0, 1, 2], tier_order="shuffled"), rounds=8, seed=seed
        ):
            ends = {order: copy.copy(replay) for order in itertools.permutations(range(3))}
            matching = [
                order for order, end in ends.items() if abs(end.visit([order])[0] - w) < 1e-12
            ]
            assert len(matching) == 1
            orders += matching
            replay = ends[matching[0]]
        assert len(set(orders)) >= 3
        runs.append(orders)
    assert runs[0] != runs[1]


def ledger(algorithm: fl.Algorithm, rounds: int = 2) -> tuple[list[float], list[float], list[int]]:
    """Per round, in numbers of P: what went down, what went up, and the server updates so far."""
    fed = blobs(RAGGED)
    arguments = {"rounds": rounds, "clients_per_round": 4, "local_epochs": 1, "batch_size": 5}
    frame = run(fed, fl.models.softmax_regression(fed), algorithm, **arguments).history.frame
    down, up = (np.diff(frame[name], prepend=0) / (15 * 8) for name in ("bytes_down", "bytes_up"))
    return down.tolist(), up.tolist(), frame.server_updates.tolist()


def test_bytes_per_tier_and_one_server_update_each() -> None:
    """4/7 of tiers of 3, 2 and 2 clients, 1.7 and 1.1: s = 2, 1, 1. Per tier s(w + Ω) down and s·w
    up, then w down and Ω up.
    """
    s = [2, 1, 1]
    later = 2 * sum(s) + 3, sum(s) + 3
    first = FedMas(0.1, tiers=TIERS)
    assert ledger(first) == ([later[0] - s[0], later[0]], [later[1]] * 2, [3, 6])
    spared = FedMas(0.1, tiers=TIERS, no_penalty="first_round")
    assert ledger(spared) == ([sum(s) + 3, later[0]], [later[1]] * 2, [3, 6])


@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("output", ["logits", "softmax"])
def test_bytes_do_not_depend_on_the_step_or_the_output(step: str, output: str) -> None:
    """s = 2, 1, 1 as above: 2s down and s up, and one number each way for Ω; no Ω at first."""
    algorithm = FedMas(0.1, tiers=TIERS, penalty_step=step, output=output)
    assert ledger(algorithm) == ([2 * 4 + 3 - 2, 2 * 4 + 3], [4 + 3] * 2, [3, 6])


def test_without_strength_no_importance_is_computed_or_sent() -> None:
    """4 of 7 clients train, and at least one of a tier."""
    assert ledger(TFedAvg(tiers=TIERS)) == ([4, 4], [4, 4], [3, 6])
    assert ledger(TFedAvg(tiers="one")) == ([4, 4], [4, 4], [1, 2])
    assert ledger(TFedAvg(tiers=list(range(7)))) == ([7, 7], [7, 7], [7, 14])


def test_the_sample_is_a_fraction_of_the_whole_tier() -> None:
    """Half of six clients, even though only four are there; two if there are no more."""
    fed = quadratics(np.ones(6), np.arange(6))
    table = np.array([[True] * 4 + [False] * 2, [True] * 2 + [False] * 4])
    work = {"rounds": 2, "availability": Trace(table), "clients_per_round": 3}
    sim = run(fed, scalar_model(), TFedAvg(tiers=[0] * 6), **work)
    assert (sim.history.frame.bytes_up / 8).tolist() == [3, 3 + 2]


def test_the_probe_costs_a_round_of_all_clients_and_leaves_the_model() -> None:
    down, up, updates = ledger(TFedAvg(tiers=KMeans(num_tiers=1)))
    assert (down, up, updates) == ([14 / 2 + 4, 4], [7 + 4, 4], [1, 2])
    fed = blobs(RAGGED)
    arguments = {"rounds": 2, "clients_per_round": 4, "local_epochs": 1, "batch_size": 5}
    runs = [
        run(fed, fl.models.mlp(fed, (6,)), algorithm, **arguments).history.params
        for algorithm in (TFedAvg(tiers=KMeans(num_tiers=1)), fl.FedAvg())
    ]
    assert torch.equal(*runs)


def test_importance_is_that_of_one_client_of_the_last_tier_at_the_tiers_aggregate() -> None:
    """And not always of the same client: it changes from round to round and from seed to seed."""
    a = np.array([1.0, 3.0, 0.5, 2.0, 5.0])
    runs = []
    for seed in range(2):
        algorithm = FedMas(0.1, tiers=[0, 0, 1, 1, 1])
        sim = simulation(
            quadratics(a, np.ones(5)), scalar_model(), algorithm, rounds=8, lr=0.02, seed=seed
        )
        clients = []
        for _ in sim:
            omega = sim.state_dict()["algorithm"]["importance"].item()
            possible = 2 * a[2:] * abs(float(sim.history.params[0]))
            clients += np.flatnonzero(np.abs(possible - omega) < 1e-12).tolist()
        assert len(clients) == 8 and len(set(clients)) > 1
        runs.append(clients)
    assert runs[0] != runs[1]


def test_an_unstable_strength_is_announced_once_with_the_bound() -> None:
    """After tier 0, w = 2 + (1.5 − 2)(1 − η)^6 and Ω = 2w; the bound on λ is 1/(ηΩ)."""
    omega = 2 * (2 - 0.5 * (1 - LR) ** STEPS)
    bound = 1 / (LR * omega)
    with pytest.warns(UserWarning) as caught:
        scalar_run(FedMas(2 * bound, tiers=[0, 1, 2], no_penalty="first_tier"), rounds=1)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert (
        "lr·2λ·max Ω = 4 " in text
        and f"λ must be less than {bound:.3g}" in text
        and "round 1" in text
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scalar_run(FedMas(0.1 * bound, tiers=[0, 1, 2]), rounds=3)


def probed(b, sizes=None, kind=Dbscan, **parameters) -> fl.Simulation:
    """Clients with a = 1: a full-batch probe from 0 puts client k at 0.01·b_k."""
    algorithm = TFedAvg(tiers=kind(**parameters))
    return run(quadratics(np.ones(len(b)), b, sizes), scalar_model(), algorithm, rounds=1)


def tiers_of(sim: fl.Simulation) -> list[int]:
    return sim.state_dict()["algorithm"]["clusters"].tolist()


def test_dbscan_tiers_and_noise_that_joins_the_nearest() -> None:
    """Two groups, the outer one first; the client at 4 is in
    neither and nearer to the inner one.
    """
    b = [0, 0.1, 0.2, 10, 10.1, 4]
    with pytest.warns(UserWarning, match=r"no cluster at eps=1e-05"):
        assert tiers_of(probed(b, eps=1e-5)) == [0] * 6
    assert tiers_of(probed(b, eps=0.005)) == [1, 1, 1, 0, 0, 1]
    # the outer two are no cluster any more
    assert tiers_of(probed(b, eps=0.005, min_samples=3)) == [0] * 6


@pytest.mark.parametrize(
    "longer", [{"probe_epochs": 100}, {"probe_batch": 1}, {"probe_lr": 0.6}], ids=str
)
def test_a_longer_probe_moves_clients_further_apart(longer) -> None:
    """τ steps at the rate η put client k at (1 − (1 − η)^τ)·b_k: 100 steps at 0.01, or one at 0.6,
    more than 0.6·b_k, and the two groups are more than 2 apart. One step at 0.01 leaves them at
    most 0.101 apart.
    """
    b = [0, 0.1, 10, 10.1]
    sizes = [100] * 4
    assert tiers_of(probed(b, sizes, eps=0.2, probe_batch=100)) == [0] * 4
    assert sorted(tiers_of(probed(b, sizes, eps=0.2, **{"probe_batch": 100, **longer}))) == [
        0,
        0,
        1,
        1,
    ]


def test_the_knee_is_the_default_and_kmeans_an_alternative() -> None:
    b = [0, 0.1, 0.2, 0.3, 10, 10.1, 10.2, 10.3, 500]
    labels = probed(b).state_dict()["algorithm"]["clusters"].tolist()
    assert labels == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    three = probed(b, kind=KMeans, num_tiers=3).state_dict()["algorithm"]["clusters"].tolist()
    groups = [set(three[:4]), set(three[4:8]), set(three[8:])]
    assert all(len(group) == 1 for group in groups) and len(set.union(*groups)) == 3


def test_a_tier_of_which_nobody_is_there_is_left_out() -> None:
    table = np.array([[True, True, False], [False, True, True]])
    arguments = {"rounds": 4, "local_steps": STEPS, "lr": LR, "availability": Trace(table)}
    sim = run(quadratics(A, B), scalar_model(START), FedMas(0.3, tiers=[0, 1, 2]), **arguments)
    expected = Replay(0.3).visit([(0, 1), (1, 2)] * 2)[-1]
    assert float(sim.history.params[0]) == pytest.approx(expected, abs=1e-12)
    assert sim.history.frame.server_updates.tolist() == [2, 4, 6, 8]


def test_only_available_clients_train_and_measure() -> None:
    """Of tier 1 only client 4 is ever there."""
    table = np.array([[True, True, False, False, True]])
    a = np.array([1.0, 3.0, 0.5, 2.0, 5.0])
    for seed in range(4):
        arguments = {
            "rounds": 2,
            "availability": Trace(table),
            "seed": seed,
            "lr": 0.02,
            "clients_per_round": 0.6,
        }
        sim = run(
            quadratics(a, np.ones(5)),
            scalar_model(),
            FedMas(0.1, tiers=[0, 0, 1, 1, 1]),
            **arguments,
        )
        w = float(sim.history.params[0])
        omega = sim.state_dict()["algorithm"]["importance"].item()
        assert omega == pytest.approx(2 * 5.0 * abs(w), abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tiers": [0, 1]}, "2 tiers given for 3"),
        ({"tiers": "kmeans"}, "num_tiers=10: the federation has only 3"),
    ],
)
def test_settings_that_do_not_fit_the_federation(settings, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        scalar_run(FedMas(0.1, **settings), rounds=1)
