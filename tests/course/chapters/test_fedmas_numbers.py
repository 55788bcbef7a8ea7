"""Chapter 5: stored numbers of its sentences."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from fedlab_core.compare import t_interval
from fedlab_course.evidence import best_rates, tables
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


def test_a_bounded_importance_helps_early_and_costs_nothing_late(text: str) -> None:
    early = t_interval(100 * best_rates.ahead("one_label", "FedMas softmax", "TFedAvg", "updates"))
    words = f"{early.mean:.0f} points within fifty updates [{early.low:.0f}, {early.high:.0f}]"
    assert f"and adds {words}" in text
    late = t_interval(100 * best_rates.ahead("one_label", "FedMas softmax", "TFedAvg", "rounds"))
    words = f"FedMas ends level with TFedAvg, +{late.mean:.2f} [−{-late.low:.2f}, {late.high:.2f}]"
    assert words in text
    assert len(best_rates.parameters("one_label", "FedMas softmax")) == 3


def test_what_is_left_of_a_label_early_and_late(text: str) -> None:
    memory = tables.read("tiers_memory").groupby(["window", "method"]).mean(numeric_only=True)
    share = (100 * memory).round().astype(int)
    early = share.loc["first", "after_2"]
    assert (
        f"turn {early['TFedAvg']} % of a label is left, with $\\Omega$ {early['FedMas']} %, and at "
        f"$\\eta=0.4$ {early['FedMas 0.4']} %" in text
    )
    (right, later), (of_tiers, later_of_tiers) = (
        share.loc[("last", name), ["after_0", "after_5"]] for name in ("FedMas", "TFedAvg")
    )
    assert (
        f"late TFedAvg has {of_tiers} % right after the turn and {later_of_tiers} % five updates "
        f"later. FedMas then has {right} and {later} %: it learns less and forgets more" in text
    )
    assert right < of_tiers and right - later > 3 * (of_tiers - later_of_tiers)


def test_the_explicit_step_adds_early_too_on_the_grid_of_the_implicit_one(text: str) -> None:
    pairs = tables.read("tiers_pairs").groupby(["method", "strength", "lr"])["accuracy"].mean()
    assert len(pairs["FedMas explicit"]) == len(pairs["FedMas"]) == 70
    early = tables.read("tiers_early").set_index("seed")
    runs = early[early["method"] == "FedMas explicit"]
    setting = set(runs[["strength", "lr"]].itertuples(index=False, name=None))
    assert setting == {pairs["FedMas explicit"].idxmax()}
    mean, interval = points(runs["accuracy"] - best_rates.judged("one_label", "TFedAvg", "updates"))
    assert f"at the best of its 70 pairs, adds {mean} {interval}" in text


def test_on_mnist_the_penalty_adds_nothing_early(text: str) -> None:
    rows = tables.matching("rates_mnist", {"partition": "one_label", "epochs": 5})
    keys = ["method", "parameter", "lr"]
    means = rows.fillna({"parameter": 0}).groupby(keys)["accuracy_at_updates"].mean()
    best = means.groupby("method").max()
    assert round(100 * (best["FedMas implicit"] - best["TFedAvg"])) == 0
    assert rows["seed"].nunique() == 2 and "nothing within 30 updates (two validation" in text


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


def test_the_setting_for_fifty_updates_is_a_bad_one_for_fifty_rounds() -> None:
    where = {"method": "FedMas implicit", "best_by": "updates"}
    assert round(percent("rated_digits", where, "accuracy_at_updates")) == 56
    end = percent("tiers_lasting", {"algorithm": "fedmas", "strength": 0.1, "lr": 0.4})
    assert round(end) == round(percent("rated_digits", where)) == 20


def test_for_fifty_rounds_the_weakest_penalty_of_the_grid_is_best() -> None:
    where = {"method": "FedMas softmax", "best_by": "rounds"}
    chosen = tables.matching("rated_digits", SETTING | where)["parameter"].unique().tolist()
    assert chosen == [min(best_rates.parameters("one_label", "FedMas softmax"))] == [10.0]
    ends = {"FedMas softmax": 10.0, "TFedAvg": None}
    stored = [
        percent("tiers_lasting", {"algorithm": name, "lr": 0.2828, "strength": strength})
        for name, strength in (("fedmas", 10.0), ("tfedavg", ""))
    ]
    rated = [percent("rated_digits", {"method": name, "best_by": "rounds"}) for name in ends]
    np.testing.assert_allclose(stored, rated, atol=0.2)


def points(gaps: pd.Series) -> tuple[str, str]:
    """The mean in points and its 95 % interval, as the chapter writes them."""
    found = t_interval(100 * gaps)
    interval = f"[{found.low:.1f}, {found.high:.1f}]".replace("-0.0", "0.0").replace("-", "−")
    return f"{found.mean:.1f} points", interval


def test_the_controls_of_turns_lead_fedavg_after_fifty_rounds(text: str) -> None:
    leads = {
        name: round(100 * best_rates.ahead("one_label", name).mean())
        for name in ("TFedAvg", "random groups", "FedSSO")
    }
    assert leads == {"TFedAvg": 8, "random groups": 7, "FedSSO": 5}
    on_validation = [
        round(100 * best_rates.top(best_rates.curve("one_label", name))[1])
        for name in ("TFedAvg", "random groups", "FedAvg")
    ]
    assert on_validation == [95, 93, 89]
    runs = best_rates.judged_runs("one_label", "random groups", "bytes").set_index("seed")
    assert runs["lr"].unique().tolist() == [0.2828]
    tiers = best_rates.judged("one_label", "TFedAvg", "rounds")
    mean, interval = points(tiers - runs["end_accuracy"])
    assert f"and {mean.removesuffix(' points')} {interval} if both have $\\eta=0.28$" in text
    curve = best_rates.curve("one_label", "TFedAvg")
    rates = [rate for rate in curve if rate > 0.2]
    assert [round(rate, 2) for rate in rates[:2]] == [0.28, 0.4]
    assert f"At 0.4 tiers have {100 * curve[rates[1]].mean():.0f} % (validation)" in text
    many = tables.read("many_rounds").set_index("seed")["accuracy"]
    mean, interval = points(many - tiers)
    assert f"ends {mean} *above* TFedAvg {interval}" in text
    few = tables.read("few_rounds").set_index("seed")["accuracy"]
    open_ = t_interval(best_rates.judged("one_label", "TFedAvg", "updates") - few)
    assert open_.low < -0.01 < 0.01 < open_.high
    mean, interval = points(
        best_rates.judged("one_label", "random groups", "updates")
        - best_rates.judged("one_label", "TFedAvg", "updates")
    )
    assert f"tiers have only 28 %, {mean} below random groups {interval}" in text
    alone = best_rates.ahead("one_label", "one client an update", "TFedAvg")
    mean, interval = points(alone)
    assert f"they are {mean} below it {interval}" in text


def test_what_is_left_of_a_label_in_the_stored_runs(text: str) -> None:
    memory = tables.read("tiers_memory")
    first = memory[(memory["method"] == "TFedAvg") & (memory["window"] == "first")]
    assert len(first) == 20
    assert f"its turn {100 * first['after_2'].mean():.0f} % of a label is left" in text


def test_what_the_penalty_adds_after_fifty_rounds_and_for_the_same_bytes(text: str) -> None:
    mean, interval = points(best_rates.ahead("one_label", "TFedAvg", "FedMas implicit", "rounds"))
    assert f"At 0.01 $\\Omega$ costs {mean} {interval}" in text
    weak = t_interval(
        100 * best_rates.ahead("one_label", "FedMas implicit 0.001", "TFedAvg", "rounds")
    )
    assert f"it adds {weak.mean:.2f} points [−{-weak.low:.2f}, {weak.high:.2f}]" in text
    for method, least in (("FedMas explicit", 0.001), ("FedMas implicit", 0.01)):
        runs = best_rates.judged_runs("one_label", method, "rounds")
        weakest = min(best_rates.parameters("one_label", method))
        assert runs["parameter"].unique().tolist() == [weakest] == [least]
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
