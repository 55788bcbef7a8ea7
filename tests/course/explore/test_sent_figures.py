"""The figures on what is sent: two clients by hand, and the race against the library's methods."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Compressed
from fedlab_core.plots import describe
from fedlab_core.plots.colours import INK
from fedlab_course.chapters.ch12_what_is_sent import exercises, figures, ideas, race
from fedlab_course.check import own, registry
from fedlab_course.methods.forgetful import Forgetful

SHORT = {
    "rounds": 4,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 10,
    "lr": 0.05,
    "seed": 3,
    "progress": False,
}


@pytest.fixture(scope="module")
def small() -> tuple[fl.FederatedDataset, torch.nn.Module]:
    digits = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        digits.train.y, num_clients=10, labels_per_client=2, seed=3
    )
    fed = fl.FederatedDataset(digits, parts)
    return fed, fl.models.mlp(fed, seed=3)


def test_without_a_memory_the_arrows_cancel_and_with_all_entries_w_nears_the_optimum() -> None:
    dropped = figures.walk(exercises.send, 1, forgets=True)
    assert all((one.after == 0).all() for one in dropped)
    assert all(one.sent[:, 0] == pytest.approx([0.25, -0.25]) for one in dropped)
    whole = figures.walk(exercises.send, 2)
    expected = [(0.0, 1 - 0.9 ** (r + 1)) for r in range(figures.ROUNDS)]
    assert np.array([one.after for one in whole]) == pytest.approx(np.array(expected))
    given = [one.after for one in figures.walk(figures.largest, 1)]
    assert np.array(given) == pytest.approx(0)


def test_a_residual_grows_until_it_is_sent_and_nothing_is_lost() -> None:
    """0.1, 0.2, 0.3 > 0.25 is sent; then steps of 0.07, of 0.042 and of 0.0168. From then on 30
    steps of −0.0084 for a jump of −0.252, and 15 steps of 0.0168 for a jump back.
    """
    rounds = figures.walk(exercises.send, 1)
    fired = [i + 1 for i, one in enumerate(rounds) if one.sent[0][1]]
    assert fired == [3, 3 + 4, 7 + 6, 13 + 15, 28 + 30, 58 + 15]
    ends = [rounds[i - 1].after[1] for i in fired]
    assert ends == pytest.approx([0.3, 0.3 + 0.28, 0.58 + 0.252, 1.084, 0.832, 1.084])
    total = np.zeros(2)
    for one in rounds:
        total += (figures.RATE * (figures.MINIMA - one.w)).mean(0)
        kept = one.wanted - one.sent
        assert one.after + kept.mean(0) == pytest.approx(total)


def test_the_figures_of_two_clients_say_whose_code_they_run_on() -> None:
    mine = figures.kept(exercises.send)
    solution = registry.get("12-send")
    theirs = figures.kept(own.mark(solution.build(solution.solution_source)))
    assert mine.figure(round=3).layout.title.text == "Round 3, with your code"
    assert theirs.figure(round=3).layout.title.text == "Round 3, with the course's solution"
    assert "sent in these rounds: 3." in describe(mine.figure(round=5))
    assert "(0.00, 0.00). With it w is at (0.00, 0.30)" in describe(mine.figure(round=3))
    assert "w is at (0.00, 0.00)." in describe(figures.dropped().figure(round=9))
    assert "optimum is at (0, 1)" in describe(figures.opening())


@pytest.mark.parametrize("forgets", [False, True])
def test_the_readers_send_runs_as_the_library_compresses(small, forgets: bool) -> None:
    """One round of everybody. Of entries that are nearly equal the two may choose others."""
    fed, model = small
    short = SHORT | {"rounds": 1, "clients_per_round": 10}
    mine = fl.simulate(fed, model, race.Sending(exercises.send, 0.1, forgets), **short)
    other = (Forgetful if forgets else Compressed)(fl.FedAvg(), keep=0.1)
    library = fl.simulate(fed, model, other, **short)
    differs = (mine.params - library.params).abs() > 1e-5
    assert float(differs.double().mean()) < 0.02


def test_residuals_are_kept_for_each_client_unless_a_run_forgets(small) -> None:
    fed, model = small
    for forgets in (False, True):
        seen: list[float] = []

        def spy(move, residual, count, seen=seen):
            seen.append(float(np.abs(residual).sum()))
            return exercises.send(move, residual, count)

        short = SHORT | {"rounds": 2, "clients_per_round": 10}
        fl.simulate(fed, model, race.Sending(spy, 0.1, forgets), **short)
        assert seen[:10] == [0] * 10
        assert all(size == 0 for size in seen[10:]) == forgets


def test_uploads_are_charged_by_entries_with_indices_or_all_values(small, monkeypatch) -> None:
    fed, model = small
    monkeypatch.setattr(race, "TARGET", 0.0)  # reached at once
    values = sum(one.numel() for one in model.parameters())
    every = race.run(fed, model, fl.FedAvg(), **SHORT)
    assert every["megabytes"] == pytest.approx(3 * 2 * 4 * values / 1e6)
    tenth = race.run(fed, model, race.Sending(exercises.send, 0.1), **SHORT)
    count = round(0.1 * values)
    assert tenth["megabytes"] == pytest.approx(3 * (4 * values + 8 * count) / 1e6)
    assert tenth["share"] == pytest.approx(count / values)
    none = race.run(fed, model, exercises.Lazy(1e9), **SHORT)
    assert (none["share"], none["ever"]) == (0, 0)
    monkeypatch.setattr(race, "TARGET", 2.0)
    assert np.isnan(race.run(fed, model, fl.FedAvg(), **SHORT)["megabytes"])


def test_the_race_has_a_marker_for_each_run_and_a_cross_for_stored_seeds(small) -> None:
    fed, model = small
    figure = race.race(fed, model, exercises.send, exercises.Lazy(0.02), **SHORT)
    texts = [trace.text[0] for trace in figure.data if trace.text]
    names = "all entries|a tenth|lazy|a hundredth|a hundredth,<br>forgets"
    assert [note.text for note in figure.layout.annotations] == ["four bits"]
    assert texts == names.split("|")
    crosses = [trace for trace in figure.data if trace.error_x.array is not None]
    assert len(crosses) == 5 and all(cross.error_x.array[0] > 0 for cross in crosses)
    links = [trace for trace in figure.data if trace.mode == "lines"]
    ends = {(trace.x[0], trace.y[0]) for trace in figure.data if trace.text}
    assert len(links) == 4 and {(link.x[0], link.y[0]) for link in links} < ends
    assert figure.layout.title.text == "Two labels, with your code"
    marked = own.mark(type("Lazy", (exercises.Lazy,), {}))
    theirs = race.race(fed, model, exercises.send, marked(0.02), **SHORT)
    assert theirs.layout.title.text == "Two labels, with the course's solution"


def test_traffic_is_what_the_library_counts(small) -> None:
    fed, model = small
    rows = race.traffic(fed, model, 0.1, 4, **SHORT).layout.meta["table"]["rows"]
    values = sum(one.numel() for one in model.parameters())
    down = 4 * values / 1000
    up = [down, 8 * round(0.1 * values) / 1000, 8 * round(0.01 * values) / 1000]
    up.append((values / 2 + 4) / 1000)
    assert [row[1] for row in rows] == [f"{down:.1f}"] * 4
    assert [row[2] for row in rows] == [f"{size:.1f}" for size in up]


def test_the_budget_shows_four_settings_in_colour_and_the_chosen_one() -> None:
    for keep, epochs in ((1.0, 5), (0.01, 20)):
        figure = ideas.budget().figure(keep=keep, epochs=epochs)
        lines = [trace for trace in figure.data if trace.mode == "lines"]
        assert [trace.line.color == INK for trace in lines] == [False] * 4 + [True]
    assert "a hundredth, E = 20: 80 % after 11.0 MB" in describe(figure)
    assert "all entries, E = 20: 80 % after 12.0 MB" in describe(figure)
