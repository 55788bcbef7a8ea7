"""Chapter 14: the two claims that the reader decides, and their numbers."""

from dataclasses import replace

import pandas as pd
import pytest
from scipy import special

from fedlab_core import compare
from fedlab_core.plots.colours import INK
from fedlab_course.chapters.ch14_what_holds import dragged, exercises, p_values, worked
from fedlab_course.check import questions
from fedlab_course.evidence import configs, judging, plans, tables
from tests.course.check.from_notebook import text_of


def _text() -> str:
    return text_of("14_what_holds.ipynb")


FIRST = ["000-1a", "fair-2b", "000-1f", "000-1b", "fair-2c", "000-1g"]
SECOND = ["002-3a", "fair-2q", "fair-2u", "fair-2t", "fair-3a", "fair-3f", "002-3v", "002-3k"]


def test_the_worked_claims_get_the_stored_verdicts() -> None:
    for rows in (FIRST, SECOND):
        figure = worked.claim("A", rows, exercises.verdict, exercises.holm)
        table = figure.layout.meta["table"]["rows"]
        stored = [judging.stored()[row].finding for row in rows]
        assert [row[3] for row in table] == [finding.verdict for finding in stored]
        kept = ["kept" if finding.corrected else "not kept" for finding in stored]
        is_open = [finding.verdict in judging.OPEN for finding in stored]
        wanted = ["–" if one else word for one, word in zip(is_open, kept, strict=True)]
        assert [row[4] for row in table] == wanted
        assert {judging.stored()[row].statement.margin for row in rows} == {0.01}
        marks = [plans.mark(judging.stored()[row].statement) for row in rows]
        assert [row[0][-1] if row[0][-1] in "†‡" else "" for row in table] == marks
    assert (len({row[3] for row in table}), wanted.count("not kept")) == (4, 4)
    assert [row[5] for row in table][:3] == ["p < 0.0001", "p < 0.0001", "p = 0.015"]
    interval = compare.t_interval(worked.differences("000-1a"))
    assert f"from {interval.low:.1f} to {interval.high:.1f} points" in _text()


@pytest.mark.parametrize("rows", [FIRST, SECOND])
def test_a_claim_is_bare_until_the_reader_has_a_verdict(rows: list[str]) -> None:
    """No word, no colour and no dot of a verdict is there before the reader's function."""
    bare = worked.claim("A", rows)
    assert {trace.marker.color for trace in bare.data} == {INK}
    assert {trace.marker.symbol for trace in bare.data} == {"line-ns-open"}
    shown = " ".join([bare.layout.title.text, *(note.text for note in bare.layout.annotations)])
    shown += str(bare.layout.meta)
    assert not any(f" {name}" in shown or f">{name}" in shown for name in judging.NAMES.values())
    assert "kept" not in shown and "solution" not in shown
    words = [note.text.split("<br>")[0] for note in bare.layout.annotations]
    assert words == [f"{judging.stored()[row].finding.n} seeds" for row in rows]


def test_the_readers_verdict_fills_the_same_figure_and_keeps_nothing_open() -> None:
    bare = worked.claim("A", SECOND)
    filled = worked.claim("A", SECOND, lambda low, high, delta: "higher")
    assert [trace.x for trace in bare.data] == [trace.x for trace in filled.data]
    assert {note.text.split("<br>")[0] for note in filled.layout.annotations} == {"<b>higher</b>"}
    table = filled.layout.meta["table"]
    assert [row[3] for row in table["rows"]] == ["higher"] * len(SECOND)
    assert len(table["columns"]) == 4
    assert "with your code" in filled.layout.title.text


def test_both_claims_have_the_decision_that_their_rows_allow() -> None:
    """The rows on the digits have a mark; by rounds no verdict is kept on MNIST and CIFAR-10."""
    every = judging.stored()
    first = [every[id] for id in FIRST]
    assert [row.finding.verdict for row in first] == ["holds"] * 3 + ["equivalent"] * 3
    assert [bool(plans.mark(row.statement)) for row in first] == [True, True, False] * 2
    assert [row.finding.corrected for row in first] == [True] * 5 + [False]
    assert all(row.finding.high < 0 for row in first[3:])
    assert (
        "None of it: the last three intervals are below zero"
        in (questions.prediction("14-steps").options["none"])
    )
    assert "is **equivalent**, with means below zero" in _text()
    p = first[-1].finding.p
    assert f"all rows of claim 1 but *FedProx − FedAvg* on MNIST (p = {p:.3f})" in _text()
    large = [every[id].finding for id in ("002-3f", "fair-3a", "002-3v", "002-3k")]
    assert not any(finding.corrected or finding.verdict == "holds" for finding in large)
    assert [finding.n for finding in large] == [10, 10, 6, 10]
    assert all(finding.high < 0 for finding in large[1:])  # those that the page shows
    assert "By rounds no verdict is kept on MNIST and CIFAR-10." in _text()
    second = [every[id].finding for id in SECOND]
    assert [sum(row.high < 0 for row in second), sum(row.low > 0 for row in second)] == [5, 1]
    below = questions.prediction("14-flip").options["below"]
    assert "five intervals are below zero and one is above" in below
    assert max(row.n for row in second) == second[0].n
    assert questions.prediction("14-steps").decides and questions.prediction("14-flip").decides


def test_on_mnist_by_updates_fedmas_is_the_opposite_kept_and_without_a_mark() -> None:
    every = judging.stored()
    for id in ("fair-3f", "002-3j"):
        row = every[id]
        assert (row.finding.verdict, row.finding.corrected, row.finding.n) == ("opposite", True, 10)
        assert not plans.mark(row.statement)
    mean = f"{100 * every['002-3j'].finding.mean:.1f} points".replace("-", "−")
    start = "On MNIST, by updates, it is the **opposite** without a mark (at one rate, too, "
    assert f"{start}{mean})" in _text()
    assert every["002-3f"].finding.verdict == "undecided"
    cnn = every["002-3z"].finding
    assert (cnn.verdict, cnn.corrected) == ("opposite", False)
    bytes_ = every["fair-3g"].finding
    assert (bytes_.verdict, bytes_.corrected) == ("opposite", False)


def test_with_other_settings_on_mnist_fedprox_is_below_fedavg() -> None:
    row = judging.stored()["fair-3j"]
    assert (row.finding.verdict, row.finding.corrected) == ("opposite", True)
    assert not plans.mark(row.statement)
    mean = f"{100 * row.finding.mean:.1f} points".replace("-", "−")
    assert f"best rates) it is the *opposite*, {mean}, kept" in _text()


def test_the_sign_of_fedprox_minus_fedavg_would_be_kept_at_best_rates_only() -> None:
    findings = {id: row.finding for id, row in judging.stored().items()}
    signs = {}
    for id in ("fair-2c", "000-1b"):
        values = worked.differences(id)
        error = values.std(ddof=1) / len(values) ** 0.5
        p = float(special.stdtr(len(values) - 1, values.mean() / error))
        changed = judging.corrected(findings | {id: replace(findings[id], p=p)})
        signs[id] = p, changed[id].corrected
    assert (round(signs["fair-2c"][0] * 1e9), signs["fair-2c"][1]) == (4, True)
    assert (round(signs["000-1b"][0], 4), signs["000-1b"][1]) == (0.0003, False)
    assert "*lower* would pass at best rates (p = 4·10⁻⁹)" in _text()
    assert "but not at one rate (p = 0.0003)" in _text()


def test_in_the_rows_of_the_first_claim_fedprox_has_one_proximal_term() -> None:
    every = judging.stored()
    sides = [
        side for id in FIRST for side in (*every[id].statement.plus, *every[id].statement.minus)
    ]
    prox = [side for side in sides if "prox" in str(side).lower()]
    assert len(prox) == 6
    assert all(side.get("mu", 0.1) == 0.1 for side in prox)
    assert {side["method"] for side in prox if "method" in side} == {"FedProx 0.1"}
    assert "FedProx has μ = 0.1" in _text()


def test_bonferroni_keeps_the_same_verdicts_on_both_claims() -> None:
    every = judging.stored()
    limit = dragged.LEVEL / len(every)
    shown = [*FIRST, *SECOND, "fair-3j", "002-3e", "002-3j"]
    assert all((every[id].finding.p <= limit) == every[id].finding.corrected for id in shown)
    assert "Bonferroni's limit keeps the same verdicts on both claims" in _text()
    figure = p_values.ordered(exercises.holm)
    notes = [note.text for note in figure.layout.annotations]
    kept = sum(row.finding.corrected for row in every.values())
    strict = sum(row.finding.p <= limit for row in every.values())
    assert strict < kept
    assert figure.layout.title.text.startswith(f"{kept} of ")
    assert f"Bonferroni keeps {strict}" in notes


def test_a_weaker_verdict_would_pass_where_the_opposite_is_not_kept() -> None:
    findings = {id: row.finding for id, row in judging.stored().items()}
    cifar = findings["002-3k"]
    values = worked.differences("002-3k")
    error = values.std(ddof=1) / cifar.n**0.5
    weaker = float(special.stdtr(cifar.n - 1, -abs(values.mean()) / error))
    assert (cifar.verdict, cifar.corrected) == ("opposite", False)
    assert judging.corrected(findings | {"002-3k": replace(cifar, p=weaker)})["002-3k"].corrected
    assert f"the weaker *lower* (p = {weaker:.4f}) would just pass" in _text()
    stop = min(finding.p for finding in findings.values() if not finding.corrected)
    assert f"stops near {stop:.4f}" in _text()


def test_at_best_rates_both_steps_and_tiers_without_a_penalty_end_alike() -> None:
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "rounds"}
    judged = [
        tables.matching("rated_digits", where | {"method": method})["end_accuracy"]
        for method in ("FedMas explicit", "FedMas implicit", "TFedAvg")
    ]
    ends = {f"{100 * values.mean():.1f}" for values in judged}
    [end] = ends
    assert f"both steps, explicit and implicit, end at {end} %, and so do tiers" in _text()


def test_update_for_update_fedmas_is_far_below_at_one_rate_too() -> None:
    mean = judging.stored()["002-3e"].finding.mean
    assert f"(†; at one rate, too, {100 * mean:.1f} points, ‡)".replace("-", "−") in _text()


def test_equal_updates_compare_four_rounds_with_fifty() -> None:
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "updates"}
    updates = [
        tables.matching("rated_digits", where | {"method": method})["server_updates"].mean()
        for method in ("FedMas implicit", "SCAFFOLD")
    ]
    assert updates[1] == 50
    assert round(updates[0] / 50) == 12
    one = tables.matching("table1_digits", {"algorithm": "fedmas", "alpha": 0.3})
    assert round(one["server_updates"].mean() / 50) == 13
    assert round(50 / (updates[0] / 50)) == 4
    best = tables.matching("rated_digits", where | {"method": "FedMas implicit"})
    a_round = pd.concat([best["server_updates"], one["server_updates"]]) / 50
    assert (a_round.min(), a_round.max()) == (5, 24)
    assert "has twelve or thirteen server updates in the mean, from 5 to 24" in _text()
    assert (round(50 / a_round.max()), 50 / a_round.min()) == (2, 10)
    assert "2 to 10 rounds are compared with 50" in _text()


def test_one_rate_is_the_rate_of_the_text() -> None:
    for grid, rate in (
        ("drift_digits", 0.05),
        ("drift_mnist", 0.05),
        ("table1_digits", 0.05),
        ("table1_mnist", 0.01),
        ("table1_cifar10", 0.01),
    ):
        text = (configs.GRIDS / f"{grid}.toml").read_text(encoding="utf-8")
        assert f"\nlr = {rate}\n" in text
    assert "One rate is η = 0.05, but 0.01 on MNIST and CIFAR-10 in claim 2" in _text()


def test_the_illustrative_curves_end_where_the_text_says() -> None:
    expected = {claim.id: claim.expected for claim in configs.read()}["000-1"]
    assert expected == "after 100 rounds .93, .87 and .69"
    assert "FedAvg ends at 69 %, FedProx at 87 % and SCAFFOLD at 93 %" in _text()
