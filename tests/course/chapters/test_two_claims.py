"""Chapter 14: the two claims that the reader decides, and their numbers."""

from fedlab_core import compare
from fedlab_course.chapters.ch14_what_holds import exercises, worked
from fedlab_course.evidence import configs, judging, plans, tables
from tests.course.check.from_notebook import text_of


def _text() -> str:
    return text_of("14_what_holds.ipynb")


def test_the_worked_claims_get_the_stored_verdicts() -> None:
    groups = (
        ["000-1a", "fair-2b", "000-1b", "fair-2c"],
        ["002-3a", "fair-2q", "fair-2u", "fair-2t", "002-3f", "fair-3a", "002-3k"],
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
        late = [bool(plans.deviation(judging.stored()[row].statement)) for row in rows]
        assert ["†" in row[0] for row in table] == late
    assert (len({row[3] for row in table}), wanted.count("not kept")) == (5, 3)
    assert "Your `holm` leaves three dots open." in _text()
    interval = compare.t_interval(worked.differences("000-1a"))
    assert f"from {interval.low:.1f} to {interval.high:.1f} points" in _text()


def test_the_accuracies_of_scaffold_are_the_stored_ones() -> None:
    one = tables.matching("table1_digits", {"algorithm": "scaffold", "alpha": 0.3})
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "rounds", "method": "SCAFFOLD"}
    best = tables.matching("rated_digits", where)
    assert f"ends at {100 * one['end_accuracy'].mean():.1f} %" in _text()
    assert f"best rate, 0.2, at {100 * best['end_accuracy'].mean():.1f} %" in _text()
    assert set(best["lr"]) == {0.2}
    for step in ("explicit", "implicit"):
        end = tables.matching("rated_digits", where | {"method": f"FedMas {step}"})["end_accuracy"]
        assert f"both steps, explicit and implicit, end at {100 * end.mean():.1f} %" in _text()
    tiers_at_one = tables.matching(
        "table1_digits", {"algorithm": "fedmas", "alpha": 0.3, "strength": 0.01}
    )
    low = 100 * tiers_at_one["end_accuracy"].mean()
    assert f"FedMas goes from {low:.1f} to {100 * end.mean():.1f} %" in _text()
    tiers = (
        tables.matching("table1_digits", {"algorithm": "tfedavg", "alpha": 0.3}),
        tables.matching("rated_digits", where | {"method": "TFedAvg"}),
    )
    without = " and ".join(f"{100 * rows['end_accuracy'].mean():.1f}" for rows in tiers)
    assert f"Tiers without the penalty end at {without} %" in _text()
    gained = 100 * (best["end_accuracy"].mean() - one["end_accuracy"].mean())
    assert gained > 100 * end.mean() - low > 0
    assert "SCAFFOLD gains more from its best rate than FedMas" in _text()


def test_update_for_update_fedmas_is_far_below_at_one_rate_too() -> None:
    mean = judging.stored()["002-3e"].finding.mean
    assert f"at one rate ({100 * mean:.1f} points)".replace("-", "−") in _text()


def test_the_evidence_on_fedmas_above_scaffold_is_as_the_text_says() -> None:
    stored = judging.stored()
    findings = [stored[id].finding for id in ("002-3f", "fair-3a", "002-3k", "fair-2u")]
    assert [finding.n for finding in findings] == [10, 10, 6, 20]
    assert [finding.corrected for finding in findings] == [False] * 4
    assert not plans.deviation(stored["fair-3a"].statement)
    assert f"FedMas ends {-100 * findings[1].mean:.1f} points below SCAFFOLD" in _text()
    where = {"partition": "dirichlet_0.3", "epochs": 5, "best_by": "updates"}
    updates = [
        tables.matching("rated_digits", where | {"method": method})["server_updates"].mean()
        for method in ("FedMas implicit", "SCAFFOLD")
    ]
    assert updates[1] == 50
    assert round(updates[0] / 50) == 12
    one = tables.matching("table1_digits", {"algorithm": "fedmas", "alpha": 0.3})
    assert round(one["server_updates"].mean() / 50) == 13
    assert "makes twelve or thirteen server updates" in _text()
    assert round(50 / (updates[0] / 50)) == 4
    assert "equal updates compare about 4 rounds of FedMas with 50 of SCAFFOLD" in _text()


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
    assert f"at one rate, {mean:+.1f} [{low:.2f}, {high:.2f}] (*equivalent*)" in _text()
    mean, low, high = (
        100 * end for end in (best.finding.mean, best.finding.low, best.finding.high)
    )
    text = f"ends {-mean:.1f} points lower [{low:.1f}, {high:.1f}] (*lower*, †)"
    assert text.replace("-", "−") in _text()


def test_the_illustrative_curves_end_where_the_text_says() -> None:
    expected = {claim.id: claim.expected for claim in configs.read()}["000-1"]
    assert expected == "after 100 rounds .93, .87 and .69"
    assert "FedAvg ends at 69 %, FedProx at 87 % and SCAFFOLD at 93 %" in _text()
