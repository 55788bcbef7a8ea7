"""Chapter 5: stored numbers of its sentences."""

from collections.abc import Mapping

import pandas as pd
import pytest

from fedlab_core.compare import t_interval
from fedlab_course.check import questions
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
    early = share.loc[("first", "TFedAvg"), "after_2"]
    assert f"Within fifty updates {early} % of a label is left two updates after its turn" in text
    tiers, added = (
        share.loc[("last", name), ["after_0", "after_5"]].tolist()
        for name in ("TFedAvg", "FedMas added up")
    )
    assert f"{tiers[0]} % right after the turn, and {tiers[1]} five updates later" in text
    exact = memory.loc[("last", "FedMas added up")]
    assert 100 * (exact["after_0"] - exact["after_5"]) == pytest.approx(0.5, abs=0.1)
    assert added[0] == added[1] and f"only {added[0]} % was learned" in text


def test_at_one_rate_the_strength_is_the_best_and_a_replaced_importance_grows(text: str) -> None:
    curves = tables.read("tiers_memory_curves").set_index(["method", "round"])
    mean = curves["importance_mean"].unstack("method")["FedMas replaced"]
    assert [round(mean[10]), round(mean[50], -2)] == [7, 700]
    assert "outputs grow from 13 to 256, the mean of $\\Omega$ from 7 to 700," in text
    outputs = curves["outputs_mean"].unstack("method")["FedMas replaced"]
    assert [round(outputs[10]), round(outputs[50])] == [13, 256]
    replaced = curves.loc["FedMas replaced"]
    assert round(replaced["importance_std"][50], -1) == 1170
    ten, fifty = (100 * replaced["test_accuracy_mean"]).round().astype(int)[[10, 50]]
    spread = round(100 * replaced["test_accuracy_std"][50])
    words = f"(deviations: 1,170 and {spread} points)."
    assert f"and accuracy falls from {ten} to {fifty} % {words}" in text
    pairs = tables.read("tiers_pairs").query("lr == 0.07071")
    best = pairs.groupby(["method", "strength"])["accuracy"].mean()
    assert best["FedMas, Ω added up"].idxmax() == best["FedMas"].idxmax() == 1.0


def test_the_pair_that_is_best_early_ends_below_tiers(text: str) -> None:
    runs = best_rates.judged_runs("one_label", "FedMas added up", "updates")
    ends = [round(100 * runs[column].mean()) for column in ("accuracy_at_updates", "end_accuracy")]
    assert f"| Ω added up | λ = 1, η = 0.28 | {ends[0]}" in text and ends[1] == 90


def test_what_is_left_after_the_end_of_the_penalty_is_as_in_the_first_rounds() -> None:
    memory = tables.read("tiers_memory").groupby(["window", "method"])["after_2"].mean()
    left = memory["next", "FedMas added up, ten rounds"], memory["first", "TFedAvg"]
    assert [round(100 * share) for share in left] == [13, 12]
    assert memory["next", "TFedAvg"] > 0.8  # without a penalty it has learned to last


def test_an_importance_that_is_added_up_helps_one_network_and_harms_another(text: str) -> None:
    points_of = {id: round(100 * judging.stored()[id].finding.mean) for id in ("002-1r", "002-1w")}
    mlp, cnn = points_of.values()
    assert f"adds {mlp} points of mean accuracy to tiers of an MLP" in text
    assert cnn == -9
    added = judging.stored()["002-1v"].finding
    ends = [f"{100 * end:.1f}".replace("-", "−") for end in (added.mean, added.low, added.high)]
    words = f"it adds {ends[0]} [{ends[1]}, {ends[2]}], and ends nine points below tiers"
    assert f"with a CNN (three seeds) {words}" in text


def test_for_fifty_rounds_the_weakest_penalties_are_best_and_add_less_than_a_point(
    text: str,
) -> None:
    found = []
    for method in ("FedMas added up", "FedMas implicit 0.001"):
        runs = best_rates.judged_runs("one_label", method, "rounds")
        weakest = min(best_rates.parameters("one_label", method))
        assert runs["parameter"].unique().tolist() == [weakest]
        found.append(t_interval(100 * best_rates.ahead("one_label", method, "TFedAvg", "rounds")))
    added, replaced = found
    interval = f"[{added.low:.1f}, {added.high:.1f}]"
    assert (
        f"weakest $\\lambda$ tried, and adds {added.mean:.1f} points to TFedAvg {interval}" in text
    )
    interval = f"[−{-replaced.low:.2f}, {replaced.high:.2f}]"
    assert f"replaced, which adds {replaced.mean:.2f} points to TFedAvg {interval}" in text
    assert added.high < 1
    curves = [
        best_rates.top(best_rates.curve("one_label", method))[1]
        for method in ("FedMas implicit 0.001", "FedMas implicit")
    ]
    assert curves[0] > curves[1]  # on validation samples


def test_what_the_penalties_add_within_fifty_updates(text: str) -> None:
    early = tables.read("tiers_early").set_index("seed")
    ends = {name: runs["accuracy"] for name, runs in early.groupby("method")}
    tiers = best_rates.judged("one_label", "TFedAvg", "updates")
    added = ends["FedMas, Ω added up"]
    shuffled = ends["Ω added up, shuffled"]
    replaced, interval = points(ends["FedMas"] - tiers)
    assert f"Replaced, $\\Omega$ adds {replaced} to tiers {interval}" in text
    gain, interval = points(added - tiers)
    assert f"and added up {bare(gain)} {interval} (to 79 %; yours, two to four rounds: 72)." in text
    little, interval = points(shuffled - tiers)
    assert f"and shuffled {bare(little)} {interval}." in text
    even, interval = points(ends["Ω added up, even in each tensor"] - tiers)
    assert f"Even, it adds {bare(even)} {interval}," in text
    one_step = tables.read("one_step").set_index("seed")["accuracy"]
    gap, interval = points(one_step - added)
    assert f"are {bare(gap)} ahead of it {interval}, for four times" in text
    gap, interval = points(added - tables.read("few_sides").set_index("seed")["accuracy"])
    assert f"is {gap} ahead of tiers side by side {interval}" in text
    gap, interval = points(tables.read("few_sides_bytes").set_index("seed")["accuracy"] - added)
    assert f"and for equal bytes {bare(gap)} behind them {interval}" in text
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["accuracy"].mean()
    for method in ends:
        runs = early[early["method"] == method]
        setting = set(runs[["strength", "lr"]].itertuples(index=False, name=None))
        assert len(pairs[method]) == 70 and setting == {pairs[method].idxmax()}


def bare(gain: str) -> str:
    """A number of points without the word."""
    return gain.removesuffix(" points")


def test_the_explicit_step_adds_early_too_on_the_grid_of_the_implicit_one(text: str) -> None:
    early = tables.read("tiers_early").set_index("seed")
    runs = early[early["method"] == "FedMas explicit"]
    mean, interval = points(runs["accuracy"] - best_rates.judged("one_label", "TFedAvg", "updates"))
    assert f"adds {mean} with the paper's explicit step {interval}; which step" in text
    open_ = t_interval(early[early["method"] == "FedMas"]["accuracy"] - runs["accuracy"])
    assert open_.low < 0 < 0.01 < open_.high


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


def test_what_turns_and_draws_add_after_fifty_rounds(text: str) -> None:
    names = ("tiers side by side", "random groups", "TFedAvg")
    leads = [f"{100 * best_rates.ahead('one_label', name).mean():.1f}" for name in names]
    assert f"| at random | 0 (FedAvg) | {leads[1]} (random groups) |" in text
    assert f"| from every tier | {leads[0]} | {leads[2]} (TFedAvg) |" in text
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "tiers side by side"))
    assert f"and {bare(mean)} to draws from every tier {interval}" in text
    fedavg = best_rates.judged("one_label", "FedAvg", "rounds")
    steps = tables.read("one_step_long").set_index("seed")["accuracy"] - fedavg
    assert f"500 rounds of one step gain {100 * steps.mean():.1f}, and" in text
    many = tables.read("many_rounds").set_index("seed")
    gain, interval = points(many["accuracy"] - fedavg)
    rounds = round(many["rounds"].mean())
    assert f"and about {rounds} of five epochs {bare(gain)} {interval}, for ten times" in text
    assert round(rounds / 50) == 13  # times the training
    single = t_interval(100 * best_rates.ahead("one_label", "one client an update", "TFedAvg"))
    interval = f"[{single.low:.1f}, {single.high:.1f}]".replace("-", "−")
    assert f"end as high as TFedAvg, {single.mean:.1f} above it {interval}" in text


def test_the_explicit_step_diverges_where_the_implicit_one_does_not(text: str) -> None:
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["diverged"].any()
    explicit, implicit = (pairs[name] for name in ("FedMas explicit", "FedMas"))
    assert len(explicit) == len(implicit) == 70 and implicit.sum() == 0
    assert f"diverges at {explicit.sum()} of 70 pairs" in text and "and at none with yours" in text


def test_where_clients_differ_less_tiers_gain_less(text: str) -> None:
    for split, words in (
        ("two_labels", "by {} with two labels each {}"),
        ("dirichlet_0.1", "{} with Dirichlet 0.1 {}"),
        ("dirichlet_0.3", "{} with Dirichlet 0.3 {}"),
        ("iid", "{} with IID data {}"),
    ):
        mean, interval = points(best_rates.ahead(split, "TFedAvg"))
        number = (mean if split == "two_labels" else bare(mean)).replace("-", "−")
        assert words.format(number, interval) in text


def test_the_table_of_settings_has_the_stored_runs(text: str) -> None:
    rows = {
        "no penalty": ("TFedAvg", "TFedAvg"),
        "Ω replaced": ("FedMas implicit", "FedMas implicit 0.001"),
        "Ω added up": ("FedMas added up", "FedMas added up"),
    }
    for name, methods in rows.items():
        cells = [name]
        for method, axis in zip(methods, ("updates", "rounds"), strict=True):
            runs = best_rates.judged_runs("one_label", method, axis)
            ((strength, lr),) = runs[["parameter", "lr"]].drop_duplicates().to_numpy().tolist()
            held = "" if method == "TFedAvg" else f"λ = {strength:g}, "
            ends = [100 * runs[key].mean() for key in ("accuracy_at_updates", "end_accuracy")]
            cells += [f"{held}η = {lr:.2g}", *(f"{end:.1f}" for end in ends)]
        assert f"| {' | '.join(cells)} |" in text


def test_within_fifty_updates_it_is_not_the_training_that_tiers_lack(text: str) -> None:
    tiers = best_rates.judged("one_label", "TFedAvg", "updates")
    full = tables.read("full_tiers").set_index("seed")
    assert full["rounds"].tolist() == (tables.read("few_rounds")["rounds"] - 1).tolist()
    side_by_side = tables.read("few_sides").set_index("seed")
    assert side_by_side["rounds"].tolist() == full["rounds"].tolist()
    together = side_by_side["accuracy"]
    fedavg, groups = (
        best_rates.judged("one_label", name, "updates") for name in ("FedAvg", "random groups")
    )
    few = tables.read("few_rounds").set_index("seed")["accuracy"]
    cells = [round(100 * found.mean()) for found in (fedavg, few, groups, together, tiers)]
    assert f"| at random | {cells[1]} (FedAvg) | {cells[2]} (random groups) |" in text
    assert f"| from every tier | {cells[3]} | ? (TFedAvg) |" in text
    asked = questions.of_chapter("05").predictions["05-work"]
    gain, interval = points(groups - few)
    cost, other = points(together - tiers)
    assert asked.because == (
        f"It is {cells[4]}. Turns of random groups gain {gain} {interval}, and turns of tiers "
        f"cost {bare(cost)} {other}."
    )
    words = f"rounds TFedAvg has {cells[4]} %, and the same clients side by side {cells[3]}."
    assert words in text
    single = tables.read("few_singles").set_index("seed")
    assert single["rounds"].tolist() == full["rounds"].tolist()
    assert f"Single clients in turn have {100 * single['accuracy'].mean():.0f} %" in text
    more = t_interval(full["accuracy"] - tiers)  # nor do more epochs of more clients help
    assert abs(more.mean) < 0.01 and more.high < 0.03
    trained = 100 * 13 / 5 * full["rounds"].mean()  # clients of five epochs
    assert round(trained / 77) == 12
    assert (full["rounds"].min(), full["rounds"].max()) == (3, 5)


def test_random_groups_at_another_rate(text: str) -> None:
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "random groups"))
    assert f"about a point: {bare(mean)} {interval}, and" in text
    runs = best_rates.judged_runs("one_label", "random groups", "bytes").set_index("seed")
    assert runs["lr"].unique().tolist() == [0.2828]
    mean, interval = points(
        best_rates.judged("one_label", "TFedAvg", "rounds") - runs["end_accuracy"]
    )
    assert f"at $\\eta=0.28$ for both {bare(mean)} {interval}." in text


def test_late_an_added_up_importance_is_behind_tiers_for_equal_bytes(text: str) -> None:
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "FedMas added up", "bytes"))
    assert f"added up ends {bare(mean)} below TFedAvg {interval}" in text
