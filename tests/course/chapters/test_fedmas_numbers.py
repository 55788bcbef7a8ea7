"""Chapter 5: stored numbers of its sentences."""

from collections.abc import Mapping

import pandas as pd
import pytest

from fedlab_core.compare import t_interval
from fedlab_course.evidence import best_rates, judging, tables
from tests.course.check.from_notebook import text_of

SETTING = {"partition": "one_label", "epochs": 5}


@pytest.fixture(scope="module")
def text() -> str:
    """The Markdown of the chapter."""
    return text_of("05_fedmas.ipynb")


def percent(table: str, where: Mapping[str, object], measure: str = "end_accuracy") -> float:
    """The mean of a measure over the stored seeds."""
    rows = tables.matching(table, {**SETTING, **where} if table.startswith("rated") else where)
    return 100 * float(rows[measure].mean())


def test_what_is_left_of_a_label_early_and_late(text: str) -> None:
    memory = tables.read("tiers_memory").groupby(["window", "method"]).mean(numeric_only=True)
    share = (100 * memory).round().astype(int)
    early = share.loc["first", "after_2"]
    assert (
        f"turn {early['TFedAvg']} % of a label is left, with $\\Omega$ {early['FedMas']} %, and "
        f"with that of the softmax {early['FedMas softmax']} %" in text
    )
    (right, later), (of_tiers, later_of_tiers) = (
        share.loc[("last", name), ["after_0", "after_5"]] for name in ("FedMas", "TFedAvg")
    )
    assert (
        f"TFedAvg has {of_tiers} % right after the turn and {later_of_tiers} % five updates later. "
        f"FedMas then has {right} and {later} %" in text
    )
    assert right < of_tiers and right - later > 3 * (of_tiers - later_of_tiers)


def test_at_one_rate_a_bounded_importance_leads_early_and_ends_near_tiers(text: str) -> None:
    curves = tables.read("tiers_memory_curves").set_index(["method", "round"])
    accuracy = 100 * curves["test_accuracy_mean"].unstack("method")
    lead = accuracy["FedMas softmax"] - accuracy["TFedAvg"]
    assert f"leads by {lead[4]:.0f} points after four rounds, and ends a point below" in text
    assert round(lead[50]) == -1
    mean = curves["importance_mean"].unstack("method")
    growth = mean["FedMas"]
    spread = curves["importance_std"].loc["FedMas", 50]
    words = f"goes from {growth[4]:.1f} to {growth[50]:.0f} (±{spread:.0f} over seeds)"
    assert f"4 to 50 its mean, on test images, {words}" in text
    assert f"for both it is {(accuracy['FedMas'] - accuracy['TFedAvg'])[4]:.0f} points" in text
    assert mean["FedMas softmax"][50] < mean["FedMas softmax"][4]


def test_what_helps_most_early_costs_late(text: str) -> None:
    where = {"method": "FedMas implicit", "best_by": "updates"}
    assert round(percent("rated_digits", where, "accuracy_at_updates")) == 56
    assert f"$\\eta=0.4$, ends at {percent('rated_digits', where):.0f} %" in text
    runs = best_rates.judged_runs("one_label", "FedMas softmax", "updates").set_index("seed")
    assert runs["parameter"].unique().tolist() == [1000.0]
    early = t_interval(100 * best_rates.ahead("one_label", "FedMas softmax", "TFedAvg", "updates"))
    words = f"{early.mean:.0f} points [{early.low:.0f}, {early.high:.0f}]"
    assert f"it adds {words}" in text
    mean, interval = points(
        best_rates.judged("one_label", "TFedAvg", "rounds") - runs["end_accuracy"]
    )
    assert f"ends {mean.removesuffix(' points')} below TFedAvg at its best rate {interval}" in text
    losses = best_rates.ahead("one_label", "TFedAvg", "FedMas implicit", "rounds").sort_values()
    mean, interval = points(losses)
    assert f"logits end {mean.removesuffix(' points')} below {interval}, mostly through two" in text
    assert losses.iloc[-2:].min() > 0.1 and losses.iloc[:-2].mean() < 0.015


def test_an_importance_that_is_added_up_helps_one_network_and_harms_another(text: str) -> None:
    points_of = {id: round(100 * judging.stored()[id].finding.mean) for id in ("002-1r", "002-1w")}
    mlp, cnn = points_of.values()
    assert f"adds {mlp} points of mean accuracy to tiers of an MLP" in text
    assert cnn == -9
    assert "with a CNN ends nine points below tiers" in text


def test_for_fifty_rounds_the_weakest_penalties_are_best_and_add_nothing(text: str) -> None:
    found = {}
    for method in ("FedMas implicit 0.001", "FedMas softmax"):
        runs = best_rates.judged_runs("one_label", method, "rounds")
        weakest = min(best_rates.parameters("one_label", method))
        assert runs["parameter"].unique().tolist() == [weakest]
        gap = t_interval(100 * best_rates.ahead("one_label", method, "TFedAvg", "rounds"))
        found[method] = f"{gap.mean:.2f}", f"[−{-gap.low:.2f}, {gap.high:.2f}]"
    (logits, its), (softmax, of_softmax) = found.values()
    assert f"{logits} points {its} with logits, {softmax} {of_softmax} with the softmax" in text
    curves = [
        best_rates.top(best_rates.curve("one_label", method))[1]
        for method in ("FedMas implicit 0.001", "FedMas implicit")
    ]
    assert curves[0] > curves[1]  # on validation samples


def test_what_the_penalties_add_within_fifty_updates(text: str) -> None:
    early = tables.read("tiers_early").set_index("seed")
    ends = {name: runs["accuracy"] for name, runs in early.groupby("method")}
    tiers, groups = (
        best_rates.judged("one_label", name, "updates") for name in ("TFedAvg", "random groups")
    )
    omega = f"{100 * (ends['FedMas'] - tiers).mean():.1f} points to tiers"
    mean, interval = points(ends["FedMas"] - groups)
    assert f"adds {omega}, and ends {mean.removesuffix(' points')} above random" in text
    assert f"above random groups {interval}" in text
    plain, shuffled = (
        f"{100 * (ends[name] - tiers).mean():.1f}" for name in ("plain penalty", "Ω, shuffled")
    )
    assert f"Plain and shuffled penalties add {plain} and {shuffled}" in text


def test_the_explicit_step_adds_early_too_on_the_grid_of_the_implicit_one(text: str) -> None:
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["accuracy"].mean()
    assert len(pairs["FedMas explicit"]) == len(pairs["FedMas"]) == 70
    early = tables.read("tiers_early").set_index("seed")
    runs = early[early["method"] == "FedMas explicit"]
    setting = set(runs[["strength", "lr"]].itertuples(index=False, name=None))
    assert setting == {pairs["FedMas explicit"].idxmax()}
    mean, interval = points(runs["accuracy"] - best_rates.judged("one_label", "TFedAvg", "updates"))
    assert f"explicit step of the paper adds {mean} {interval}; which step is better is" in text
    open_ = t_interval(early[early["method"] == "FedMas"]["accuracy"] - runs["accuracy"])
    assert open_.low < 0 < 0.01 < open_.high


def test_on_mnist_the_penalty_adds_nothing_early(text: str) -> None:
    rows = tables.matching("rates_mnist", {"partition": "one_label", "epochs": 5})
    keys = ["method", "parameter", "lr"]
    means = rows.fillna({"parameter": 0}).groupby(keys)["accuracy_at_updates"].mean()
    best = means.groupby("method").max()
    assert round(100 * (best["FedMas implicit"] - best["TFedAvg"])) == 0
    assert (
        rows["seed"].nunique() == 2
        and "two validation seeds with $\\lambda\\le0.1$ nothing" in text
    )


def test_with_the_first_model_as_its_anchor_the_weakest_penalty_is_best() -> None:
    pairs = tables.read("tiers_pairs")
    strengths = pairs["strength"].unique()
    first = pairs[pairs["method"] == "Ω, first model"].groupby(["strength", "lr"])["accuracy"]
    assert first.mean().idxmax()[0] == min(strengths)
    early = tables.read("tiers_early").set_index("seed")
    adds = early[early["method"] == "Ω, first model"]["accuracy"] - best_rates.judged(
        "one_label", "TFedAvg", "updates"
    )
    assert len(adds) == 20 and abs(100 * adds.mean()) < 1


def points(gaps: pd.Series) -> tuple[str, str]:
    """The mean in points and its 95 % interval, as the chapter writes them."""
    found = t_interval(100 * gaps)
    interval = f"[{found.low:.1f}, {found.high:.1f}]".replace("-0.0", "0.0").replace("-", "−")
    return f"{found.mean:.1f} points", interval


def test_what_turns_and_likeness_add_after_fifty_rounds(text: str) -> None:
    names = ("tiers side by side", "random groups", "TFedAvg", "one client an update")
    leads = {name: round(100 * best_rates.ahead("one_label", name).mean()) for name in names}
    assert list(leads.values()) == [4, 7, 8, 8]
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "tiers side by side"))
    more = f"Turns add {mean.removesuffix(' points')} more {interval}"
    assert f"adds four points. {more}, and alone, with random groups, seven" in text
    tiers = best_rates.judged("one_label", "TFedAvg", "rounds")
    many = tables.read("many_rounds").set_index("seed")
    mean, interval = points(many["accuracy"] - tiers)
    assert f"FedAvg ends {mean} *above* TFedAvg {interval}" in text
    runs = best_rates.judged_runs("one_label", "TFedAvg", "rounds").set_index("seed")
    (fedavg,) = best_rates.judged_runs("one_label", "FedAvg", "rounds")["bytes"].unique()
    search = fedavg / 10  # of 100 clients, five rounds of FedAvg
    clients = 20 * 50 * (runs["bytes"] - search) / fedavg
    assert round((many["rounds"] * 20 / clients).mean()) == 12


def test_within_fifty_updates_it_is_not_the_training_that_tiers_lack(text: str) -> None:
    tiers, groups, fedavg = (
        best_rates.judged("one_label", name, "updates")
        for name in ("TFedAvg", "random groups", "FedAvg")
    )
    assert f"TFedAvg is {100 * (fedavg - tiers).mean():.0f} points below FedAvg" in text
    full = tables.read("full_tiers").set_index("seed")
    assert full["rounds"].tolist() == (tables.read("few_rounds")["rounds"] - 1).tolist()
    ends = [round(100 * found.mean()) for found in (full["accuracy"], tiers)]
    assert f"12 times the training, it has {ends[0]} % in place of {ends[1]}" in text
    trained = 100 * 13 / 5 * full["rounds"].mean()  # clients of five epochs
    assert round(trained / 77) == 12
    few = tables.read("few_rounds").set_index("seed")
    assert (few["rounds"].min(), few["rounds"].max()) == (4, 6)
    assert f"as little training, 4 to 6 rounds, has {100 * few['accuracy'].mean():.0f} %." in text
    mean, interval = points(groups - tiers)
    assert f"tiers are also {mean} below random groups {interval}" in text


def test_random_groups_at_another_rate(text: str) -> None:
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "random groups"))
    assert f"Tiers end {mean} above random groups {interval}" in text
    runs = best_rates.judged_runs("one_label", "random groups", "bytes").set_index("seed")
    assert runs["lr"].unique().tolist() == [0.2828]
    mean, interval = points(
        best_rates.judged("one_label", "TFedAvg", "rounds") - runs["end_accuracy"]
    )
    assert f"At 0.28 tiers add {mean.removesuffix(' points')} {interval}" in text
    curve = best_rates.curve("one_label", "TFedAvg")
    rates = [rate for rate in curve if rate > 0.2]
    assert [round(rate, 2) for rate in rates[:2]] == [0.28, 0.4]
    assert f"At 0.4 tiers have {100 * curve[rates[1]].mean():.0f} % (validation)" in text
    assert min(best_rates.curve("one_label", "random groups")[rates[0]]) < 0.8  # of three seeds


def test_what_the_penalty_costs_for_the_same_bytes(text: str) -> None:
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "FedMas implicit", "bytes"))
    assert f"FedMas is {mean} below TFedAvg {interval}" in text
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "FedAvg", "bytes"))
    assert f"and TFedAvg {mean.removesuffix(' points')} above FedAvg {interval}" in text
    variants = ("FedMas explicit", "FedMas implicit")
    best = [best_rates.best_of("one_label", variants, axis) for axis in best_rates.MEASURES]
    assert best == ["FedMas explicit", "FedMas implicit", "FedMas implicit"]


def test_what_the_penalty_adds_on_other_splits(text: str) -> None:
    early = {}
    late = []
    for split in best_rates.SPLITS.values():
        lead = 100 * best_rates.ahead(split, "FedMas implicit", "TFedAvg", "updates")
        early[split] = f"{lead.mean():.1f}"
        if split != "one_label":
            late.append(100 * best_rates.ahead(split, "TFedAvg", "FedMas implicit").mean())
    assert f"step is {min(late):.1f} to {max(late):.1f} points below TFedAvg" in text
    two, third, tenth, iid = (
        early[split] for split in ("two_labels", "dirichlet_0.3", "dirichlet_0.1", "iid")
    )
    assert (
        f"{two} points with two labels a client, {third} with Dirichlet 0.3, {tenth} with "
        f"Dirichlet 0.1, and {iid} with IID clients" in text
    )


def test_on_random_groups_the_penalty_adds_less(text: str) -> None:
    stored = tables.read("tiers_early").set_index("seed")
    with_omega = stored[stored["method"] == "random groups, Ω"]["accuracy"]
    without = best_rates.judged("one_label", "random groups", "updates")
    mean, interval = points(with_omega - without)
    assert f"adds {mean}, and perhaps nothing {interval}" in text
    assert f"from {100 * without.mean():.0f} to {100 * with_omega.mean():.0f} %" in text
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["accuracy"].mean()
    setting = stored[stored["method"] == "random groups, Ω"][["strength", "lr"]]
    assert set(setting.itertuples(index=False, name=None)) == {pairs["random groups, Ω"].idxmax()}
