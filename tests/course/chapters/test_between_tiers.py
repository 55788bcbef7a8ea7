"""Chapter 5: what is left of a tier's label while the next tiers train, how long a lead lasts, and
the patient.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas import between_tiers, lasting, patient
from fedlab_course.evidence import tables
from fedlab_course.methods import continual


def test_what_is_kept_of_a_label_ends_with_its_next_turn() -> None:
    trained = np.array([0, 1, 2, 3, 4, 5, 0, 1, 2])
    knows = np.arange(9 * 6).reshape(9, 6) / 100
    run = between_tiers.Followed(0.5, knows, trained)
    turns = [knows[turn : turn + 6, trained[turn]] for turn in range(4)]  # later ones have no five
    np.testing.assert_allclose(between_tiers.kept(run), np.mean(turns, axis=0))
    again = run._replace(trained=np.array([0, 1, 2, 0, 4, 5, 3, 1, 2]))
    turns = [knows[turn : turn + 6, again.trained[turn]] for turn in (1, 2, 3)]
    np.testing.assert_allclose(between_tiers.kept(again), np.mean(turns, axis=0))
    assert np.isnan(between_tiers.kept(run._replace(trained=np.zeros(9, dtype=int)))).all()


def test_the_figure_of_forgetting_has_a_line_for_each_run_and_names_the_means() -> None:
    knows = np.full((6, 1), 0.5)
    run = between_tiers.Followed(0.5, knows, np.array([0, 1, 1, 1, 1, 1]))
    figure = between_tiers.forgotten({"TFedAvg": [run, run], "FedMas": [run]})
    assert [len(trace.x) for trace in figure.data] == [6] * 5
    assert [trace.name for trace in figure.data if trace.showlegend is None] == [
        "TFedAvg",
        "FedMas",
    ]
    assert figure.layout.meta["table"]["rows"][0] == ["TFedAvg", *["50%"] * 6]


def test_the_lead_of_fedmas_does_not_last() -> None:
    keys = ["algorithm", "strength", "lr", "round"]
    curves = tables.read("tiers_lasting_curves").set_index(keys).sort_index()
    mean = (100 * curves["test_accuracy_mean"]).round()
    free, fedmas = mean.loc["tfedavg"].droplevel(0), mean.loc["fedmas", 0.1]
    fedavg = mean.loc["fedavg"].droplevel(0)
    after_four = [fedmas[0.4, 4], free[0.07071, 4], fedavg[0.5657, 4]]
    assert after_four == [58, 31, 25]
    at_the_end = [fedmas[0.4, 50], free[0.4, 50], free[0.07071, 50], fedmas[0.07071, 50]]
    assert at_the_end == [21, 25, 96, 73]


def test_a_stored_curve_has_the_twenty_seeds_of_the_table_of_best_rates() -> None:
    stored = tables.matching("rated_digits", {"partition": "one_label", "epochs": 5})
    mine = stored[(stored["method"] == "TFedAvg") & (stored["best_by"] == "rounds")]
    runs = tables.matching("tiers_lasting", {"algorithm": "tfedavg", "lr": 0.2828})
    assert sorted(runs["seed"]) == sorted(mine["seed"])
    np.testing.assert_allclose(runs["end_accuracy"].mean(), mine["end_accuracy"].mean(), atol=0.002)
    figure = lasting.fifty_rounds()
    rows = {row[0]: row[1:] for row in figure.layout.meta["table"]["rows"]}
    assert rows["TFedAvg, η = 0.28"][-1] == rows[lasting._RETUNED][-1] == "97%"
    assert 3.5 < lasting._fifty_updates() < 4.2


def test_distances_are_from_the_model_with_which_the_round_began() -> None:
    way = torch.tensor([[3.0, 4.0], [3.0, 0.0], [3.0, 1.0], [0.0, 0.0]])
    far = patient.distances(way, torch.zeros(2), 2)
    np.testing.assert_allclose(far, [5, 3, 1, 3])


def test_the_patient_is_pulled_to_the_beginning_of_the_round() -> None:
    """Two clients of one parameter; with a huge λ the second tier of a round undoes the first."""
    x = torch.ones(1, 1)
    clients = [(x, torch.tensor([[target]])) for target in (1.0, -1.0)]
    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])

    class Held(fl.Algorithm):
        def cohorts(self, server):
            yield from (np.array([0]), np.array([1]))

        def correction(self, server, client):
            weight = torch.full_like(server.params, 1e9 if client else 0.0)
            return fl.Correction(weight=weight, anchor=server.params, scale=1 / (1 + weight))

    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    work = {"rounds": 2, "clients_per_round": 1, "local_steps": 1, "batch_size": 1, "lr": 1.0}
    work |= {"loss": "squared_error", "seed": 0, "progress": False}
    healthy, sick = (
        continual.watch(fed, model, rule(), **work).way.flatten().tolist()
        for rule in (Held, patient.of(Held))
    )
    np.testing.assert_allclose(healthy[1], healthy[0], atol=1e-6)  # frozen where it arrived
    assert abs(healthy[0]) > 0.1
    np.testing.assert_allclose(sick[1], 0, atol=1e-6)  # back where the round began
