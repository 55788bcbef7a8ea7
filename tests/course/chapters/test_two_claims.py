"""Chapter 14: the two claims that the reader decides, and their numbers."""

from fedlab_core import compare
from fedlab_course.chapters.ch14_what_holds import exercises, worked
from fedlab_course.check import questions
from fedlab_course.evidence import configs, judging, plans, tables
from tests.course.check.from_notebook import text_of


def _text() -> str:
    return text_of("14_what_holds.ipynb")


def test_the_worked_claims_get_the_stored_verdicts() -> None:
    groups = (
        ["000-1a", "fair-2b", "000-1b", "fair-2c"],
        ["002-3a", "fair-2q", "fair-2u", "fair-2t", "002-3f", "fair-3a", "002-3v", "002-3k"],
    )
    for rows in groups:
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
    assert (len({row[3] for row in table}), wanted.count("not kept")) == (5, 3)
    interval = compare.t_interval(worked.differences("000-1a"))
    assert f"from {interval.low:.1f} to {interval.high:.1f} points" in _text()


def test_both_claims_have_the_decision_that_their_rows_allow() -> None:
    """All rows of the first claim have a mark; on MNIST and CIFAR-10 no verdict is kept."""
    every = judging.stored()
    first = [every[id] for id in ("000-1a", "fair-2b", "000-1b", "fair-2c")]
    assert all(row.finding.corrected and plans.mark(row.statement) for row in first)
    assert [row.finding.verdict for row in first] == ["holds"] * 2 + ["equivalent"] * 2
    assert all(row.finding.high < 0 for row in first[2:])
    assert "with means below zero; only μ = 0.1 was run" in _text()
    large = [every[id].finding for id in ("002-3f", "fair-3a", "002-3v", "002-3k")]
    assert not any(finding.corrected for finding in large)
    assert [finding.n for finding in large] == [10, 10, 3, 10]
    assert "no verdict is kept; only one row has its CNN, with three seeds" in _text()
    assert questions.prediction("14-steps").decides and questions.prediction("14-flip").decides


def test_at_best_rates_both_steps_and_tiers_without_a_penalty_end_alike() -> None:
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "rounds"}
    judged = [
        tables.matching("rated_digits", where | {"method": method})["end_accuracy"]
        for method in ("FedMas explicit", "FedMas implicit", "TFedAvg")
    ]
    ends = {f"{100 * values.mean():.1f}" for values in judged}
    [end] = ends
    assert f"explicit and implicit, end at {end} %, and so do tiers" in _text()


def test_update_for_update_fedmas_is_far_below_at_one_rate_too() -> None:
    mean = judging.stored()["002-3e"].finding.mean
    assert f"at one rate, too, {100 * mean:.1f} points".replace("-", "−") in _text()


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
    assert "has twelve or thirteen server updates" in _text()
    assert round(50 / (updates[0] / 50)) == 4
    assert "about 4 rounds are compared with 50" in _text()


def test_one_rate_is_the_rate_of_the_text() -> None:
    for grid, rate in (
        ("drift_digits", 0.05),
        ("table1_digits", 0.05),
        ("table1_mnist", 0.01),
        ("table1_cifar10", 0.01),
    ):
        text = (configs.GRIDS / f"{grid}.toml").read_text(encoding="utf-8")
        assert f"\nlr = {rate}\n" in text
    assert "the same η, 0.05 on the digits, 0.01 on MNIST and CIFAR-10" in _text()


def test_for_equal_bytes_scaffold_has_little_lead_over_fedavg() -> None:
    one, best = (judging.stored()[id] for id in ("000-1e", "fair-2d"))
    assert not one.finding.corrected and not best.finding.corrected
    assert plans.deviation(best.statement) and not plans.deviation(one.statement)
    mean, low, high = (100 * end for end in (one.finding.mean, one.finding.low, one.finding.high))
    assert f"it ends {mean:.1f} points higher [{low:.2f}, {high:.2f}] (*equivalent*, ‡)" in _text()
    mean, low, high = (
        100 * end for end in (best.finding.mean, best.finding.low, best.finding.high)
    )
    text = f"at best rates {-mean:.1f} points lower [{low:.1f}, {high:.1f}] (*lower*, †)"
    assert text.replace("-", "−") in _text()


def test_the_illustrative_curves_end_where_the_text_says() -> None:
    expected = {claim.id: claim.expected for claim in configs.read()}["000-1"]
    assert expected == "after 100 rounds .93, .87 and .69"
    assert "FedAvg ends at 69 %, FedProx at 87 % and SCAFFOLD at 93 %" in _text()
