"""Chapter 8: its exercise FedDyn, its questions to every algorithm, its figures and numbers.

``test_feddyn_parts.py`` has the closed forms of FedDyn and its halves, and
``test_feddyn_at_best_rates.py`` their races.
"""

from math import comb
from typing import ClassVar

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course import compare, comparison_figures
from fedlab_course.chapters.ch08_your_own_algorithm import figures, repeatable
from fedlab_course.chapters.ch08_your_own_algorithm.variants import FedDynInTurn
from fedlab_course.check import on_quadratics, own, registry
from fedlab_course.evidence import best_rates, configs, judging
from fedlab_course.experiments.studies.learning_rates import ON_DIGITS
from fedlab_course.methods.feddyn_halves import FedDynServer
from tests.course.check.from_notebook import text_of
from tests.support import blobs, limit, quadratics, run, scalar_model

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -2.0])


@pytest.fixture(scope="module")
def mine():
    """The course's Mine."""
    exercise = registry.get("08-mine")
    return exercise.build(exercise.solution_source)


@pytest.fixture(scope="module")
def text():
    """The Markdown of the chapter."""
    return text_of("08_your_own_algorithm.ipynb")


@pytest.fixture(scope="module")
def my_feddyn():
    exercise = registry.get("08-feddyn")
    return exercise.build(exercise.solution_source)


def test_the_solution_is_the_librarys_feddyn(my_feddyn) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "rounds": 5}
    ours, theirs = (
        run(fed, model, rule(0.5), **work).history for rule in (my_feddyn, fl.algorithms.FedDyn)
    )
    torch.testing.assert_close(ours.params, theirs.params, rtol=0, atol=1e-12)
    assert ours.frame[["bytes_up", "bytes_down"]].equals(theirs.frame[["bytes_up", "bytes_down"]])


class First(fl.Algorithm):
    """It depends on the order of clients."""

    def aggregate(self, server, updates):
        return updates.params[0]


class Shrinking(fl.Algorithm):
    """It counts its rounds in a list of the class, which no checkpoint holds."""

    seen: ClassVar[list[int]] = []

    def aggregate(self, server, updates):
        self.seen.append(server.round)
        return updates.weighted_mean() * 0.9 ** len(self.seen)


def test_the_three_questions(mine, my_feddyn) -> None:
    for make in (mine, lambda: my_feddyn(0.1)):
        assert all(repeatable.answers(make).values())
    assert not repeatable.survives_a_checkpoint(Shrinking)
    assert repeatable.answers(First) == {
        "engines agree": True,
        "order is free": False,
        "survives a checkpoint": True,
    }


class InTwoParts(fl.Algorithm):
    """Its second half of the clients starts from the model of the first."""

    def cohorts(self, server):
        cohort = server.uniform_cohort()
        yield from np.array_split(cohort, 2)


class OneByOne(fl.Algorithm):
    """A uniform cohort, one client at a time."""

    def cohorts(self, server):
        for client in server.uniform_cohort():
            yield np.array([client])


class Drawn(fl.Algorithm):
    """A cohort drawn with random numbers of its own."""

    def cohorts(self, server):
        draws = server.stream("any name")
        yield np.sort(draws.choice(server.num_clients, size=2, replace=False))


@pytest.mark.parametrize("kind", [InTwoParts, OneByOne, Drawn])
def test_a_sound_idea_may_depend_on_the_order(kind, text) -> None:
    assert list(repeatable.answers(kind).values()) == [True, False, True]
    assert "Several cohorts in a round, or random draws, may fail this" in text


def test_a_memory_outside_the_state_fails_the_checkpoint_alone() -> None:
    class Forgetful(fl.Algorithm):
        """As in the chapter."""

        def aggregate(self, server, updates):
            move = updates.weighted_mean() - server.params
            server.last_step = move + getattr(server, "last_step", 0) / 2
            return server.params + server.last_step

    assert list(repeatable.answers(Forgetful).values()) == [True, True, False]


def test_in_turn_asks_everybody_once_before_anybody_twice() -> None:
    class Asked(FedDynInTurn):
        def aggregate(self, server, updates):
            asked.append(updates.clients.tolist())
            return super().aggregate(server, updates)

    asked: list[list[int]] = []
    run(quadratics([1.0] * 5, range(5)), scalar_model(), Asked(1.0), rounds=5, clients_per_round=2)
    assert asked == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]


def test_mine_as_shipped_keeps_half_of_its_last_step(mine) -> None:
    """One client, f(w) = (w − 1)², one step of η = 0.1 a round: the move is −0.2 (w − 1)."""
    w = 2.0
    last = 0.0
    expected = []
    for _ in range(6):
        last = -0.2 * (w - 1) + last / 2
        w = w + last
        expected.append(w)
    work = {"rounds": 6, "local_steps": 1}
    assert on_quadratics.path(mine, [], [2.0], [1.0], work) == pytest.approx(expected)


def test_mine_without_memory_is_fedavg(mine) -> None:
    """On the two clients, and on the images of a small federation with a sampled cohort."""
    work = {"rounds": 20, "local_steps": 10, "lr": 0.05}
    on_two = (figures.A, figures.B, work)
    ours = on_quadratics.path(mine, [0.0], *on_two)
    assert ours == pytest.approx(on_quadratics.path(fl.FedAvg, [], *on_two), abs=1e-12)
    fed = blobs((3, 17, 8, 30))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"rounds": 4, "clients_per_round": 2, "local_steps": 3}
    first, second = (
        run(fed, model, rule, **work).history.params for rule in (mine(0.0), fl.FedAvg())
    )
    torch.testing.assert_close(first, second, rtol=0, atol=1e-12)


def test_mine_as_shipped_stops_where_fedavg_stops(mine) -> None:
    work = {"rounds": 200, "start": 4.0, "lr": 0.1, "local_steps": 7}
    fed = quadratics(A, B)
    found, fedavg = (limit(fed, one, **work) for one in (mine(), fl.FedAvg()))
    assert found == pytest.approx(fedavg, abs=1e-8)


def test_the_figure_of_paths_ends_at_the_optimum_of_the_two_clients() -> None:
    """FedDyn stops at Σ a_k b_k / Σ a_k = 3/4, and FedAvg at Σ s_k b_k / Σ s_k."""
    rules = {"FedAvg": fl.FedAvg(), "FedDyn": fl.algorithms.FedDyn(1.0)}
    figure = figures.paths(rules, title="Paths")
    ends = {trace.name: trace.y[-1] for trace in figure.data}
    s = 1 - (1 - 0.05 * np.array([1.0, 3.0])) ** 10
    assert ends["FedDyn"] == pytest.approx(0.75, abs=1e-5)
    assert ends["FedAvg"] == pytest.approx(s[1] / s.sum(), abs=1e-6)
    assert {note.text for note in figure.layout.annotations} == {"optimum", *rules}
    assert all(trace.y[0] == 2.0 for trace in figure.data if trace.name in rules)


def test_names_beside_paths_are_in_the_order_of_the_ends_and_apart() -> None:
    rules = {"FedAvg": fl.FedAvg(), "FedProx": fl.FedProx(3.0), "FedDyn": fl.algorithms.FedDyn(3.0)}
    notes = figures.paths(rules, title="Paths").layout.annotations
    low, high = figures._SEEN
    heights = [note.y * figures._PLOT / (high - low) - note.ay for note in notes]
    assert {note.ax for note in notes} == {comparison_figures.LEADER}
    assert [note.text for note in notes] in (
        ["optimum", "FedDyn", "FedProx", "FedAvg"],
        ["FedDyn", "optimum", "FedProx", "FedAvg"],
    )
    assert np.all(np.diff(heights) <= -comparison_figures._LABEL + 1e-9)


def test_feddyn_is_slow_for_the_smallest_and_the_largest_strength() -> None:
    arrivals = []
    for mu in (0.3, 1.0, 3.0, 10.0):
        path = on_quadratics.path(fl.algorithms.FedDyn, [mu], figures.A, figures.B, figures._WORK)
        far = [round for round, w in enumerate(path) if abs(w - figures.OPTIMUM) > 0.01]
        arrivals.append(far[-1])
    assert min(arrivals[0], arrivals[3]) > 2 * max(arrivals[1], arrivals[2])


def test_where_mine_stops_is_compared_with_what_its_author_says(mine) -> None:
    """The course's Mine stops where FedAvg stops, at Σ s_k b_k / Σ s_k."""
    s = 1 - (1 - 0.05 * np.array([1.0, 3.0])) ** 10
    said = s[1] / s.sum()
    figure = figures.stops(mine, said, title="Mine")
    level = next(trace for trace in figure.data if "you say" in trace.name)
    assert list(level.y) == [said, said]
    assert figures.stops_at(mine, said) and not figures.stops_at(mine, 0.75)
    assert not figures.stops_at(mine, ...)
    named = figures.stops(mine, ..., title="Mine").data
    assert not any("Mine stops here" in trace.name for trace in named)

    class Swinging(fl.Algorithm):
        def aggregate(self, server, updates):
            return torch.full_like(server.params, said + 0.1 * (-1) ** server.round)

    assert not figures.stops_at(Swinging, said)


def test_without_an_answer_the_courses_mine_has_the_level_of_the_course() -> None:
    ours = own.mark(type("Mine", (fl.FedAvg,), {"__init__": lambda self, strength=0.5: None}))
    figure = figures.stops(ours, ..., title="Mine")
    level = next(trace for trace in figure.data if trace.name == "the course says: Mine stops here")
    assert level.y[0] == pytest.approx(0.6668, abs=5e-5)
    assert figures.stops_at(ours, ...)


def test_paths_that_begin_above_the_picture_say_so() -> None:
    def notes(seen):
        drawn = figures.paths({"FedAvg": fl.FedAvg()}, title="Paths", seen=seen)
        return [note.text for note in drawn.layout.annotations if "start" in note.text]

    assert notes((0.5, 1.0)) == ["↑ the paths start at w = 2"]
    assert notes((-0.2, 2.1)) == []


def test_a_path_that_leaves_the_picture_is_said_to_run_away() -> None:
    """One step with η = 0.05 from an offset that pushes w up by 1 in each of ten steps a round.

    The other path leaves the picture and comes back.
    """

    class Away(fl.Algorithm):
        def correction(self, server, client):
            return fl.Correction(offset=torch.full_like(server.params, -20.0))

        def aggregate(self, server, updates):
            return 3 * updates.params.mean(0)

    class Swinging(fl.Algorithm):
        def aggregate(self, server, updates):
            return updates.params.mean(0) - 5 * (server.round == 2)

    figure = figures.paths({"Away": Away(), "back": Swinging()}, title="Paths")
    notes = {note.text: note for note in figure.layout.annotations}
    assert notes["Away runs away"].y == 0.97
    assert "back" in notes
    assert len(figure.data[0].y) < 61
    assert len(figure.data[1].y) == 61

    class Below(Away):
        def aggregate(self, server, updates):
            return -super().aggregate(server, updates)

    figure = figures.paths({"Below": Below()}, title="Paths")
    (note,) = (one for one in figure.layout.annotations if one.text == "Below runs away")
    assert note.y == 0.03 and figure.data[0].y[-1] < figures._SEEN[0]


def test_mine_is_fedavgm_with_half_of_its_memory(mine) -> None:
    work = {"rounds": 6}
    ours = on_quadratics.path(mine, [], A, B, work)
    theirs = on_quadratics.path(fl.algorithms.FedAvgM, [0.5], A, B, work)
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_feddyn_reaches_the_optimum_in_the_figure_for_every_strength_shown() -> None:
    work = {"rounds": 60, "local_steps": 10, "lr": 0.05}
    for mu in (0.3, 1.0, 3.0, 10.0):
        path = on_quadratics.path(fl.algorithms.FedDyn, [mu], figures.A, figures.B, work)
        assert path[-1] == pytest.approx(figures.OPTIMUM, abs=2e-4)


def test_the_stored_leads_are_what_the_text_says(text) -> None:
    """Leads of 41/5 and 20/5 of 355 test images; t = 2.776 for five seeds."""
    rows = figures.leads().layout.meta["table"]["rows"]
    assert [row[1:] for row in rows] == [
        ["+2.3", "+0.8", "+3.8", 5],
        ["+1.3", "+1.1", "+1.5", 20],
        ["+1.1", "-0.2", "+2.4", 5],
        ["-0.35", "-0.68", "-0.02", 20],
    ]
    assert "gave `Mine` 1.1 points [−0.2, 2.4], *undecided*" in text
    assert "three choosing and twenty judging seeds: −0.35 [−0.68, −0.02]" in text
    assert "| 1.3 [1.1, 1.5]: *holds* |" in text
    assert "| −0.35 [−0.68, −0.02]: *equivalent* |" in text


def test_the_verdicts_on_the_courses_mine_are_what_the_text_says() -> None:
    verdicts = []
    for rival in ("FedAvg", "FedAvgM"):
        leads = best_rates.ahead("two_labels", figures.MINE, rival)
        verdicts.append(judging.judge("mine", leads, 0.01, expect="positive", planned=20).verdict)
    assert verdicts == ["holds", "equivalent"]


def test_a_long_comparison_has_the_rates_and_seeds_of_the_tables() -> None:
    given = figures.long_comparison()
    assert given["rates"] == tuple(ON_DIGITS.rates)
    assert given["choosing"] == tuple(configs.seeds("rates_digits"))
    assert list(given["seeds"]) == list(configs.seeds("rated_digits"))


def test_the_reader_s_own_leads_stand_below_the_stored_ones() -> None:
    rows = figures.leads({"FedProx": np.array([0.01, 0.02, 0.03])}).layout.meta["table"]["rows"]
    assert rows[-1][0] == "yours − FedProx" and rows[-1][1] == "+2.0"
    assert len(rows) == len(figures.leads().layout.meta["table"]["rows"]) + 1


def test_the_courses_mine_is_the_one_of_the_tables(mine) -> None:
    """On images, with a sampled cohort; the quick comparison chose its rate and that of FedAvgM by
    one seed.
    """
    fed = blobs((3, 17, 8, 30))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"rounds": 4, "clients_per_round": 2, "local_steps": 3}
    (stored,) = ON_DIGITS.methods[figures.MINE]
    first, second = (run(fed, model, rule, **work).history.params for rule in (mine(), stored))
    torch.testing.assert_close(first, second, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_the_first_stored_lead_is_that_of_the_command_of_the_chapter(mine) -> None:
    """Its mean, to half a point: another processor may round otherwise."""
    work = {"rounds": 50, "clients_per_round": 20, "local_epochs": 5, "batch_size": 10}
    given = {"data": fl.load_dataset("digits"), "model": fl.models.mlp, **work}
    found = compare(mine(), fl.FedAvg(), on="test", seeds=range(5, 10), **given)
    assert set(found.rates.values()) == {0.4}
    stored = figures.LEADS["FedAvg"].mean()
    assert found.interval.mean == pytest.approx(stored, abs=0.005)


def test_with_absent_clients_only_feddyn_stops() -> None:
    """Over the last hundred of 300 rounds, two of ten clients in each."""
    clients = figures.A * 5, figures.B * 5
    work = {**figures._SOME_ABSENT, "rounds": 300}
    swings = {
        rule: np.std(on_quadratics.path(lambda rule=rule: rule, [], *clients, work)[200:])
        for rule in (fl.FedAvg(), FedDynServer(), fl.algorithms.FedDyn(1.0))
    }
    fedavg, server, feddyn = swings.values()
    assert min(fedavg, server) > 0.1 > 0.001 > feddyn


def test_the_chance_that_one_of_ten_worthless_ideas_leads_under_three_seeds() -> None:
    """With runs of FedAvg of its own, an idea leads with (1/2)³. With one run a seed for all ideas
    the chance is a mean of 1 − (1 − u v w)^10 over three uniform numbers.
    """
    own = 1 - (7 / 8) ** 10
    shared = 1 - sum(comb(10, k) * (-1) ** k / (k + 1) ** 3 for k in range(11))
    assert own == pytest.approx(0.74, abs=0.005)
    assert shared == pytest.approx(0.51, abs=0.01)
