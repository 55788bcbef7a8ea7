"""Chapter 5: best rates, forgetting between tiers, and the controls."""

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course.chapters.ch05_fedmas import chosen, turns, within_updates
from fedlab_course.chapters.ch05_fedmas.exercises import MyTiers
from fedlab_course.evidence import best_rates, tables
from fedlab_course.methods import continual, forgotten, penalties
from fedlab_course.methods.random_groups import RandomGroups

ONE_LABEL = {"num_clients": 100, "labels_per_client": 1}
AXES = ("rounds", "updates")


def one_label(seed: int) -> tuple[fl.FederatedDataset, torch.nn.Module, np.ndarray]:
    digits = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(digits.train.y, **ONE_LABEL, seed=seed)
    fed = fl.FederatedDataset(digits, parts)
    model = fl.models.mlp(fed, seed=seed)
    return fed, model, forgotten.found(fed, model, seed)


def test_the_figure_of_leads_has_each_method_at_its_best_rate_seed_by_seed() -> None:
    rows = {row[0]: row[1:] for row in within_updates.rated().layout.meta["table"]["rows"]}
    assert list(rows) == [
        "tiers side by side",
        "random groups",
        "TFedAvg",
        "one client an update",
        "FedAvg, one step a round, 500 rounds",
    ]
    fedavg = best_rates.judged("one_label", "FedAvg", "rounds")
    leads = {name: best_rates.ahead("one_label", name) for name in list(rows)[:4]}
    steps = tables.read("one_step_long").set_index("seed")["accuracy"]
    leads["FedAvg, one step a round, 500 rounds"] = steps - fedavg
    for name, gaps in leads.items():
        found = t_interval(100 * gaps)
        words = [f"{end:+.1f}" for end in (found.mean, found.low, found.high)]
        assert rows[name] == [*words, 20]


def test_the_runs_of_both_studies_are_alike() -> None:
    stored = tables.read("tiers_early").set_index("seed")
    ends = {name: runs["accuracy"] for name, runs in stored.groupby("method")}
    for early, rated in (("FedMas", "FedMas implicit"), (chosen.ADDED_UP, "FedMas added up")):
        judged = best_rates.judged("one_label", rated, "updates")
        pd.testing.assert_series_equal(ends[early], judged, check_names=False, atol=1e-6)


def test_fedavg_in_as_few_rounds_trains_about_as_much_at_its_best_rate() -> None:
    rates = tables.read("few_rounds_rates").groupby("lr")["accuracy"].mean()
    assert len(rates) == 17
    assert min(rates.index) < rates.idxmax() < max(rates.index)
    few = tables.read("few_rounds").set_index("seed")
    assert few["lr"].unique().tolist() == [rates.idxmax()]
    runs = best_rates.judged_runs("one_label", "TFedAvg", "updates").set_index("seed")
    rounds = 50 // (runs["server_updates"] / 50)
    assert few["rounds"].tolist() == (rounds + 1).tolist()  # a round for the search
    assert (rounds.min(), rounds.max()) == (3, 5)
    assert (few["rounds"] * 20).mean() == pytest.approx(97, rel=0.1)  # clients that train
    assert round(1000 / 97) == 10


def test_fedavg_with_one_step_a_round_makes_as_many_steps_at_its_best_rate() -> None:
    fed, _, _ = one_label(200)
    steps = np.ceil(np.array([len(part) for part in fed.parts]) / 10)  # of an epoch
    epoch = steps.mean()
    assert epoch == pytest.approx(2, abs=0.05)
    for name, clients in (("one_step", 77 * 5 + 100), ("one_step_long", 50 * 20 * 5)):
        runs = tables.read(name)
        assert runs["rounds"].nunique() == 1
        assert runs["rounds"].iloc[0] * 20 == pytest.approx(clients * epoch, rel=0.05)
        rates = tables.read(f"{name}_rates").groupby("lr")["accuracy"].mean()
        assert runs["lr"].unique().tolist() == [rates.idxmax()]
        assert len(rates) == 17 and min(rates.index) < rates.idxmax() < max(rates.index)


def test_with_an_importance_tiers_send_a_quarter_of_fifty_rounds_of_fedavg() -> None:
    fedavg, added = (
        best_rates.judged_runs("one_label", name, "updates").set_index("seed")
        for name in ("FedAvg", "FedMas added up")
    )
    client = fedavg["bytes"] / (50 * 20)
    search = 100 * client
    tiers = added["server_updates"] / 50
    early = 50 // tiers * (added["bytes"] - search) / 50 + search
    assert round((fedavg["bytes"] / early).mean()) == 4


def test_an_even_importance_has_the_mean_of_each_tensor() -> None:
    fed, model, _ = one_label(54)
    work = {"rounds": 1, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    rule = penalties.EvenPenalty(0.5, penalty_step="implicit")
    simulation = fl.Simulation(fed, model, rule, **work, seed=54, progress=False)
    simulation.run()
    state = simulation.state_dict()["algorithm"]
    sizes = [parameter.numel() for parameter in model.parameters()]
    pairs = zip(state["weight"].split(sizes), state["importance"].split(sizes), strict=True)
    for weight, importance in pairs:  # the weight is 2λΩ, and λ is a half
        torch.testing.assert_close(weight, torch.full_like(weight, float(importance.mean())))


def test_fedavg_in_as_many_updates_has_its_best_rate_and_the_updates_of_tiers() -> None:
    rates = tables.read("many_rounds_rates").groupby("lr")["accuracy"].mean()
    assert len(rates) == 17
    assert min(rates.index) < rates.idxmax() < max(rates.index)
    many = tables.read("many_rounds").set_index("seed")
    assert many["lr"].unique().tolist() == [rates.idxmax()]
    runs = best_rates.judged_runs("one_label", "TFedAvg", "rounds").set_index("seed")
    assert many["rounds"].tolist() == runs["server_updates"].tolist()
    assert many["rounds"].mean() == 630


def test_validation_prefers_an_importance_that_is_added_up() -> None:
    variants = [best_rates.best_of("one_label", best_rates.FEDMAS, axis) for axis in AXES]
    assert variants == ["FedMas added up", "FedMas added up"]
    for variant in variants:
        assert len(best_rates.curve("one_label", variant)) == 17


def test_tiers_are_those_of_the_library_and_have_one_label_in_the_first_run() -> None:
    fed, model, tiers = one_label(54)
    labels = np.array([int(fed.y[part[0]]) for part in fed.parts])
    assert len(np.unique(tiers)) == 13
    assert all(len(np.unique(labels[tiers == tier])) == 1 for tier in range(13))
    work = {"clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "seed": 54}
    simulation = fl.Simulation(fed, model, fl.FedMas(0.1), rounds=1, **work, progress=False)
    simulation.run()
    assert simulation.state_dict()["algorithm"]["clusters"].tolist() == tiers.tolist()


def test_a_search_for_tiers_costs_five_rounds_of_fedavg() -> None:
    fed, model, _ = one_label(200)
    work = {"clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.01, "seed": 200}
    work |= {"rounds": 2, "progress": False}
    first, second = fl.simulate(fed, model, fl.algorithms.TFedAvg(), **work).records
    search = 2 * (first.bytes_up + first.bytes_down) - (second.bytes_up + second.bytes_down)
    cost = fl.simulate(fed, model, fl.FedAvg(), **work).records[0]
    assert search == 5 * (cost.bytes_up + cost.bytes_down)


def test_a_round_of_tiers_costs_about_as_much_as_one_of_fedavg_and_an_update_far_less() -> None:
    axes = {"FedAvg": "updates", "TFedAvg": "updates", "FedMas implicit": "bytes"}
    columns = {
        name: best_rates.judged_runs("one_label", name, axis).set_index("seed")
        for name, axis in axes.items()
    }
    client = columns["FedAvg"]["bytes"] / (50 * 20)  # bytes that one client costs
    search = 100 * client  # all clients send an update before the first round
    tiers = (columns["TFedAvg"]["bytes"] - search) / 50  # bytes of a round
    clients = tiers / client
    assert round(clients.mean()) == 21
    number = columns["TFedAvg"]["server_updates"] / 50  # of tiers
    assert round((50 // number * clients).mean()) == 77
    assert round(50 * 20 / 77) == 13
    with_omega = (columns["FedMas implicit"]["bytes"] - search) / 50
    assert (with_omega / tiers).mean() == pytest.approx(2, abs=0.1)
    budget = 1.01 * columns["FedAvg"]["bytes"]  # as in the stored tables
    in_budget = [((budget - search) // each).mean() for each in (with_omega, tiers)]
    assert [round(count) for count in in_budget] == [20, 43]
    # FedSSO's first update is its probe
    assert set(best_rates.judged_runs("one_label", "FedSSO", "updates")["server_updates"]) == {51}


def test_in_the_run_shown_fedavg_is_ahead_after_about_fifty_updates() -> None:
    fed, model, tiers = one_label(54)
    sizes = np.bincount(tiers)
    assert {max(1, round(size / 5)) for size in sizes} == {1, 2}
    work = {"clients_per_round": 20, "local_epochs": 5, "batch_size": 10, "lr": 0.05, "seed": 54}
    ends = []
    for rule, rounds in ((fl.FedAvg(), 50), (MyTiers(tiers), 3)):
        last = fl.simulate(fed, model, rule, rounds=rounds, **work, progress=False).records[-1]
        ends.append((last.server_updates, round(100 * last.test_accuracy)))
    assert ends == [(50, 59), (39, 16)]


@pytest.mark.slow
def test_within_fifty_updates_the_penalty_of_the_paper_slows_forgetting() -> None:
    rules = {
        "TFedAvg": lambda tiers: fl.algorithms.TFedAvg(),
        "FedMas": lambda tiers, strength: fl.FedMas(strength, penalty_step="implicit"),
        chosen.ADDED_UP: lambda tiers, strength: fl.FedMas(
            strength, penalty_step="implicit", importance_update="accumulate"
        ),
    }
    work = {"clients_per_round": 20, "local_epochs": 5, "batch_size": 10}
    runs = within_updates.fifty_updates(rules, one_label, range(54, 59), **work)
    ends = {
        name: round(100 * np.mean([run.accuracy for run in found])) for name, found in runs.items()
    }
    assert ends == {"TFedAvg": 25, "FedMas": 55, chosen.ADDED_UP: 72}
    kept = {
        name: np.round(100 * np.mean([forgotten.kept(run) for run in found], axis=0))
        for name, found in runs.items()
    }
    assert kept["TFedAvg"].tolist() == [99, 18, 6, 2, 1, 1]
    assert kept["FedMas"].tolist() == [98, 67, 39, 29, 25, 21]
    assert kept[chosen.ADDED_UP].tolist() == [91, 78, 71, 65, 57, 52]


def test_a_plain_penalty_is_that_of_fedprox() -> None:
    fed, model, _ = one_label(54)
    work = {"rounds": 1, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    work |= {"seed": 54, "progress": False}
    simulation = fl.Simulation(
        fed, model, penalties.PlainPenalty(0.25, penalty_step="implicit"), **work
    )
    simulation.run()
    weight = simulation.state_dict()["algorithm"]["weight"]
    assert torch.equal(weight, torch.full_like(weight, 0.5))  # 2λ, as FedProx with μ = 2λ


def test_a_shuffled_importance_has_the_same_values_in_each_tensor() -> None:
    fed, model, _ = one_label(54)
    work = {"rounds": 1, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    work |= {"seed": 54, "progress": False}
    found = {}
    for rule in (fl.FedMas, penalties.ShuffledPenalty):
        # without a pull both have the same models, and so the same Ω before it is shuffled
        simulation = fl.Simulation(fed, model, rule(1e-12, penalty_step="implicit"), **work)
        simulation.run()
        found[rule] = simulation.state_dict()["algorithm"]["weight"]
    plain, shuffled = found.values()
    sizes = [parameter.numel() for parameter in model.parameters()]
    assert not torch.equal(plain, shuffled)
    for one, other in zip(plain.split(sizes), shuffled.split(sizes), strict=True):
        torch.testing.assert_close(one.sort().values, other.sort().values, rtol=1e-3, atol=1e-18)


def test_a_shuffled_importance_is_added_up_as_it_was_measured() -> None:
    fed, model, _ = one_label(54)
    work = {"rounds": 2, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    work |= {"seed": 54, "progress": False}
    own = {"penalty_step": "implicit", "importance_update": "accumulate"}
    states = []
    for rule in (fl.FedMas, penalties.ShuffledPenalty):
        simulation = fl.Simulation(fed, model, rule(1e-12, **own), **work)
        simulation.run()
        states.append(simulation.state_dict()["algorithm"])
    true, shuffled = (state["importance"] for state in states)
    torch.testing.assert_close(true, shuffled, rtol=1e-3, atol=1e-6)
    largest, mixed = (state["weight"].topk(1500).indices for state in states)
    assert len(set(largest.tolist()) & set(mixed.tolist())) < 500  # a tenth of all, by chance 150


def test_the_first_model_as_anchor_changes_all_but_the_first_tier_of_a_round() -> None:
    fed, model, _ = one_label(54)
    work = {"rounds": 2, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    work |= {"seed": 54, "progress": False}
    ways, starts = [], []
    for rule in (fl.FedMas, penalties.PenaltyAtFirstModel):
        noted = continual.Noted(rule(0.1, penalty_step="implicit"))
        simulation = fl.Simulation(fed, model, noted, **work)
        simulation.run()
        state = simulation.state_dict()["algorithm"]
        ways.append(state["noted_way"])
        starts.append(state.get("first"))
    received, first = ways
    # the first tier has no penalty, the second the model of the first as its anchor or the start
    assert torch.equal(received[0], first[0])
    assert not torch.equal(received[1], first[1])
    assert torch.equal(starts[1], first[12])  # the round has 13 tiers


def test_a_penalty_at_first_is_fedmas_to_its_last_round_and_then_tiers_alone() -> None:
    fed, model, _ = one_label(54)
    work = {"clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "seed": 54}
    work |= {"progress": False}
    own = {"penalty_step": "implicit", "importance_update": "accumulate"}
    rule = penalties.PenaltyAtFirst(1.0, **own, last_round=2)
    held = fl.simulate(fed, model, fl.FedMas(1.0, **own), rounds=3, **work)
    first = fl.simulate(fed, model, rule, rounds=3, **work)
    accuracies = [[record.test_accuracy for record in run.records] for run in (held, first)]
    assert accuracies[0][:2] == accuracies[1][:2] and accuracies[0][2] != accuracies[1][2]


def test_a_followed_run_is_the_plain_one_and_knows_each_label_after_each_update() -> None:
    fed, model, tiers = one_label(54)
    work = {"clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "seed": 54}
    work |= {"rounds": 1, "progress": False}
    run = forgotten.follow(fed, model, fl.algorithms.TFedAvg(), **work)
    plain = fl.simulate(fed, model, fl.algorithms.TFedAvg(), **work)
    assert run.accuracy == plain.records[-1].test_accuracy
    assert run.knows.shape == (13, 10)
    held = np.array([[label in fed.y[part] for label in range(10)] for part in fed.parts])
    for tier, trained in enumerate(run.trained):
        assert trained.any() and not (trained & ~held[tiers == tier].any(axis=0)).any()
    counts = np.bincount(fed.test.y.numpy())
    assert run.knows[-1] @ counts / counts.sum() == pytest.approx(run.accuracy)


def test_a_row_has_a_dot_for_each_stored_run_and_a_ring_for_each_of_the_reader() -> None:
    none = np.zeros((0, 1))
    runs = [forgotten.Followed(value, none, none, torch.zeros(0, 1)) for value in (0.5, 0.7)]
    figure = within_updates.after_fifty({"FedMas": runs})
    rows = {row[0]: row[1:] for row in figure.layout.meta["table"]["rows"]}
    assert rows["tiers, Ω replaced, λ = 0.1, η = 0.4"] == ["55.5% ± 10.8%", "50%, 70%"]
    assert rows["tiers side by side, 3–5 rounds, η = 1.6"] == ["63.8% ± 18.4%", ""]
    dots, bars, rings = figure.data[0::3], figure.data[1::3], figure.data[2::3]
    assert [len(trace.x) for trace in dots] == [20] * 9
    assert [list(trace.x) for trace in rings] == [[], [], [], [], [], [0.5, 0.7], [], [], []]
    assert list(rows)[5] == "tiers, Ω replaced, λ = 0.1, η = 0.4"
    for dot, bar in zip(dots, bars, strict=True):
        assert bar.x[0] == pytest.approx(np.mean(dot.x))


def test_two_panels_have_the_same_runs_over_rounds_and_over_updates() -> None:
    y = torch.arange(20) % 2
    fed = fl.FederatedDataset.from_clients(
        [(y[:, None].float(), y)] * 3, test=(y[:, None] + 0.0, y)
    )
    model = torch.nn.Linear(1, 2)
    work = {
        "rounds": 3,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    figure = turns.by_both({"A": fl.simulate(fed, model, fl.FedAvg(), **work)}, title="two")
    first, second = (figure.data[0], figure.data[len(figure.data) // 2])
    assert (first.xaxis, second.xaxis) == ("x", "x2")
    np.testing.assert_array_equal(first.y, second.y)
    assert [trace.showlegend for trace in (first, second)] == [True, False]


def test_over_updates_a_curve_ends_with_the_last_whole_round_that_all_have() -> None:
    y = torch.arange(20) % 2
    fed = fl.FederatedDataset.from_clients(
        [(y[:, None].float(), y)] * 3, test=(y[:, None] + 0.0, y)
    )
    model = torch.nn.Linear(1, 2)
    work = {"clients_per_round": 3, "local_epochs": 1, "batch_size": 5, "lr": 0.1, "rounds": 5}
    rules = {"A": fl.FedAvg(), "B": fl.algorithms.TFedAvg(tiers=[0, 1, 2])}
    runs = {name: fl.simulate(fed, model, rule, **work) for name, rule in rules.items()}
    figure = turns.by_both(runs, title="two")
    assert [len(trace.x) for trace in figure.data] == [5, 5, 5, 1]
    assert list(figure.data[3].x) == [3] and figure.data[3].marker.size == 8
    assert [row[2] for row in figure.layout.meta["table"]["rows"]] == ["5", "3"]


def test_two_equal_algorithms_agree_after_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    y = torch.arange(20) % 2
    fed = fl.FederatedDataset.from_clients(
        [(y[:, None].float(), y)] * 3, test=(y[:, None] + 0.0, y)
    )
    work = {
        "rounds": 9,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "seed": 3,
    }
    model = torch.nn.Linear(1, 2)
    assert turns.same(fl.FedProx(mu=0.0), fl.FedAvg(), fed, model, **work) < 1e-6
    assert "`FedProx` and `fl.FedAvg` agree" in capsys.readouterr().out
    assert (
        turns.same(fl.FedProx(mu=5.0), fl.FedAvg(), fed, model, **(work | {"local_epochs": 4}))
        > 1e-6
    )
    assert "differ" in capsys.readouterr().out


def test_random_groups_have_the_sizes_of_the_tiers_and_other_clients() -> None:
    fed, model, tiers = one_label(54)
    work = {"rounds": 1, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    simulation = fl.Simulation(fed, model, RandomGroups(), **work, seed=54, progress=False)
    simulation.run()
    groups = simulation.state_dict()["algorithm"]["clusters"].numpy()
    assert np.bincount(groups).tolist() == np.bincount(tiers).tolist()
    labels = np.array([int(fed.y[part[0]]) for part in fed.parts])
    mixed = [len(np.unique(labels[groups == group])) for group in np.unique(groups)]
    assert max(mixed) > 3
