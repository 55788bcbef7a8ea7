"""The figures of chapter 9: slow against fast, the rates, and the differences by chance."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_core.plots import describe
from fedlab_course.chapters.ch09_partial_work import exercises, speeds
from fedlab_course.check import own, registry
from fedlab_course.evidence import tables
from fedlab_course.experiments.studies import partial_work
from fedlab_course.methods import two_speeds
from tests.course.check.from_notebook import text_of
from tests.support import path, quadratics

WORK = {
    "rounds": 2,
    "clients_per_round": 4,
    "local_epochs": 2,
    "batch_size": 10,
    "lr": 0.05,
    "seed": 0,
    "progress": False,
}


@pytest.fixture(scope="module")
def small():
    fed, slow = two_speeds.deal(fl.load_dataset("digits"), 0, num_clients=20)
    return fed, slow, fl.models.mlp(fed, seed=0)


def test_each_method_is_at_its_means_and_all_have_a_marker_of_their_own() -> None:
    figure = speeds.scatter(speeds.POINTS)
    for name, point in speeds.POINTS.items():
        (drawn,) = [trace for trace in figure.data if trace.name == name]
        table = tables.read("two_speeds")
        if point.row not in set(table.algorithm):
            table = tables.read("slow_remedies")
        mine = table[table.algorithm == point.row]
        assert len(mine) == 20
        assert drawn.x[0] == pytest.approx(mine.slow_accuracy.mean())
        assert drawn.y[0] == pytest.approx(mine.fast_accuracy.mean())
        error = 2 * mine.slow_accuracy.std() / np.sqrt(20)
        assert drawn.error_x.array[0] == pytest.approx(error)
    looks = {(point.colour, point.symbol) for point in speeds.POINTS.values()}
    assert len(looks) == len(speeds.POINTS)


def test_the_place_of_the_right_guess_is_where_fedavg_ends() -> None:
    names = [trace.text[0] for trace in speeds.opening().data if trace.text]
    assert names == ["<b>A</b>", "<b>B</b>", "<b>C</b>", "<b>D</b>"]
    ends = speeds.stored().groupby("algorithm")[speeds.BOTH].mean().loc["keep"]
    far = {name: np.hypot(*(np.array(at) - ends)) for name, at in speeds._GUESSES.items()}
    assert far["C"] < 0.02 < min(far[name] for name in "ABD")
    assert "Where does FedAvg end?" in describe(speeds.opening())


def test_the_race_says_whose_code_it_runs_and_the_library_agrees(small) -> None:
    fed, slow, model = small
    mine = {"FedNova": exercises.MyFedNova(), "FedNova, μ = 10": exercises.MyFedNova(10.0)}
    figure = speeds.race(mine, fed, slow, model, **WORK)
    assert figure.layout.title.text == "In bold: one run each, with your code"
    library = speeds.run(fl.FedNova(10.0), fed, slow, model, **WORK)
    (drawn,) = [
        trace
        for trace in figure.data
        if trace.name == "FedNova, μ = 10" and not trace.error_x.array
    ]
    assert [drawn.x[0], drawn.y[0]] == pytest.approx(library, abs=0.02)
    solution = registry.get("09-fednova")
    theirs = own.mark(solution.build(solution.solution_source))
    title = speeds.race({"FedNova": theirs()}, fed, slow, model, **WORK).layout.title.text
    assert title == "In bold: one run each, with the course's solution"


def test_each_curve_over_rates_is_the_mean_of_its_half_of_the_labels() -> None:
    table = tables.read("speed_rates")
    assert set(table.lr) == set(partial_work.RATES)
    assert table.groupby(["algorithm", "lr"]).size().eq(10).all()
    figure = speeds.by_rate()
    assert len(figure.data) == 6
    means = table.groupby(["algorithm", "lr"])[speeds.BOTH].mean()
    for trace in figure.data:
        half = "fast_accuracy" if trace.xaxis == "x2" else "slow_accuracy"
        row = speeds.POINTS[trace.name].row
        assert list(trace.y) == pytest.approx(means.loc[row, half].tolist())


def test_the_rates_repeat_the_stored_runs_at_the_rate_of_the_other_tables() -> None:
    names = ["even", "keep", "nova"]
    rates = tables.matching("speed_rates", {"lr": 0.05}).set_index(["algorithm", "seed"])
    earlier = tables.read("two_speeds").set_index(["algorithm", "seed"])
    for name in names:
        gap = rates.slow_accuracy[name] - earlier.slow_accuracy[name]
        assert abs(gap.mean()) < 0.01


def test_more_rounds_lower_the_price_too() -> None:
    table = tables.read("speed_rounds").set_index(["rounds", "algorithm", "seed"])["slow_accuracy"]
    gap = (table.unstack("algorithm").eval("100 * (even - keep)")).groupby("rounds")
    assert gap.mean().round().tolist() == [18, 8, 5] and gap.size().eq(10).all()
    text = text_of("09_partial_work.ipynb")
    words = "18 points after 100 rounds, eight after 200 and five after 400"
    assert f"at 0.05 it is {words}" in text


def test_more_rounds_of_fednova_gain_as_much_as_small_steps() -> None:
    rounds = tables.matching("speed_rounds", {"algorithm": "nova", "rounds": 200})
    rates = tables.matching("speed_rates", {"algorithm": "nova", "lr": 0.05})
    more, fifty = (runs.set_index("seed")["end_accuracy"] for runs in (rounds, rates))
    gain = t_interval(100 * (more - fifty))
    words = f"gain {gain.mean:.1f} [{gain.low:.1f}, {gain.high:.1f}] (ten seeds)"
    assert len(more) == 10 and words in text_of("09_partial_work.ipynb")
    small = tables.matching("two_speeds", {"algorithm": "small"}).set_index("seed")["end_accuracy"]
    assert abs((small - more).dropna().mean()) < 0.01  # over the ten seeds that both have


def test_a_longer_step_is_the_move_of_fedprox_times_the_factor() -> None:
    """With ημ = 1 five steps cover (2/12) (1 + 0.2^5) of the way to 0 and 1, on average half."""
    problem = quadratics([2.0, 2.0], [0.0, 1.0])
    rule = two_speeds.LongerMove(fl.FedProx(10.0), 3.0)
    (found,) = path(problem, rule, rounds=1, local_steps=5)
    assert found == pytest.approx(3 * 2 / 12 * (1 + 0.2**5) / 2)


def test_the_longer_step_is_that_of_fednova_with_twenty_steps_and_two() -> None:
    """With equal steps of all clients FedNova is FedProx with a longer step, here 20 / τ̃ times."""
    problem = quadratics([2.0, 2.0], [0.0, 1.0])
    work = {"rounds": 1, "local_steps": 20, "lr": 0.05}
    longer = two_speeds.LongerMove(fl.FedProx(10.0), 20 * 0.5 / (1 - 0.5**20))
    assert path(problem, fl.FedNova(10.0), **work) == pytest.approx(path(problem, longer, **work))
    steps = np.array([2.0, 20.0])
    counted = exercises.counted_steps(steps, 0.05, 10.0)
    assert steps.mean() / counted.mean() == pytest.approx(two_speeds.LONGER, abs=0.05)


def test_differences_are_taken_seed_by_seed() -> None:
    rows = tables.matching("stragglers", {"stragglers": 0.9}).set_index(["algorithm", "seed"])
    dropped = next(trace for trace in speeds.by_chance().data if "dropped" in trace.name)
    gaps = 100 * (rows.end_accuracy["drop"] - rows.end_accuracy["keep"])
    assert sorted(dropped.x) == pytest.approx(sorted(gaps))
