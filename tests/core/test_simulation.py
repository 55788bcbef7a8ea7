"""The round loop: what is recorded, what it costs, how it stops, what it refuses."""

import re
import time

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from tests.support import blobs, quadratics, run, scalar_model

ARGUMENTS = {
    "rounds": 6,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 4,
    "lr": 0.1,
    "progress": False,
}
SIZES = (7, 12, 9, 15, 4)


def simulation(fed=None, model=None, algorithm=None, **changes) -> fl.Simulation:
    fed = fed or blobs(SIZES)
    return fl.Simulation(
        fed,
        model or fl.models.softmax_regression(fed),
        algorithm or fl.FedAvg(),
        **{**ARGUMENTS, **changes},
    )


def test_iterator_yields_one_record_per_round_and_can_be_left_and_resumed() -> None:
    whole = simulation().run()
    parts = simulation()
    seen = []
    for record in parts:
        seen.append(record.round)
        if record.round == 2:
            break
    seen.append(next(parts).round)
    seen += [record.round for record in parts]
    assert seen == [1, 2, 3, 4, 5, 6]
    assert torch.equal(parts.history.params, whole.params)
    with pytest.raises(StopIteration):
        next(parts)


def test_frame_has_the_contracted_columns_and_eval_every_keeps_the_last_round() -> None:
    started = time.perf_counter()
    frame = simulation(eval_every=4).run().frame
    elapsed = time.perf_counter() - started
    columns = (
        "round server_updates test_accuracy test_loss train_loss bytes_up bytes_down drift "
        "lr seconds"
    )
    assert list(frame.columns) == columns.split()
    assert frame["round"].tolist() == [4, 6] and frame.server_updates.tolist() == [4, 6]
    assert frame.bytes_up.tolist() == [n * 3 * 15 * 8 for n in (4, 6)]
    assert frame.seconds.is_monotonic_increasing and 0 < frame.seconds.iloc[-1] <= elapsed


def test_test_and_train_metrics_are_exact_means_over_samples() -> None:
    run_ = simulation()
    history = run_.run()
    fed = run_.fed
    with torch.no_grad():
        outputs = history.model(fed.test.x)
        train = history.model(fed.x)
        hits = [
            float((history.model(x).argmax(1) == y).double().mean())
            for x, y in map(fed.client, range(5))
        ]
    assert history.clients.accuracy.tolist() == hits and history.clients.worst_decile == min(hits)
    expected = {
        "client": list(range(5)),
        "samples": [len(part) for part in fed.parts],
        "accuracy": hits,
    }
    assert history.clients.frame.to_dict("list") == expected
    assert history.clients.std == pytest.approx(
        np.std(hits)
    ) and history.clients.mean == pytest.approx(np.mean(hits))
    last = history.frame.iloc[-1]
    assert last.test_accuracy == (outputs.argmax(1) == fed.test.y).double().mean().item()
    assert last.test_loss == pytest.approx(
        nn.functional.cross_entropy(outputs, fed.test.y).item(), abs=1e-12
    )
    assert last.train_loss == pytest.approx(
        nn.functional.cross_entropy(train, fed.y).item(), abs=1e-12
    )


def test_evaluation_switches_dropout_off() -> None:
    fed = blobs(SIZES)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(4, 3)).double()
    history = simulation(fed, model, lr=1e-12, engine="reference").run()
    with torch.no_grad():
        expected = nn.functional.cross_entropy(model.eval()(fed.test.x), fed.test.y).item()
    assert history.frame.test_loss.iloc[-1] == pytest.approx(expected, abs=1e-9)


def test_drift_is_the_mean_distance_of_local_from_global_parameters() -> None:
    history = run(
        quadratics((1, 3), (0, 1)), scalar_model(2.0), fl.FedAvg(), rounds=1, local_steps=5
    ).history
    ends = [(1 - 0.1 * a) ** 5 * (2.0 - b) + b for a, b in ((1, 0), (3, 1))]
    assert history.frame.drift[0] == pytest.approx(np.mean([2.0 - end for end in ends]), abs=1e-12)


def test_divergence_is_named_and_keeps_the_history() -> None:
    with pytest.raises(
        fl.Diverged, match=r"FedProx\(mu=0.5\) diverged in round \d+: .* lr=1000"
    ) as caught:
        run(quadratics((1, 3), (0, 1)), scalar_model(1.0), fl.FedProx(0.5), rounds=200, lr=1000.0)
    error = caught.value
    assert error.client in (0, 1, None) and error.lr == 1000.0
    assert error.history.frame["round"].tolist() == list(range(1, error.round))
    assert np.isfinite(error.history.frame.train_loss).all()


def test_several_cohorts_in_a_round_are_several_server_updates() -> None:
    class Twice(fl.Algorithm):
        def cohorts(self, server):
            yield np.array([0, 1])
            yield np.array([2])

    frame = simulation(algorithm=Twice()).run().frame
    assert frame.server_updates.tolist() == [2, 4, 6, 8, 10, 12]
    assert frame.bytes_up.iloc[0] == 3 * 15 * 8


def test_progress_is_one_line_when_headless_and_nothing_when_off(capsys, monkeypatch) -> None:
    monkeypatch.setenv("FEDLAB_HEADLESS", "1")
    simulation(progress=True).run()
    out = capsys.readouterr()
    assert out.out.startswith("FedAvg(): 6/6 rounds, test accuracy 0.") and out.out.count("\n") == 1
    simulation(progress=False).run()
    out = capsys.readouterr()
    assert out.out == "" and out.err == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clients_per_round": 6}, "clients_per_round=6.*1 to 5"),
        ({"lr": 10**400}, "lr=1000"),
        ({"rounds": 10**12}, "rounds=1000000000000: must be an integer from 1 to 1000000"),
        (
            {"lr": 1e300, "fed": blobs(SIZES, dtype=torch.float32)},
            r"lr=1e\+300: must be at most 3.4",
        ),
        ({"loss": "squared_error"}, "float targets"),
        ({"device": "meta"}, "device='meta'"),
        ({"algorithm": "scaffold"}, "must be an instance of an algorithm, such as fl.FedProx"),
        ({"algorithm": fl.FedAvg}, "instance"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        next(simulation(**change))


def test_a_misspelled_hook_is_refused_with_the_right_name() -> None:
    with pytest.raises(
        TypeError, match=r"Mine.corection: is not a hook of Algorithm. Did you mean 'correction'\?"
    ):
        type("Mine", (fl.FedAvg,), {"corection": lambda self, server, client: fl.Correction()})
    type(
        "Fine",
        (fl.FedAvg,),
        {"_correct": None, "strength": 1.0, "correction": fl.FedAvg.correction},
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epochs": 3}, "epochs=3: is not a setting. Did you mean 'local_epochs'?"),
        ({"rounds": None}, "rounds=None"),
    ],
)
def test_an_unknown_setting_gets_the_nearest_name(change, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        simulation(**change)
    with pytest.raises(TypeError, match="rounds: is missing; give rounds="):
        fl.Simulation(blobs(SIZES), scalar_model(), fl.FedAvg(), lr=0.1)


def test_fednova_refuses_a_schedule_that_leads_to_it_before_any_work() -> None:
    """lr·mu = 0.05, 0.05, 2.5: in the third round local steps would diverge."""
    arguments = {"local_epochs": None, "local_steps": 400, "lr": lambda t: 0.1 if t < 2 else 5.0}
    with pytest.raises(ValueError, match=r"lr·mu must be < 2, .* 2\.5"):
        simulation(algorithm=fl.FedNova(mu=0.5), **arguments)


class Clipped(nn.Linear):
    """Keeps its weights in [−2, 2] by writing to them; at first they are smaller."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight.data.clamp_(-2, 2)
        return super().forward(x)


NORM = nn.InstanceNorm1d(1, track_running_stats=True)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)), "BatchNorm1d"),
        (nn.Linear(5, 3), r"samples of shape \[4\]"),
        (nn.Linear(4, 2), "3 logits"),
        (nn.Identity(), "no parameters"),
        (nn.Linear(4, 3).float(), "float32 but the data are torch.float64"),
        (
            nn.Linear(4, 3).bfloat16(),
            r"parameters are torch.bfloat16.*use torch.float32 or torch.float64",
        ),
        (
            Clipped(4, 3),
            r"a forward pass changes its parameters weight, so clients would train other weights",
        ),
        (
            nn.Sequential(nn.Unflatten(1, (1, 4)), NORM, nn.Flatten(), nn.Linear(4, 3)),
            "changes its buffers 1.r",
        ),
        (nn.Linear(4, 3, device="meta"), "on device meta"),
        ("mlp", "torch.nn.Module"),
        (nn.Linear(4, 3).requires_grad_(False), "frozen"),
    ],
)
def test_models_that_cannot_work_are_refused(model, words: str) -> None:
    if isinstance(model, nn.Module) and "float32" not in words:
        model = model.double()
    with pytest.raises(ValueError, match=words):
        simulation(model=model)


def test_fraction_is_rounded_and_never_empty() -> None:
    work = {"rounds": 1, "local_steps": 1, "batch_size": None, "lr": 0.1}
    sizes = [
        fl.Settings(clients_per_round=f, **work).cohort_size(100) for f in (0.2, 1.0, 0.001, 1, 100)
    ]
    assert sizes == [20, 100, 1, 1, 100]


class Pairs(fl.FedAvg):
    """Two cohorts in each round, and an error in round 3."""

    def cohorts(self, server):
        yield np.array([server.round, 0])
        if server.round == 3:
            raise ValueError("no second cohort")
        yield np.array([4])


def test_the_cohorts_of_the_latest_round_are_known_and_a_failed_round_has_none() -> None:
    running = simulation(algorithm=Pairs(), clients_per_round=2)
    assert running.cohorts == []
    for round in (1, 2):
        next(running)
        assert [cohort.tolist() for cohort in running.cohorts] == [[round, 0], [4]]
    with pytest.raises(ValueError, match="no second cohort"):
        next(running)
    assert [cohort.tolist() for cohort in running.cohorts] == [[2, 0], [4]]
    resumed = simulation(algorithm=Pairs(), clients_per_round=2)
    resumed.load_state_dict(running.state_dict())
    assert resumed.cohorts == []


def test_without_the_training_loss_divergence_is_seen_in_the_test_loss() -> None:
    assert simulation(train_loss=False).run().frame.train_loss.isna().all()
    with pytest.raises(fl.Diverged):
        simulation(train_loss=False, lr=1e200).run()
