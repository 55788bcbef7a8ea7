"""``compare``: validation samples, best rates, and paired differences."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.plots.style import Look
from fedlab_course import compare, comparison, comparison_figures
from fedlab_course.comparison import Comparison

RATES = (0.1, 0.3)
WORK = {"rounds": 2, "clients_per_round": 2, "local_steps": 2, "batch_size": None}


def data(samples: int = 40) -> Dataset:
    """Two labels, told apart by the sign of the first number."""
    rng = np.random.default_rng(0)
    y = torch.tensor(np.arange(samples) % 2)
    x = torch.tensor(rng.normal(size=(samples, 3)), dtype=torch.float32)
    x[:, 0] = x[:, 0].abs() * (2 * y - 1)
    return Dataset("signs", Split(x, y), Split(x[:10], y[:10]), 2)


def thirds(given: Dataset, seed: int) -> fl.FederatedDataset:
    order = np.random.default_rng(seed).permutation(len(given.train.y))
    return fl.FederatedDataset(given, [part for part in np.array_split(order, 3)])


def judged(mine: fl.Algorithm, baseline: fl.Algorithm, **changes) -> Comparison:
    given = {"data": data(), "model": fl.models.softmax_regression, "split": thirds}
    return compare(mine, baseline, **given | {"rates": RATES, "seeds": (0, 1)} | WORK | changes)


class Still(fl.Algorithm):
    """It never moves, so it ends where it starts."""

    def aggregate(self, server, updates):
        return server.params


class Away(fl.Algorithm):
    """It diverges at every rate above 0.2."""

    def aggregate(self, server, updates):
        return updates.params.mean(0) * (math.inf if server.lr > 0.2 else 1.0)


def test_validation_samples_are_a_fifth_of_each_label_and_in_no_other_part() -> None:
    given = data(50)
    rows = {tuple(row) for row in given.train.x.tolist()}
    kept = comparison.held_out(given, 3)
    parts = [{tuple(row) for row in split.x.tolist()} for split in (kept.train, kept.test)]
    assert (len(kept.train.y), len(kept.test.y)) == (40, 10)
    assert parts[0] | parts[1] == rows and not parts[0] & parts[1]
    assert torch.bincount(kept.test.y).tolist() == [5, 5]
    assert not comparison.held_out(given, 4).test.x.equal(kept.test.x)


def test_the_test_images_choose_no_rate() -> None:
    """With the labels of the test images swapped, the same rates are chosen."""
    given = data()
    swapped = Dataset("signs", given.train, Split(given.test.x, 1 - given.test.y), 2)
    first, second = (judged(fl.FedProx(1.0), fl.FedAvg(), data=one) for one in (given, swapped))
    assert first.validated.equals(second.validated) and first.rates == second.rates
    assert not first.ends.equals(second.ends)


def test_ideas_are_chosen_without_the_test_images() -> None:
    """On validation samples the labels of the test images change nothing. A seed has samples of its
    own.
    """
    given = data()
    swapped = Dataset("signs", given.train, Split(given.test.x, 1 - given.test.y), 2)
    first, second = (
        judged(fl.FedProx(1.0), fl.FedAvg(), data=one, on="validation") for one in (given, swapped)
    )
    assert first.ends.equals(second.ends) and first.rates == second.rates
    fed = thirds(comparison.held_out(given, 1), 1)
    model = fl.models.softmax_regression(fed, seed=1)
    work = {**WORK, "lr": first.rates["FedAvg"], "seed": 1, "progress": False}
    alone = fl.simulate(fed, model, fl.FedAvg(), **work)
    assert first.ends.loc[1, "FedAvg"] == alone.frame["test_accuracy"].iloc[-1]
    assert "on validation samples" in first.words()
    assert "validation" in first.figure().layout.title.text


def test_each_runs_at_its_best_rate_on_the_seeds_that_judge() -> None:
    found = judged(fl.FedProx(1.0), fl.FedAvg())
    assert list(found.ends.index) == [0, 1] and list(found.validated.index) == list(RATES)
    for name, rule in (("FedProx(mu=1.0)", fl.FedProx(1.0)), ("FedAvg", fl.FedAvg())):
        assert found.rates[name] == found.validated[name].idxmax()
        fed = thirds(data(), 1)
        model = fl.models.softmax_regression(fed, seed=1)
        work = {**WORK, "lr": found.rates[name], "seed": 1, "progress": False}
        alone = fl.simulate(fed, model, rule, **work)
        assert found.ends.loc[1, name] == alone.frame["test_accuracy"].iloc[-1]


def test_an_algorithm_less_its_copy_under_another_name_is_zero() -> None:
    class Mine(fl.FedAvg):
        pass

    found = judged(Mine(), fl.FedAvg())
    assert found.differences.tolist() == [0.0, 0.0]
    assert found.verdict == "equivalent"


def known(differences: list[float], margin: float = 0.01) -> Comparison:
    n = len(differences)
    ends = pd.DataFrame({"Mine": 0.5 + np.array(differences), "FedAvg": [0.5] * n})
    table = pd.DataFrame(
        {"Mine": [0.4, 0.6, 0.5], "FedAvg": [0.4, 0.5, 0.6]}, index=[0.1, 0.2, 0.4]
    )
    return Comparison("Mine", "FedAvg", table, {"Mine": 0.2, "FedAvg": 0.4}, ends, margin)


def test_the_interval_is_that_of_paired_differences() -> None:
    """Differences 1, 2, 3, 4, 5 points: mean 3, s = √2.5, t = 2.776 with four degrees."""
    found = known([0.01, 0.02, 0.03, 0.04, 0.05])
    half = 0.02776445 * math.sqrt(2.5) / math.sqrt(5)
    assert found.interval.mean == pytest.approx(0.03)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (0.03 - half, 0.03 + half), abs=1e-8
    )
    assert found.verdict == "holds"  # 0.03 − 0.0196 > 0.01


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([-0.05, -0.04, -0.045], "opposite"),
        ([0.001, -0.001, 0.0005], "equivalent"),
        ([0.03, -0.03, 0.01], "undecided"),
        ([0.009, 0.012, 0.011, 0.012], "higher"),
    ],
)
def test_the_verdicts_are_those_of_the_course(differences: list[float], verdict: str) -> None:
    assert known(differences).verdict == verdict


def test_words_name_rates_the_interval_and_an_edge() -> None:
    words = known([0.01, 0.02, 0.03, 0.04, 0.05]).words()
    assert "Mine at η = 0.2 and FedAvg at η = 0.4" in words
    assert "+3.0 points [+1.0, +5.0]" in words and "δ = 1: holds" in words
    assert "on test samples" in words
    assert "The best rate of FedAvg lies at the edge" in words and "Mine lies" not in words


def test_a_rate_at_which_a_run_diverges_is_not_chosen() -> None:
    found = judged(Away(), fl.FedAvg())
    assert np.isnan(found.validated.loc[0.3, "Away"]) and found.rates["Away"] == 0.1


def test_without_a_rate_that_works_it_says_so() -> None:
    with pytest.raises(ValueError, match="Away diverged at every rate; give smaller ones"):
        judged(Away(), fl.FedAvg(), rates=(0.3, 0.4))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds": (0,)}, r"seeds=\[0\]: must be two or more different seeds"),
        ({"choosing": (1,)}, "a seed that chose a rate must not judge it"),
        ({"rates": ()}, "one or more different learning rates"),
        ({"rates": (0.1, 0.1)}, "one or more different learning rates"),
        ({"rates": (-0.1,)}, "rates"),
        ({"lr": 0.1}, "lr=0.1: compare sets it; give rates in its place"),
        ({"seed": 3}, "seed=3: compare sets it; give seeds in its place"),
        ({"margin": -1.0}, "margin"),
        ({"on": "train"}, "on='train': must be one of 'test', 'validation'"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_run(monkeypatch, changes, said) -> None:
    monkeypatch.setattr(fl, "simulate", lambda *args, **more: pytest.fail("it trains"))
    with pytest.raises(ValueError, match=said):
        judged(Still(), fl.FedAvg(), **changes)


def test_two_algorithms_need_two_names_and_an_instance() -> None:
    with pytest.raises(ValueError, match="both are called FedAvg"):
        judged(fl.FedAvg(), fl.FedAvg())
    with pytest.raises(ValueError, match="with its brackets"):
        judged(fl.FedAvg, fl.FedAvg())


def test_the_figures_show_every_seed_the_band_and_the_best_rates() -> None:
    found = known([0.01, 0.02, 0.03, 0.04, 0.05])
    dots, mean = found.figure().data
    assert list(dots.x) == pytest.approx([1, 2, 3, 4, 5]) and list(mean.x) == pytest.approx([3])
    (band,) = (shape for shape in found.figure().layout.shapes if shape.type == "rect")
    assert (band.x0, band.x1) == (-1, 1)
    rings = [trace for trace in found.over_rates().data if trace.name.endswith("chosen rate")]
    assert [ring.x[0] for ring in rings] == [0.2, 0.4]
    for figure in (found.figure(), found.over_rates()):
        assert fl.plots.describe(figure) and len(figure.layout.title.text) <= 45


def test_a_run_less_itself_is_the_line_at_zero() -> None:
    fed = thirds(data(), 0)
    model = fl.models.softmax_regression(fed, seed=0)
    run = fl.simulate(fed, model, fl.FedAvg(), **WORK, lr=0.1, progress=False)
    still = fl.simulate(fed, model, Still(), **WORK, lr=0.1, progress=False)
    figure = comparison_figures.less(("FedAvg", run), {"again": run, "still": still}, title="Less")
    gap = 100 * (still.frame.test_accuracy - run.frame.test_accuracy)
    assert list(figure.data[0].y) == [0, 0] and list(figure.data[1].y) == pytest.approx(
        gap.tolist()
    )
    assert {note.text for note in figure.layout.annotations} == {"FedAvg", "again", "still"}
    green = {"still": Look("green", "dash", "circle")}
    given = comparison_figures.less(("FedAvg", run), {"still": still}, title="Less", given=green)
    assert given.data[0].line.color == "green" and given.data[0].line.dash == "dash"


def test_names_at_the_ends_do_not_touch() -> None:
    figure = comparison_figures.new_figure(title=None, x_title="", y_title="")
    ends = {"a": (1.0, 0.5), "b": (1.0, 0.5), "c": (1.0, 0.49)}
    comparison_figures.name_ends(figure, ends, dict.fromkeys(ends, "black"), 1.0)
    places = sorted(300 * note.y + note.yshift for note in figure.layout.annotations)
    assert min(np.diff(places)) >= 17.9
    led = comparison_figures.new_figure(title=None, x_title="", y_title="")
    comparison_figures.name_ends(led, ends, dict.fromkeys(ends, "black"), 1.0, leader=20)
    assert [note.ay for note in led.layout.annotations] == [
        -note.yshift for note in figure.layout.annotations
    ]
    assert all(note.showarrow is None and note.ax == 20 for note in led.layout.annotations)


def test_a_number_that_rounds_to_zero_keeps_its_sign_by_a_second_decimal() -> None:
    """±0.0003 around the mean of each row: −0.04 and, exactly, zero points."""
    values = {"below": [-0.0001, -0.0004, -0.0007], "zero": [-0.0003, 0.0, 0.0003]}
    figure = comparison_figures.differences(values, margin=0.01, title="signs")
    below, zero = figure.layout.meta["table"]["rows"]
    assert below[1] == "-0.04"
    assert zero[1] == "0.00"


def test_grouped_differences_have_a_heading_a_group_and_dots_for_each_name() -> None:
    """Means of 2 points in the first row and −1 in the last; the dots lie on rows of their own."""
    groups = {
        "first": {"less A": [0.01, 0.02, 0.03], "less B": [0.0, 0.0, 0.03]},
        "second": {"less A": [-0.02, 0.0, -0.01]},
    }
    figure = comparison_figures.grouped_differences(groups, margin=0.01, title="groups")
    rows = figure.layout.meta["table"]["rows"]
    assert [row[:3] for row in rows] == [
        ["first", "less A", "+2.0"],
        ["first", "less B", "+1.0"],
        ["second", "less A", "-1.0"],
    ]
    assert [list(trace.y) for trace in figure.data[::2]] == [[1.0] * 3, [2.0] * 3, [4.0] * 3]
    texts = figure.layout.yaxis.ticktext
    assert [text for text in texts if "<b>" in text] == ["<b>first</b>", "<b>second</b>"]
    assert len(texts) == 5 and texts[1].startswith("less A<br>+2.0 [")
