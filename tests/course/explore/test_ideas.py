"""The ideas of chapters against closed forms and the library."""

import re

import numpy as np
import plotly.graph_objects as go
import pytest

import fedlab_core as fl
from fedlab_course import ideas, theory
from fedlab_course.chapters.ch01_noniid_and_drift import ideas as ideas_01
from fedlab_course.chapters.ch02_fedprox import exercises as prox
from fedlab_course.chapters.ch02_fedprox import ideas as ideas_02
from fedlab_course.chapters.ch02_fedprox import proximal_plane
from fedlab_course.chapters.ch03_scaffold import ideas as ideas_03
from fedlab_course.chapters.ch03_scaffold.ideas import scaffold_rounds
from fedlab_course.chapters.ch04_fedsso import ideas as ideas_04
from fedlab_course.chapters.ch09_partial_work import ideas as ideas_09
from fedlab_course.chapters.ch10_bounds import figures as figures_10
from fedlab_course.chapters.ch11_one_or_several import ideas as ideas_11
from fedlab_course.chapters.ch12_what_is_sent import ideas as ideas_12
from fedlab_course.chapters.ch12_what_is_sent.ideas import spent
from fedlab_course.chapters.ch14_what_holds import ideas as ideas_14
from fedlab_course.check import registry
from fedlab_course.explore import grid
from fedlab_course.explore.quadratics import Quadratics
from fedlab_course.explore.widgets import slider
from tests.course.explore.test_grid import whole
from tests.support import quadratics, run, scalar_model

A = np.array([1.0, 3.0])
B = np.array([0.0, 1.0])


def trace(figure: go.Figure, start: str) -> go.Scatter:
    (found,) = [trace for trace in figure.data if trace.name.startswith(start)]
    return found


def proximal() -> ideas.Idea:
    """The scene of chapter 2 with the solution, and with the wrong sign beside it."""

    def wrong(w, k, gradient, eta, steps, mu):
        return prox.local_update(w, k, gradient, eta, steps, -mu)

    return ideas_02.proximal(prox.local_update, wrong)


IDEAS = {
    "proximal": lambda: proximal(),
    "over_rates": ideas_02.over_rates,
    "at_best": ideas_02.at_best,
    "corrections": ideas_03.corrections,
    "scaffold_over_rates": ideas_03.over_rates,
    "bend": figures_10.bend,
    "skew": lambda: ideas_01.skew(fl.load_dataset("digits"), registry.get("01-emd").solution),
    "unequal_work": ideas_09.unequal_work,
    "divided": lambda: ideas_09.divided(counted),
    "personal": ideas_11.personal,
    "budget": ideas_12.budget,
    "reachability": lambda: ideas_04.reachability(np.arange(10.0)[:, None] ** 2),
}


@pytest.mark.parametrize("name", IDEAS)
def test_both_ends_of_every_slider_have_figures_of_their_own_in_words(name: str) -> None:
    idea = IDEAS[name]()
    idea.start()
    assert 1 <= len(idea.sliders) <= 3
    for slider_name, widget in idea.sliders.items():
        assert widget.description
        assert widget.tooltip
        texts = set()
        for _, value in (widget.options[0], widget.options[-1]):
            widget.value = value
            assert idea.message.value == ""
            figure = idea.chart.figure
            assert figure.layout.meta["table"]["rows"]
            texts.add(fl.plots.describe(figure))
        assert len(texts) == 2
        assert fl.plots.describe(idea.figure(**{slider_name: value})) == fl.plots.describe(figure)


def test_an_unknown_slider_is_refused() -> None:
    with pytest.raises(ValueError, match="Did you mean 'step'"):
        ideas_03.corrections().figure(steps=3)


def test_an_error_is_raised_by_the_figure_and_said_in_the_widget() -> None:
    def draw(lr: float) -> go.Figure:
        theory.covered([25.0], 10, lr)  # 0.1 · 25 > 2
        return go.Figure()

    idea = ideas.Idea(draw, {"lr": slider("rate", (0.01, 0.1), 0.01, "tip")})
    with pytest.raises(ValueError, match="lr"):
        idea.figure(lr=0.1)
    idea.sliders["lr"].value = 0.1
    assert "diverge" in idea.message.value
    idea.sliders["lr"].value = 0.01
    assert idea.message.value == ""


def test_a_run_that_diverges_is_a_result_in_the_words_of_an_explorer() -> None:
    """At lr·a = 4 each local step triples the distance to b: the loss passes the largest float64
    after some rounds.
    """

    def draw(a: float) -> go.Figure:
        run(
            quadratics([a], [0.0]),
            scalar_model(1.0),
            fl.FedAvg(),
            lr=1.0,
            local_steps=100,
            rounds=10,
        )
        return go.Figure()

    idea = ideas.Idea(draw, {"a": slider("curvature", (1.0, 4.0), 1.0, "tip")})
    with pytest.raises(fl.Diverged) as caught:
        idea.figure(a=4.0)
    words = f"FedAvg diverged in round {caught.value.round} at η=1. Try a smaller learning rate."
    assert caught.value.round == 4  # the first t with 2 · 3^(200 t) > 2^1024
    stored = idea.bundle()[grid.MIME]
    first, last = (whole(stored, cell) for cell in stored["cells"])
    assert "error" not in first and last == {"error": words}
    idea.sliders["a"].value = 4.0
    assert f"<b>Diverged.</b> {words}" in idea.message.value
    assert "Error" not in idea.message.value


@pytest.mark.parametrize("mu", [0.0, 3.0, 10.0])
def test_proximal_rests_where_the_closed_form_says(mu: float) -> None:
    """After τ = 10 steps of η = 0.05 client k has gone the part s_k of its way, in each entry."""
    a = np.array([[1.0, 4.0], [4.0, 1.0]])
    b = np.array([[-1.5, -0.5], [1.0, 1.5]])
    share = a / (a + mu) * (1 - (1 - 0.05 * (a + mu)) ** 10)
    w = (share * b).sum(0) / share.sum(0)
    last = proximal_plane.path(prox.local_update, mu, 500)[-1]
    assert last == pytest.approx(w, abs=1e-6)
    ends = proximal_plane.local_steps(prox.local_update, w, mu)[-1]
    assert ends == pytest.approx(w + share * (b - w), abs=1e-12)


def test_the_wrong_sign_runs_away_where_mu_exceeds_the_curvatures() -> None:
    """With a − μ < 0 in every entry the local steps grow: 1 − η (a − μ) > 1."""
    idea = proximal()
    for mu, runs_away in ((0.3, False), (30.0, True)):
        figure = idea.figure(mu=mu, round=20)
        notes = [note.text for note in figure.layout.annotations]
        assert ("w runs away" in notes) == runs_away
    assert idea.reached is False
    idea.sliders["mu"].value = 10.0
    idea.sliders["round"].value = 50
    assert idea.reached is True


def test_arrows_add_up_and_the_first_round_has_no_correction() -> None:
    for rounds in ideas_03.ROUNDS:
        figure = ideas_03.corrections().figure(rounds=rounds, step=2)
        for k in (1, 2):
            own = trace(figure, f"−g<sub>{k}")
            taken = trace(figure, f"the step that client {k}")
            correction = trace(figure, f"−(c − c<sub>{k}")
            assert (own.x[0], own.y[0]) == (taken.x[0], taken.y[0])
            assert (correction.x[0], correction.y[0]) == (own.x[1], own.y[1])
            assert (correction.x[1], correction.y[1]) == pytest.approx((taken.x[1], taken.y[1]))
            length = np.hypot(correction.x[1] - correction.x[0], correction.y[1] - correction.y[0])
            assert (length == pytest.approx(0, abs=1e-12)) == (rounds == 0)


def test_the_arrow_of_the_own_gradient_points_to_the_own_minimum_along_its_gradient() -> None:
    a = np.array([[1.0, 4.0], [4.0, 1.0]])
    b = np.array([[-1.5, -0.5], [1.0, 1.5]])
    figure = ideas_03.corrections().figure(rounds=0, step=0)
    for k in range(2):
        own = trace(figure, f"−g<sub>{k + 1}")
        downhill = -a[k] * (np.array([-1.9, 1.9]) - b[k])
        drawn = np.array([own.x[1] - own.x[0], own.y[1] - own.y[0]])
        assert drawn / np.linalg.norm(drawn) == pytest.approx(downhill / np.linalg.norm(downhill))


def test_scaffold_and_the_library_agree() -> None:
    fed = fl.synthetic.quadratics(A, B)
    start = fl.models.linear(fed, bias=False, seed=3)
    work = {"rounds": 3, "clients_per_round": 2, "local_steps": 5, "batch_size": None, "lr": 0.1}
    simulation = fl.Simulation(
        fed, start, fl.Scaffold(), **work, loss="squared_error", progress=False
    )
    w0 = next(start.parameters()).item()
    simulation.run()
    w, offset = scaffold_rounds(Quadratics(A, B), np.array([w0]), 3, 5, 0.1)
    assert w[0] == pytest.approx(float(simulation.history.params[0]), abs=1e-12)
    state = simulation.state_dict()["algorithm"]
    assert offset == pytest.approx((state["c"] - state["c_clients"]).numpy(), abs=1e-12)


def test_the_clients_of_scaffold_walk_side_by_side_at_one_place():
    """As the picture's own description has the angle; at its start the goal is not met."""
    idea = ideas_03.corrections()
    assert idea.reached is False
    places = [(rounds, step) for rounds in ideas_03.ROUNDS for step in range(5)]
    met = [place for place in places if ideas_03._side_by_side(*place)]
    assert met == [(1, 2)]
    for rounds, step in [(0, 0), (1, 0), (1, 2)]:
        words = fl.plots.describe(idea.figure(rounds=rounds, step=step))
        degrees = float(re.search(r"the corrected ones (\d+)°", words)[1])
        assert ((rounds, step) in met) == (degrees <= 10)


def counted(tau: np.ndarray, eta: float, mu: float) -> np.ndarray:
    return np.array([sum((1 - eta * mu) ** i for i in range(int(steps))) for steps in tau])


@pytest.mark.parametrize(("lr", "mu"), [(0.1, 1.0), (0.03, 10.0)])
def test_unequal_work_rests_where_the_closed_form_says(lr: float, mu: float) -> None:
    figure = ideas_09.unequal_work().figure(lr=lr, mu=mu)
    steps = np.arange(10, 0, -1)
    for name, pull in (("FedAvg", 0.0), (f"FedProx, μ = {mu:g}", mu)):
        first = 1 - (1 - lr * (2 + pull)) ** 10
        second = 1 - (1 - lr * (2 + pull)) ** steps
        assert list(trace(figure, name).x) == steps.tolist()
        assert trace(figure, name).y == pytest.approx(second / (first + second))
    # equal work, equal curvature
    assert all(curve.y[0] == pytest.approx(0.5) for curve in figure.data)


def test_a_large_rate_hides_unequal_work_and_an_unstable_strength_is_not_drawn() -> None:
    idea = ideas_09.unequal_work()
    figure = idea.figure(lr=0.4, mu=10.0)
    assert [curve.name for curve in figure.data] == ["FedAvg", "optimum"]
    assert "μ = 10 is unstable" in figure.layout.title.text
    assert idea.figure(lr=0.4, mu=1.0).data[1].name == "FedProx, μ = 1"
    two = 8  # the place of two steps
    first, second = 1 - 0.2**10, 1 - 0.2**2
    assert trace(figure, "FedAvg").y[two] == pytest.approx(second / (first + second))
    idea.start()
    assert not idea.reached
    idea.sliders["lr"].value = 0.4
    assert idea.reached


def test_moves_divided_by_counted_steps_stop_nearer_than_divided_by_steps() -> None:
    """At ημ = 1 a move counts for one gradient, so that nothing is divided: the way with τ steps is
    (2/12) (1 − (−0.2)^τ), and client 2 has the share .96/(.96 + 1).
    """
    figure = ideas_09.divided(counted).figure(lr=0.1, mu=10.0)
    two = 8  # the place of two steps
    right = trace(figure, "μ = 10, by counted steps").y[two]
    assert right == pytest.approx(0.96 / (0.96 + 1 - 0.2**10))
    wrong = trace(figure, "μ = 10, divided by τ").y[two]
    assert wrong == pytest.approx(0.48 / (0.48 + (1 - 0.2**10) / 10))
    nova = trace(figure, "FedNova").y[two]
    first, second = (1 - 0.8**10) / 10, (1 - 0.8**2) / 2
    assert nova == pytest.approx(second / (first + second))
    without = ideas_09.divided(counted).figure(lr=0.1, mu=0.0)
    assert [curve.name for curve in without.data] == ["FedNova, μ = 0", "optimum"]


# Mean 0.03, standard deviation 0.01, t = 4.3027 for two degrees of freedom: 0.03 ± 0.0248.
DIFFERENCES = [0.02, 0.03, 0.04]


@pytest.mark.parametrize(
    ("delta", "verdict"), [(0.5, "holds"), (1.0, "higher"), (5.0, "higher"), (5.5, "equivalent")]
)
def test_the_verdict_follows_from_the_interval_and_the_margin(delta: float, verdict: str) -> None:
    """``delta`` in points."""
    figure = ideas_14.margin(DIFFERENCES, "difference").figure(delta=delta)
    assert verdict in figure.layout.title.text
    assert verdict in figure.layout.meta["alt"]
    [row] = figure.layout.meta["table"]["rows"]
    unit = "point" if delta == 1 else "points"
    assert row[:5] == ["3", f"{delta:g} {unit}", "+3.00", "+0.52", "+5.48"]


def test_the_goal_asks_for_all_seeds_and_a_margin_beyond_the_interval() -> None:
    idea = ideas_14.margin([0.02, 0.025, 0.03], "difference")  # 0.025 ± 0.0124
    assert idea.reached is False
    idea.sliders["delta"].value = 4.0
    assert idea.reached is True
    idea.sliders["seeds"].value = 2
    assert idea.reached is False


def test_the_error_of_ditto_is_that_of_a_simulation():
    """z_k = (b_k + λ w*)/(1 + λ) for drawn clients, over many draws."""
    rng = np.random.default_rng(0)
    strength = 0.7
    chance = 1.3
    spread = 0.6
    count = 5
    true = rng.normal(scale=np.sqrt(spread), size=(200_000, count))
    known = true + rng.normal(scale=np.sqrt(chance), size=true.shape)
    own = (known + strength * known.mean(1, keepdims=True)) / (1 + strength)
    measured = ((own - true) ** 2).mean()
    assert sum(theory.ditto_error(strength, chance, spread, count)) == pytest.approx(
        measured, rel=0.01
    )


def test_a_budget_is_read_off_the_curve():
    # FedAvg sends as much up as down
    assert spent(1.0, 5) == pytest.approx(2 * spent(1.0, 5, "up"))
    down = spent(0.1, 5) - spent(0.1, 5, "up")
    assert spent(0.1, 5, "up") / down == pytest.approx(
        8 * round(0.1 * 15_010) / (4 * 15_010), rel=1e-4
    )
