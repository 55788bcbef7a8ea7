"""Chapter 5: what is left of a tier's label while the next tiers train, how long a lead lasts, and
the patient.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas import chosen, lasting, maps
from fedlab_course.chapters.ch05_fedmas.exercises import MyTiers, hold, importance
from fedlab_course.evidence import best_rates, tables
from fedlab_course.experiments.studies import tiers_memory
from fedlab_course.methods import continual, forgotten
from tests.course.check.from_notebook import defined


def test_what_is_kept_of_a_label_ends_when_it_is_trained_again() -> None:
    labels = [0, 1, 2, 3, 4, 5, 0, 1, 2]  # of each update
    knows = np.arange(9 * 6).reshape(9, 6) / 100
    run = forgotten.Followed(0.5, knows, np.eye(6, dtype=bool)[labels], torch.zeros(9, 1))
    shares = [knows[turn : turn + 6, labels[turn]] for turn in range(4)]  # later ones have no five
    np.testing.assert_allclose(forgotten.kept(run), np.mean(shares, axis=0))
    labels = [0, 1, 2, 0, 4, 5, 3, 1, 2]
    again = run._replace(trained=np.eye(6, dtype=bool)[labels])
    shares = [knows[turn : turn + 6, labels[turn]] for turn in (1, 2, 3)]
    np.testing.assert_allclose(forgotten.kept(again), np.mean(shares, axis=0))
    again.trained[1, 5] = True  # an update with two labels; 5 is trained again after four updates
    np.testing.assert_allclose(forgotten.kept(again), np.mean(shares, axis=0))
    again.trained[1, 3] = True  # 3 is trained again only after five
    again.trained[6, 3] = False
    again.trained[3, 0] = False  # so 0 is trained once
    shares = [knows[0:6, 0], knows[1:7, 1], knows[1:7, 3], knows[2:8, 2]]
    np.testing.assert_allclose(forgotten.kept(again), np.mean(shares, axis=0))
    always = np.zeros((9, 6), dtype=bool)
    always[:, 0] = True
    assert np.isnan(forgotten.kept(run._replace(trained=always))).all()


def test_a_map_has_a_tile_for_each_label_and_update_and_a_dot_where_one_trains() -> None:
    knows = np.arange(12).reshape(6, 2) / 12
    trained = np.array([[True, False], [False, True]] * 3)
    run = forgotten.Followed(0.5, knows, trained, torch.zeros(6, 1))
    other = run._replace(knows=1 - knows)
    figure = maps.known({"one": run, "two": other}, title="A map", per_round=2)
    first, dots, second, _ = figure.data
    np.testing.assert_array_equal(first.z, knows.T)
    np.testing.assert_array_equal(second.z, 1 - knows.T)
    assert list(first.x) == list(dots.x) == [1, 2, 3, 4, 5, 6] and list(dots.y) == [0, 1] * 3
    assert {first.yaxis, second.yaxis} == {"y", "y2"}
    ends = {shape.x0 for shape in figure.layout.shapes}
    assert ends == {2.5, 4.5}  # after updates 2 and 4; the run ends after the sixth
    assert figure.layout.meta["table"]["rows"] == [["one", "83%", "92%"], ["two", "17%", "8%"]]
    with pytest.raises(ValueError, match="at least one run"):
        maps.known({}, title="A map", per_round=2)


def test_live_runs_have_the_best_settings_for_updates() -> None:
    runs = best_rates.judged_runs("one_label", "TFedAvg", "updates")
    assert {(0.0, lr) for lr in runs["lr"]} == {chosen.CHOSEN["TFedAvg"]}
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["accuracy"].mean()
    for key in (
        "FedMas",
        "plain penalty",
        "Ω added up, shuffled",
        "Ω added up, even in each tensor",
        chosen.ADDED_UP,
    ):
        assert pairs[key].idxmax() == chosen.CHOSEN[key]
    assert round(100 * best_rates.judged("one_label", "FedMas implicit", "updates").mean()) == 56
    stored = best_rates.judged_runs("one_label", "TFedAvg", "updates")["server_updates"] / 50
    assert round(stored.mean()) == 13
    own = {
        "FedAvg, one step": "one_step",
        "tiers side by side": "few_sides",
        "tiers side by side, twice": "few_sides_bytes",
    }
    for key, table in own.items():
        assert {(0.0, lr) for lr in tables.read(table)["lr"]} == {chosen.CHOSEN[key]}
    assert round((50 // stored * stored).mean()) == 45


def test_the_lead_of_fedmas_does_not_last() -> None:
    curves = tables.read("tiers_memory_curves").set_index(["method", "round"])
    accuracy = (100 * curves["test_accuracy_mean"]).unstack("method")
    names = ["TFedAvg", "FedMas added up", "FedMas added up, ten rounds"]
    found = accuracy.loc[[10, 11, 50], names].round().to_numpy().tolist()
    assert found == [[72, 82, 82], [75, 82, 20], [96, 88, 94]]


def test_the_figures_of_the_long_run_have_the_stored_numbers() -> None:
    rows = lasting.left().layout.meta["table"]["rows"]
    assert [(*row[:3], row[4], row[-1]) for row in rows] == [
        ("TFedAvg", "round 11", "99%", "81%", "67%"),
        ("Ω added up", "round 11", "86%", "84%", "82%"),
        ("Ω for ten rounds", "round 11", "100%", "13%", "5%"),
        ("TFedAvg", "rounds 46 to 50", "99%", "97%", "95%"),
        ("Ω added up", "rounds 46 to 50", "88%", "88%", "88%"),
    ]
    bands = [trace for trace in lasting.left().data if trace.fill]
    assert len(bands) == len(rows) and {trace.mode for trace in bands} == {"lines"}
    names = [trace.name for trace in lasting.left().data if trace.showlegend]
    assert names == ["TFedAvg", "Ω added up", "Ω for ten rounds"]
    rows = lasting.fifty_rounds().layout.meta["table"]["rows"]
    assert {row[0]: row[-1] for row in rows} == {
        "TFedAvg": "96%",
        "Ω for ten rounds": "94%",
        "Ω added up": "88%",
    }
    assert 3.5 < lasting._fifty_updates() < 4.2


def test_a_followed_run_is_that_of_the_table_of_best_rates() -> None:
    """The last curve of TFedAvg at its best rate for updates, as the sweep has it."""
    curves = tables.read("tiers_memory_curves").set_index(["method", "round"])
    followed = curves.loc["TFedAvg"]["test_accuracy_mean"].loc[46:].mean()
    runs = best_rates.judged_runs("one_label", "TFedAvg", "updates")
    assert followed == pytest.approx(runs["end_accuracy"].mean(), abs=0.002)


def test_a_part_of_a_run_has_its_updates() -> None:
    trained = np.arange(6)
    run = forgotten.Followed(0.5, np.eye(6), trained, torch.arange(6)[:, None])
    part = run.part(slice(2, 4))
    assert part.trained.tolist() == part.way.flatten().tolist() == [2, 3]
    assert part.knows.shape == (2, 6)


def test_an_experiment_looks_into_the_first_and_the_last_rounds() -> None:
    rows = tiers_memory.run(200, method="TFedAvg", rounds=6)  # four are within fifty updates
    windows = {row["window"]: row for row in rows if "window" in row}
    assert list(windows) == ["first", "last"]
    assert windows["first"]["after_0"] > 0.9 > windows["first"]["after_5"]
    outputs = [row["outputs"] for row in rows if "table" in row]
    assert len(outputs) == 6 and outputs[-1] > outputs[0]


def test_the_patient_is_held_to_the_model_with_which_the_round_began() -> None:
    """Clients with the loss (w − k)²/2 and one full step: Ω of the model w x at x = 1 is 2 |w|."""
    ones = torch.ones(1, 1)
    targets = (1, 2, 3)
    clients = [(ones, torch.full((1, 1), float(target))) for target in targets]
    fed = fl.FederatedDataset.from_clients(clients, test=(ones, ones))
    work = {"rounds": 2, "clients_per_round": 1, "local_steps": 1, "batch_size": 1, "lr": 0.25}
    work |= {"loss": "squared_error", "seed": 0, "progress": False}
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    given = {"fl": fl, "np": np, "torch": torch, "MyTiers": MyTiers, "continual": continual}
    given |= {"start": model, "importance": importance, "hold": hold}
    given |= {"exercises": SimpleNamespace(or_solution=lambda key, mine: mine)}
    healthy = defined("05_fedmas.ipynb", "my-fedmas", names=given)
    shown = ("rules", "(ill", "display", "questions")
    patient = defined("05_fedmas.ipynb", "patient", names=healthy, without=shown)["Patient"]
    rate, strength = work["lr"], 0.5
    for rule, moves in ((healthy["MyFedMas"], True), (patient, False)):
        found = fl.simulate(fed, model, rule([0, 1, 2], strength, adds_up=True), **work)
        w = omega = 0.0
        for _round in range(work["rounds"]):
            began = w
            for target in targets:
                pull = 2 * strength * omega
                anchor = w if moves else began
                gradient = w - target + pull * (w - anchor)
                w -= rate * gradient / (1 + rate * pull)
                omega += 2 * abs(w)
        assert float(found.params) == pytest.approx(w)
