"""The explorer: sliders are moved by setting their value; no display is needed."""

import html
import re
import subprocess
import sys
import time

import nbformat
import numpy as np
import plotly.graph_objects as go
import pytest
import torch

import fedlab_core as fl
from fedlab_core.engines import cutting, threads
from fedlab_course.explore import view
from fedlab_course.explore.choices import Choice
from fedlab_course.explore.controls import Controls
from fedlab_course.explore.explorer import Explorer
from fedlab_course.harness import course_plan, course_run
from tests.course.explore.short import SHORT, curves, make
from tests.course.harness import planted

IDEAS = """from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import ideas

def drawn(n):
    figure = new_figure(title=None, x_title="n", y_title="y").add_scatter(x=[1, 2], y=[0, n])
    set_description(figure, f"A line to {n}.", ["x", "y"], [["1", "0"], ["2", str(n)]])
    return figure

shown = {n: drawn(n) for n in (1, 2)}"""


def independent(algorithm: fl.Algorithm, lr: float = 0.05, E: int = 1) -> list[float]:
    """The same run, written out by hand."""
    digits = fl.load_dataset("digits")
    fed = fl.FederatedDataset(
        digits, fl.partition.dirichlet(digits.train.y, num_clients=10, alpha=0.3, seed=0)
    )
    work = {
        "rounds": 5,
        "clients_per_round": 4,
        "local_epochs": E,
        "batch_size": 10,
        "lr": lr,
        "progress": False,
    }
    return fl.simulate(
        fed, fl.models.mlp(fed, seed=0), algorithm, **work, seed=0
    ).frame.test_accuracy.tolist()


def test_a_run_returns_a_plain_figure_with_the_curves_of_the_library() -> None:
    explorer = make(mu=0.5)
    figure = explorer.run()
    assert type(figure) is go.Figure
    assert curves(figure) == {
        "FedAvg": independent(fl.FedAvg()),
        "FedProx μ=0.5": independent(fl.FedProx(0.5)),
    }
    assert list(figure.data[0].x) == [1, 2, 3, 4, 5]
    assert "FedProx μ=0.5" in fl.plots.describe(figure)
    explorer.x.value = "bytes"
    frame = explorer.histories["FedAvg"].frame
    assert list(explorer.figure().data[0].x) == pytest.approx(
        list((frame.bytes_up + frame.bytes_down) / 1e6)
    )
    explorer.run(algorithms=())
    assert "Choose at least one algorithm" in explorer.status.value


def test_a_slider_starts_training_and_mu_does_not_touch_fedavg(monkeypatch) -> None:
    started = []
    original = Explorer.__init__.__globals__["Curve"].simulation
    monkeypatch.setattr(
        "fedlab_course.explore.explorer.Curve.simulation",
        lambda curve: started.append(curve.name) or original(curve),
    )
    explorer = make(mu=0.5)
    explorer.run()
    explorer.controls.fields["mu"].value = 2.0
    explorer.wait(60)
    assert list(explorer.histories) == ["FedAvg", "FedProx μ=2"]
    explorer.controls.fields["mu"].value = 0.5
    explorer.wait(60)
    assert list(curves(explorer.figure())) == ["FedAvg", "FedProx μ=0.5"]
    assert started == ["FedAvg", "FedProx μ=0.5", "FedProx μ=2"]


def trained_rounds(monkeypatch) -> list[int]:
    """The rounds that any simulation has trained, from now on."""
    trained = []
    original = fl.Simulation.__next__
    monkeypatch.setattr(
        fl.Simulation, "__next__", lambda self: trained.append(original(self).round) or trained[-1]
    )
    return trained


def test_more_rounds_go_on_from_the_run_bit_for_bit_and_fewer_train_nothing(monkeypatch) -> None:
    algorithms = ("fedprox", "scaffold", "fedmas")
    straight = make(algorithms=algorithms, rounds=6)
    whole = curves(straight.run())
    moved = make(algorithms=algorithms, rounds=3)
    moved.run()
    looks = {trace.name: (trace.line.color, trace.marker.symbol) for trace in moved.figure().data}
    trained = trained_rounds(monkeypatch)
    moved.run(rounds=6)
    assert sorted(trained) == sorted(3 * [4, 5, 6])
    assert {
        trace.name: (trace.line.color, trace.marker.symbol) for trace in moved.figure().data
    } == looks
    for name, history in straight.histories.items():
        other = moved.histories[name]
        assert other.frame.drop(columns="seconds").equals(history.frame.drop(columns="seconds"))
        assert torch.equal(other.params, history.params)
        assert np.array_equal(other.clients.accuracy, history.clients.accuracy)
        assert other.config == history.config
    trained.clear()
    moved.controls.fields["rounds"].value = 5
    assert curves(moved.figure()) == {name: y[:5] for name, y in whole.items()}  # without waiting
    assert "done, 15 of 15 rounds" in moved.status.value
    assert "rounds=5" in moved.code
    assert {history.config["rounds"] for history in moved.histories.values()} == {5}
    moved.run(rounds=6)
    assert curves(moved.figure()) == whole
    assert trained == []


def test_markers_stay_at_their_rounds_at_each_redraw() -> None:
    """The chart is drawn after each round: a marker that was at a round stays there, whatever the
    other curve does.
    """
    explorer = make(algorithms=("fedavg", "scaffold"), rounds=30)
    drawn = []
    draw = explorer.chart.show
    explorer.chart.show = lambda figure: drawn.append(figure) or draw(figure)
    last = {trace.name: trace for trace in explorer.run().data}
    for figure in drawn:
        for trace in figure.data:
            places = np.flatnonzero(last[trace.name].marker.size)
            assert trace.marker.maxdisplayed in (None, 0)
            assert list(np.flatnonzero(trace.marker.size)) == list(places[places < len(trace.x)])
    assert len(drawn) > 1


def test_moving_alpha_redraws_the_partition_at_once() -> None:
    explorer = make()
    explorer.run()
    explorer.controls.fields["alpha"].value = 10.0
    z = np.array(explorer.picture.figure.data[0].z, dtype=float)
    explorer.wait(60)
    digits = fl.load_dataset("digits")
    parts = fl.partition.dirichlet(digits.train.y, num_clients=10, alpha=10.0, seed=0)
    counts = np.stack([np.bincount(digits.train.y[part], minlength=10) for part in parts])
    assert np.array_equal(np.nan_to_num(z), counts.T)


def test_kept_curves_stay_and_say_how_they_differ() -> None:
    explorer = make(algorithms=("fedavg",))
    first = curves(explorer.run())["FedAvg"]
    explorer.keep()
    assert list(curves(explorer.figure())) == ["FedAvg"]  # not twice
    shown = curves(explorer.run(lr=0.2))
    assert list(shown) == ["FedAvg", "FedAvg, η=0.05 (kept)"]
    assert shown["FedAvg, η=0.05 (kept)"] == first
    explorer.run(alpha=1.0, rounds=3)
    assert "FedAvg, α=0.3, η=0.05, 5 rounds (kept)" in explorer.histories
    kept = explorer.figure().layout.height
    explorer.reset()
    explorer.wait(60)
    assert explorer.figure().layout.height < kept  # one line of legend less
    assert curves(explorer.figure()) == {"FedAvg": first}
    assert explorer.choice.alpha == 0.3
    assert explorer.choice.lr == 0.05


def test_a_curve_keeps_its_colour_while_others_come_and_go() -> None:
    def colours() -> dict[str, str]:
        return {trace.name: trace.line.color for trace in explorer.figure().data}

    explorer = make(algorithms=("fedavg", "fedprox"), mu=0.5, rounds=2)
    explorer.run()
    first = colours()
    explorer.keep()
    explorer.run(mu=2.0)
    kept = colours()
    assert kept["FedProx μ=0.5 (kept)"] == first["FedProx μ=0.5"]
    assert kept["FedAvg"] == first["FedAvg"]
    assert len(set(kept.values())) == 3
    explorer.run(algorithms=("fedavg", "fedprox", "scaffold"))
    more = colours()
    assert more.pop("SCAFFOLD") not in kept.values()
    assert more == kept


def test_the_code_on_show_makes_and_draws_every_curve() -> None:
    explorer = make(algorithms=("fedavg", "scaffold"), rounds=2)
    explorer.run()
    explorer.keep()
    settings = {"split": "labels_per_client", "labels": 3, "batch_size": None, "seed": 4, "mu": 0.5}
    shown = curves(explorer.run(lr=0.2, algorithms=("fedprox",), **settings))
    assert len(shown) == 3
    on_page = re.search(r"<textarea[^>]*>\n(.*)</textarea>", explorer.fold.value, flags=re.DOTALL)
    code = html.unescape(on_page[1])
    assert code.count("fl.load_dataset") == 2  # once per federation
    *lines, last = code.strip().splitlines()
    namespace: dict = {}
    exec("\n".join(lines), namespace)
    assert {
        name: one.frame.test_accuracy.tolist() for name, one in namespace["histories"].items()
    } == shown
    assert curves(eval(last, namespace)) == shown


def test_drawing_is_throttled(monkeypatch) -> None:
    monkeypatch.setattr("fedlab_course.explore.explorer._BETWEEN_DRAWINGS", 1e9)
    explorer = make(rounds=20, algorithms=("fedavg",))
    drawn: list[int] = []
    original = view.curves
    monkeypatch.setattr(view, "curves", lambda *a: drawn.append(1) or original(*a))
    explorer.run()
    assert len(drawn) == 3  # the request, the first round and the last


def test_controls_that_change_nothing_are_hidden() -> None:
    explorer = make(algorithms=("fedavg",))
    display = {name: widget.layout.display for name, widget in explorer.controls.fields.items()}
    assert (display["mu"], display["labels"], display["alpha"]) == ("none", "none", None)
    explorer.controls.set(Choice(**SHORT, split="labels_per_client", algorithms=("fedprox",)))
    display = {name: widget.layout.display for name, widget in explorer.controls.fields.items()}
    assert (display["mu"], display["labels"], display["alpha"]) == (None, None, "none")


def test_controls_extend_to_what_they_are_set_to() -> None:
    controls = Controls(Choice())
    choice = Choice(
        algorithms=("fedcurv", "fedmas"),
        strength=1e6,
        alpha=1e-6,
        split="labels_per_client",
        labels=1000,
        model="cnn_mnist",
        local_epochs=1000,
        lr=1e6,
        batch_size=None,
        rounds=10_000,
        seed=2**63 - 1,
        num_clients=7,
        clients_per_round=7,
    )
    for one in (choice, Choice(), choice):
        controls.set(one)
        assert controls.choice == one


def test_every_control_has_a_label_and_a_tooltip_and_waits_for_its_release() -> None:
    explorer = make()
    for name, widget in explorer.controls.fields.items():
        assert widget.description, name
        assert widget.tooltip, name
        assert name in ("alpha", "labels") or not getattr(widget, "continuous_update", False), name
    for box in (*explorer.controls.algorithms.values(), *explorer.buttons.values()):
        assert box.description
        assert box.tooltip


@pytest.mark.slow
def test_in_a_headless_notebook_an_explorer_becomes_a_plotly_figure_without_widget_state(
    tmp_path,
) -> None:
    arguments = ", ".join(f"{name}={value}" for name, value in SHORT.items())
    cells = (
        "from fedlab_course import Explorer",
        f"Explorer({arguments})",
        f'{IDEAS}\nideas.gallery(shown, "optimum")',
    )
    planted.notebook(tmp_path, "00_explorer", *cells)
    (result,) = course_run.run_course(course_plan.Options(notebooks=tmp_path, out=tmp_path / "out"))
    assert result.error is None
    text = (tmp_path / "out" / "notebooks" / "00_explorer.ipynb").read_text(encoding="utf-8")
    executed = nbformat.reads(text, as_version=4)
    for cell in executed.cells[2:]:
        (output,) = cell.outputs
        assert "widget" not in str(output.data.keys())
        assert output.data["application/vnd.plotly.v1+json"]["layout"]["meta"]["alt"]
    assert "widgets" not in executed.metadata
    assert len(text) < 150_000


@pytest.fixture
def busy_machine():
    """Two processes that never rest."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.slow
def test_a_slider_and_stop_are_answered_at_once_beside_two_busy_processes(
    busy_machine, monkeypatch
) -> None:
    """While two threads train, the one that answers a person has its share: at most 0.3 s, in the
    median of nine.
    """
    monkeypatch.setenv(threads.VARIABLE, "2")
    monkeypatch.setattr(cutting, "CALL_PRODUCTS", 1)
    explorer = Explorer(rounds=200, num_clients=100, clients_per_round=100, local_epochs=20)
    answers: dict[str, list[float]] = {"slider": [], "stop": []}
    slider = explorer.controls.fields["mu"]
    before = torch.get_num_threads()
    for value in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 0.0, 0.01, 0.001):
        explorer.start()
        while not any(run.rounds for run in explorer.runner.runs()):
            time.sleep(0.01)
        for name in answers:
            started = time.monotonic()
            if name == "slider":
                slider.value = value
            else:
                explorer.stop()
            answers[name].append(time.monotonic() - started)
        assert "stopped" in explorer.status.value
    assert torch.get_num_threads() == before
    assert {
        name: sorted(times)[4] for name, times in answers.items() if sorted(times)[4] > 0.3
    } == {}
