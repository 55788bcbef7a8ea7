"""The round loop: what is recorded, what it costs, how it stops, what it refuses."""

import math
import os
import re

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from tests.support import blobs, flat, quadratics, run, scalar_model

ARGUMENTS = {"rounds": 6, "clients_per_round": 3, "local_epochs": 2, "batch_size": 4, "lr": 0.1, "progress": False}
SIZES = (7, 12, 9, 15, 4)


def simulation(fed=None, model=None, algorithm=None, **changes) -> fl.Simulation:
    fed = fed or blobs(SIZES)
    return fl.Simulation(
        fed, model or fl.models.softmax_regression(fed), algorithm or fl.FedAvg(), **{**ARGUMENTS, **changes}
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
    frame = simulation(eval_every=4).run().frame
    columns = "round server_updates test_accuracy test_loss train_loss bytes_up bytes_down drift lr seconds"
    assert list(frame.columns) == columns.split()
    assert frame["round"].tolist() == [4, 6] and frame.server_updates.tolist() == [4, 6]
    assert frame.bytes_up.tolist() == [n * 3 * 15 * 8 for n in (4, 6)]
    assert frame.seconds.is_monotonic_increasing


def test_bytes_of_fednova_are_one_number_more() -> None:
    frame = simulation(algorithm=fl.FedNova()).run().frame
    assert frame.bytes_up.iloc[-1] == 6 * 3 * 16 * 8 and frame.bytes_down.iloc[-1] == 6 * 3 * 15 * 8


def test_test_and_train_metrics_are_exact_means_over_samples() -> None:
    run_ = simulation()
    history = run_.run()
    with torch.no_grad():
        fed = run_.fed
        outputs, train = history.model(fed.test.x), history.model(fed.x)
    last = history.frame.iloc[-1]
    assert last.test_accuracy == (outputs.argmax(1) == fed.test.y).double().mean().item()
    assert last.test_loss == pytest.approx(nn.functional.cross_entropy(outputs, fed.test.y).item(), abs=1e-12)
    assert last.train_loss == pytest.approx(nn.functional.cross_entropy(train, fed.y).item(), abs=1e-12)


def test_evaluation_counts_a_short_last_batch_exactly(monkeypatch) -> None:
    expected = simulation().run().frame
    monkeypatch.setattr("fedlab_core.engines.base.EVALUATION_SAMPLES", 7)
    found = simulation().run().frame
    assert (found.test_accuracy == expected.test_accuracy).all()
    np.testing.assert_allclose(found.test_loss, expected.test_loss, atol=1e-12)


def test_evaluation_switches_dropout_off() -> None:
    fed = blobs(SIZES)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(4, 3)).double()
    history = simulation(fed, model, lr=1e-12, engine="reference").run()
    with torch.no_grad():
        expected = nn.functional.cross_entropy(model.eval()(fed.test.x), fed.test.y).item()
    assert history.frame.test_loss.iloc[-1] == pytest.approx(expected, abs=1e-9)


def test_drift_is_the_mean_distance_of_local_from_global_parameters() -> None:
    history = run(quadratics((1, 3), (0, 1)), scalar_model(2.0), fl.FedAvg(), rounds=1, local_steps=5).history
    ends = [(1 - 0.1 * a) ** 5 * (2.0 - b) + b for a, b in ((1, 0), (3, 1))]
    assert history.frame.drift[0] == pytest.approx(np.mean([2.0 - end for end in ends]), abs=1e-12)


def test_client_report_against_counts_by_hand() -> None:
    run_ = simulation()
    report = run_.run().clients
    fed = run_.fed
    with torch.no_grad():
        by_hand = [
            float((run_.model(fed.client(k)[0]).argmax(1) == fed.client(k)[1]).double().mean()) for k in range(5)
        ]
    np.testing.assert_allclose(report.accuracy, by_hand, atol=1e-12)
    assert report.mean == pytest.approx(np.mean(by_hand)) and report.std == pytest.approx(np.std(by_hand))
    assert report.worst_decile == pytest.approx(min(by_hand))
    assert report.frame.columns.tolist() == ["client", "size", "accuracy"]


def test_the_model_that_was_passed_in_is_not_changed() -> None:
    fed = blobs(SIZES)
    model = fl.models.mlp(fed, (5,))
    before = flat(model).clone()
    history = simulation(fed, model).run()
    assert torch.equal(flat(model), before) and not torch.equal(flat(history.model), before)


def test_schedule_reaches_every_algorithm() -> None:
    for algorithm in (fl.FedAvg(), fl.FedProx(0.1), fl.Scaffold(), fl.FedNova()):
        frame = simulation(algorithm=algorithm, lr=fl.InverseTime(0.3)).run().frame
        np.testing.assert_allclose(frame.lr, 0.3 / np.arange(1, 7))


def test_divergence_is_named_and_keeps_the_history() -> None:
    with pytest.raises(fl.Diverged, match=r"FedProx\(mu=0.5\) diverged in round \d+: .* lr=1000") as caught:
        run(quadratics((1, 3), (0, 1)), scalar_model(1.0), fl.FedProx(0.5), rounds=200, lr=1000.0)
    error = caught.value
    assert error.client in (0, 1, None) and error.lr == 1000.0
    assert error.history.frame["round"].tolist() == list(range(1, error.round))
    assert np.isfinite(error.history.frame.train_loss).all()


def test_a_failed_round_leaves_the_state_of_the_round_before() -> None:
    class Failing(fl.Scaffold):
        def aggregate(self, server, updates):
            params = super().aggregate(server, updates)
            if server.round == 3 and not broken:
                broken.append(True)
                raise KeyboardInterrupt
            return params

    broken: list[bool] = []
    interrupted = simulation(algorithm=Failing())
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    assert interrupted.round == 2 and interrupted.history.frame["round"].tolist() == [1, 2]
    interrupted.run()
    whole = simulation(algorithm=fl.Scaffold())
    whole.run()
    left, right = interrupted.state_dict(), whole.state_dict()
    assert torch.equal(left["params"], right["params"])
    assert torch.equal(left["algorithm"]["c_clients"], right["algorithm"]["c_clients"])


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
        ({"lr": -0.1}, "lr=-0.1"),
        ({"lr": 10**400}, "lr=1000"),
        ({"rounds": 10**12}, "rounds=1000000000000: must be an integer from 1 to 1000000"),
        ({"local_epochs": None, "local_steps": 10**12}, "local_steps=1000000000000: must be an integer from 1"),
        (
            {"algorithm": fl.FedProx(10.0**300), "fed": blobs(SIZES, dtype=torch.float32)},
            r"weight=1e\+300: is too large",
        ),
        ({"lr": 1e300, "fed": blobs(SIZES, dtype=torch.float32)}, r"lr=1e\+300: must be at most 3.4"),
        ({"rounds": 0}, "rounds=0"),
        ({"rounds": 2.5}, "rounds=2.5"),
        ({"loss": "squared_error"}, "float targets"),
        ({"device": "meta"}, "device='meta'"),
        ({"algorithm": "fedprx"}, "Did you mean 'fedprox'"),
        ({"algorithm": "scaffold"}, r"fl.Scaffold\("),
        ({"algorithm": fl.FedAvg}, "instance"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        next(simulation(**change))


@pytest.mark.parametrize(
    ("outputs", "dtype", "words"),
    [(3, torch.float32, "3 outputs per sample, but a target has 1"), (1, torch.bfloat16, "the targets are .*bfloat16")],
)
def test_a_regression_that_does_not_fit_is_refused(outputs: int, dtype: torch.dtype, words: str) -> None:
    x, y = torch.rand(4, 2), torch.rand(4).to(dtype)
    fed = fl.FederatedDataset.from_clients([(x, y)], test=(x, y))
    with pytest.raises(ValueError, match=words):
        simulation(fed, nn.Linear(2, outputs), clients_per_round=1, loss="squared_error")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
def test_a_checkpoint_that_cannot_be_written_is_refused_before_any_work() -> None:
    with pytest.raises(OSError, match=r"/proc/x.npz cannot be written"):
        simulation(checkpoint="/proc/x.npz")


def test_a_misspelled_hook_is_refused_with_the_right_name() -> None:
    with pytest.raises(TypeError, match=r"Mine.corection: is not a hook of Algorithm. Did you mean 'correction'\?"):
        type("Mine", (fl.FedAvg,), {"corection": lambda self, server, client: fl.Correction()})
    type("Fine", (fl.FedAvg,), {"_correct": None, "strength": 1.0, "correction": fl.FedAvg.correction})


@pytest.mark.parametrize(
    ("change", "words"),
    [({"epochs": 3}, "epochs=3: is not a setting. Did you mean 'local_epochs'?"), ({"rounds": None}, "rounds=None")],
)
def test_an_unknown_setting_gets_the_nearest_name(change, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        simulation(**change)
    with pytest.raises(TypeError, match="rounds: is missing; give rounds="):
        fl.Simulation(blobs(SIZES), scalar_model(), fl.FedAvg(), lr=0.1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_cuda_without_a_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match=r"device='cuda'.*use device='cpu'"):
        simulation(device="cuda")


@pytest.mark.parametrize("mu", [-0.1, math.nan, math.inf, "big", None])
def test_bad_mu_is_refused(mu) -> None:
    for algorithm in (fl.FedProx, fl.FedNova):
        with pytest.raises(ValueError, match="mu="):
            algorithm(mu=mu)


def test_fednova_refuses_a_schedule_that_leads_to_it_before_any_work() -> None:
    """lr·mu = 0.05, 0.05, 2.5: in the third round local steps would diverge."""
    arguments = {"local_epochs": None, "local_steps": 400, "lr": lambda t: 0.1 if t < 2 else 5.0}
    with pytest.raises(ValueError, match=r"lr·mu must be < 2, .* 2\.5"):
        simulation(algorithm=fl.FedNova(mu=0.5), **arguments)


class Clipped(nn.Linear):
    """Keeps its weights in [−2, 2] by writing to them, as an example of such modules; at first they are smaller."""

    def __init__(self) -> None:
        super().__init__(4, 3)
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight.data.clamp_(-2, 2)
        return super().forward(x)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)), "BatchNorm1d"),
        (nn.Linear(5, 3), r"samples of shape \[4\]"),
        (nn.Linear(4, 2), "3 logits"),
        (nn.Identity(), "no parameters"),
        (nn.Linear(4, 3).float(), "float32 but the data are torch.float64"),
        (nn.Linear(4, 3).half(), r"parameters are torch.float16.*use torch.float32 or torch.float64"),
        (nn.Linear(4, 3).bfloat16(), r"parameters are torch.bfloat16.*use torch.float32 or torch.float64"),
        (Clipped(), r"a forward pass changes its parameters weight, so clients would train other weights"),
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
    sizes = [fl.Settings(clients_per_round=f, **work).cohort_size(100) for f in (0.2, 1.0, 0.001, 1, 100)]
    assert sizes == [20, 100, 1, 1, 100]


def test_a_model_whose_buffers_training_changes_is_refused() -> None:
    """They are not averaged: a resumed run would differ, and the recorded loss would be that of another model."""
    norm = nn.InstanceNorm1d(1, track_running_stats=True)
    model = nn.Sequential(nn.Unflatten(1, (1, 4)), norm, nn.Flatten(), nn.Linear(4, 3)).double()
    with pytest.raises(ValueError, match=r"training changes its buffers 1.running_mean, 1.running_var"):
        simulation(model=model)


def test_the_check_of_the_model_leaves_the_data_as_they_are() -> None:
    fed = blobs(SIZES)
    before = fed.x.clone()
    model = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 3)).double()
    simulation(fed=fed, model=model).run()
    assert torch.equal(fed.x, before)


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


def test_the_training_loss_can_be_switched_off() -> None:
    measured, not_measured = simulation().run(), simulation(train_loss=False).run()
    assert not_measured.frame.train_loss.isna().all() and not measured.frame.train_loss.isna().any()
    assert torch.equal(measured.params, not_measured.params)
    assert (measured.frame.test_loss == not_measured.frame.test_loss).all()
    assert not_measured.config["train_loss"] is False and "train_loss" not in measured.config


def test_without_the_training_loss_divergence_is_seen_in_the_test_loss() -> None:
    with pytest.raises(fl.Diverged):
        simulation(train_loss=False, lr=1e200).run()
