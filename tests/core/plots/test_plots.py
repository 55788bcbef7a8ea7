"""The figures: the numbers they draw, a look that stays with its algorithm, and their descriptions
in words.
"""

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest
import torch

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.history import ClientReport, History, RoundRecord


def history(
    algorithm: str = "FedAvg",
    accuracy: tuple[float, ...] = (0.5, 0.7, 0.8),
    rounds: tuple[int, ...] | None = None,
    clients: tuple[float, ...] | None = None,
    updates: int = 1,
    megabytes: float = 1.0,
) -> History:
    """A run with one record per round, ``megabytes`` up and as many down in each."""
    records = [
        RoundRecord(
            round=t,
            server_updates=updates * t,
            test_accuracy=value,
            test_loss=1 - value,
            train_loss=2 * (1 - value),
            bytes_up=int(megabytes * 1e6 * t),
            bytes_down=int(megabytes * 1e6 * t),
            drift=3.0 / t,
            lr=0.1,
            seconds=0.5 * t,
        )
        for t, value in zip(rounds or range(1, len(accuracy) + 1), accuracy, strict=True)
    ]
    report = ClientReport(np.array(clients), np.full(len(clients), 5)) if clients else None
    return History({"algorithm": {"name": algorithm}}, records, clients=report)


def curves(figure: go.Figure) -> dict[str, go.Scatter]:
    """The measured curves by name, without bands and dotted sources."""
    return {
        trace.name: trace
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "lines+markers"
    }


def look(trace: go.Scatter) -> tuple[str, str, str]:
    return trace.line.color, trace.line.dash, trace.marker.symbol


def marked(trace: go.Scatter) -> list[float]:
    """The x values of the points that have a marker."""
    # Plotly's own choice depends on the number of points and of curves
    assert trace.marker.maxdisplayed in (None, 0)
    assert np.mean(trace.marker.size) == pytest.approx(8)  # the size in a legend
    sizes = [size / trace.marker.sizeref for size in trace.marker.size]
    assert set(np.round(sizes, 9)) <= {0, 8}
    return [x for x, size in zip(trace.x, sizes, strict=True) if size > 0]


def test_markers_stay_at_their_rounds_while_a_run_grows_and_when_another_curve_appears():
    def under_way(algorithm: str, rounds: int) -> History:
        run = history(algorithm, tuple(np.linspace(0.1, 0.9, rounds)))
        run.config["rounds"] = 60
        return run

    whole = curves(
        fl.plots.convergence({name: under_way(name, 60) for name in ("FedAvg", "SCAFFOLD")})
    )
    for rounds in (1, 7, 20, 59):
        alone = curves(fl.plots.convergence({"SCAFFOLD": under_way("SCAFFOLD", rounds)}))
        assert marked(alone["SCAFFOLD"]) == [x for x in marked(whole["SCAFFOLD"]) if x <= rounds]
        assert marked(alone["SCAFFOLD"])[0] == 1
    assert 8 <= len(marked(whole["FedAvg"])) <= 10
    both = set(marked(whole["FedAvg"])) & set(marked(whole["SCAFFOLD"]))
    assert both == {1}  # one marker does not hide another


def test_every_point_of_a_short_curve_has_a_marker():
    assert marked(curves(fl.plots.convergence({"FedAvg": history()}))["FedAvg"]) == [1, 2, 3]


def test_a_curve_draws_the_frame_of_its_history():
    figure = fl.plots.convergence({"FedAvg": history()})
    assert type(figure) is go.Figure
    curve = curves(figure)["FedAvg"]
    assert list(curve.x) == [1, 2, 3] and list(curve.y) == [0.5, 0.7, 0.8]
    assert figure.layout.xaxis.title.text == "communication round"
    assert (
        figure.layout.yaxis.title.text == "test accuracy"
        and figure.layout.yaxis.tickformat == ".0%"
    )
    assert len(figure.data) == 1


@pytest.mark.parametrize(
    ("x", "megabytes", "expected", "title"),
    [
        ("updates", 1.0, [4, 8, 12], "server updates"),
        ("bytes", 1.0, [2, 4, 6], "data sent, up and down (MB)"),
        ("bytes", 1000.0, [2, 4, 6], "data sent, up and down (GB)"),
    ],
)
def test_the_x_axis_counts_rounds_updates_or_bytes_in_a_fitting_unit(x, megabytes, expected, title):
    figure = fl.plots.convergence({"a": history(updates=4, megabytes=megabytes)}, x=x)
    assert curves(figure)["a"].x == pytest.approx(expected)
    assert figure.layout.xaxis.title.text == title


def test_several_seeds_are_drawn_as_their_mean_with_a_band():
    runs = [
        history(accuracy=(0.5, 0.6)),
        history(accuracy=(0.7, 0.9)),
        history(accuracy=(0.6, 0.6)),
    ]
    figure = fl.plots.convergence({"FedAvg": runs})
    assert curves(figure)["FedAvg"].y == pytest.approx([0.6, 0.7])
    band = next(trace for trace in figure.data if trace.fill == "toself")
    assert list(band.x) == [1, 2, 2, 1] and band.y == pytest.approx([0.7, 0.9, 0.6, 0.5])
    assert not band.showlegend


def test_only_rounds_that_every_seed_has_are_averaged():
    runs = [
        history(accuracy=(0.2, 0.4, 0.6), rounds=(1, 2, 4)),
        history(accuracy=(0.6, 0.8), rounds=(2, 4)),
    ]
    curve = curves(fl.plots.convergence({"a": runs}))["a"]
    assert list(curve.x) == [2, 4] and curve.y == pytest.approx([0.5, 0.7])


def test_drift_draws_the_drift_and_y_another_quantity():
    assert curves(fl.plots.convergence({"a": history()}, y="train_loss"))["a"].y == pytest.approx(
        [1.0, 0.6, 0.4]
    )
    figure = fl.plots.drift({"a": history()}, x="updates")
    assert curves(figure)["a"].y == pytest.approx([3, 1.5, 1])
    assert "‖y<sub>k</sub> − w‖₂" in figure.layout.yaxis.title.text


def test_a_loss_that_runs_away_leaves_the_picture_and_flattens_no_other_curve():
    calm = history(accuracy=(0.5, 0.7, 0.8))  # training losses 1, 0.6, 0.4
    lost = history("FedProx", accuracy=(0.4, -2.0, -1e20))  # 1.2, 6, 2 · 10²⁰
    figure = fl.plots.convergence({"FedAvg": calm, "FedProx": lost}, y="train_loss")
    assert figure.layout.yaxis.range == pytest.approx((0.0, 1.05 * 6))
    assert max(curves(figure)["FedProx"].y) > 1e20, "the numbers are still there"
    alone = fl.plots.convergence({"FedAvg": calm}, y="train_loss")
    assert alone.layout.yaxis.range is None


def test_an_algorithm_keeps_its_look_whatever_its_label_and_its_company():
    alone = curves(fl.plots.convergence({"baseline": history("FedProx")}))
    other = curves(
        fl.plots.drift({"FedNova": history("FedNova"), "FedProx μ=0.1": history("FedProx")})
    )
    assert look(alone["baseline"]) == look(other["FedProx μ=0.1"])
    mixed = curves(
        fl.plots.convergence({name: history(name) for name in ("Mine", "FedAvg", "Scaffold")})
    )
    swapped = curves(
        fl.plots.convergence({name: history(name) for name in ("Scaffold", "FedAvg", "Yours")})
    )
    assert look(mixed["FedAvg"]) == look(swapped["FedAvg"]) and look(mixed["Scaffold"]) == look(
        swapped["Scaffold"]
    )


def test_sources_are_dotted_behind_the_measured_curves():
    printed = {"FedAvg, as printed": ([1, 3], [0.4, 0.9])}
    figure = fl.plots.convergence({"FedAvg": history()}, illustration=printed)
    source, measured = figure.data
    assert (
        source.name == "FedAvg, as printed"
        and source.mode == "lines"
        and measured.mode == "lines+markers"
    )
    assert list(source.x) == [1, 3] and list(source.y) == [0.4, 0.9]
    assert source.line.color == measured.line.color and source.line.dash != measured.line.dash
    assert "FedAvg, as printed" in fl.plots.describe(figure)
    in_bytes = fl.plots.convergence(
        {"FedAvg": history()},
        x="bytes",
        illustration={"paper": ([2_000_000, 8_000_000], [0.4, 0.9])},
    )
    assert in_bytes.data[0].x == pytest.approx([2, 8])


def test_clients_shows_every_client_the_mean_and_the_worst_tenth():
    accuracy = tuple(np.linspace(0.05, 1.0, 20))
    figure = fl.plots.clients(
        {"FedAvg": history(clients=accuracy), "FedProx": history("FedProx", clients=(0.5, 0.7))}
    )
    boxes = {trace.name: trace for trace in figure.data if trace.type == "box"}
    assert boxes["FedAvg"].x == pytest.approx(accuracy) and boxes["FedProx"].x == pytest.approx(
        [0.5, 0.7]
    )
    marks = {
        trace.name: dict(zip(trace.y, trace.x, strict=True))
        for trace in figure.data
        if trace.type == "scatter"
    }
    assert marks["mean over clients"] == pytest.approx({"FedAvg": 0.525, "FedProx": 0.6})
    # The worst tenth of 20 clients are two, 5 % and 10 %; of two clients it is the worse one.
    assert marks["mean of the worst tenth"] == pytest.approx({"FedAvg": 0.075, "FedProx": 0.5})
    assert [note.text for note in figure.layout.annotations] == ["FedAvg", "FedProx"]


SPLIT = Split(torch.zeros(6, 1), torch.tensor([0, 0, 0, 1, 1, 2]))
FED = fl.FederatedDataset(
    Dataset("small", SPLIT, SPLIT, 3, ("cat", "dog", "elk")), [[0, 1, 3], [2], [4, 5]]
)


def test_partition_draws_the_label_counts_of_each_client():
    figure = fl.plots.partition(FED)
    heat, bars = figure.data
    assert heat.type == "heatmap" and list(heat.y) == ["cat", "dog", "elk"]
    assert np.nan_to_num(np.array(heat.z)).tolist() == [[2, 1, 0], [1, 0, 1], [0, 0, 1]]
    assert np.isnan(np.array(heat.z)[2, 0]), "a label that a client lacks stays white"
    assert list(bars.y) == [3, 1, 2]
    assert figure.layout.xaxis.title.text == "client" and figure.layout.yaxis.title.text == "label"


def every_figure() -> dict[str, go.Figure]:
    runs = {
        "FedAvg": [history(clients=(0.5, 1.0))] * 2,
        "FedProx μ=1": history("FedProx", clients=(0.25, 0.75)),
    }
    return {
        "convergence": fl.plots.convergence(runs, title="A title"),
        "drift": fl.plots.drift(runs),
        "clients": fl.plots.clients(runs),
        "partition": fl.plots.partition(FED),
    }


@pytest.mark.parametrize("name", ["convergence", "drift", "clients", "partition"])
def test_every_figure_is_described_readable_and_self_contained(name):
    default = pio.templates.default
    figure = every_figure()[name]
    assert pio.templates.default == default
    assert type(figure) is go.Figure
    text = fl.plots.describe(figure)
    assert (
        text == figure.layout.meta["alt"]
        and len(text) > 60
        and text.endswith(".")
        and "<" not in text
    )
    table = figure.layout.meta["table"]
    assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"])
    look = figure.layout.template.layout
    assert look.paper_bgcolor == look.plot_bgcolor == "white"
    assert look.legend.yref == "container" and look.legend.yanchor == "bottom", (
        "the legend stays below the data"
    )


def test_descriptions_hold_the_final_values():
    text = fl.plots.describe(
        fl.plots.convergence({"FedAvg": [history(), history(accuracy=(0.5, 0.6, 0.9))]})
    )
    assert "FedAvg 85.0% at round 3 (80.0% to 90.0%, minimum to maximum over 2 seeds)" in text
    assert "FedAvg 80.0% at 6 MB." in fl.plots.describe(
        fl.plots.convergence({"FedAvg": history()}, x="bytes")
    )
    shown = fl.plots.describe(fl.plots.clients({"FedAvg": history(clients=(0.5, 1.0))}))
    assert "FedAvg mean 75.0%, worst tenth 50.0%" in shown
    # Mixes (2/3, 1/3, 0), (1, 0, 0), (0, 1/2, 1/2) against (1/2, 1/3,
    # 1/6): EMD 1/3, 1, 1, weighted 3 : 1 : 2.
    held = fl.plots.describe(fl.plots.partition(FED))
    assert "3 clients hold 1 to 3 samples and on average 1.7 labels each; mean EMD 0.67" in held


UNMEASURED = history(accuracy=(float("nan"), float("nan")))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.plots.convergence({}), "histories: must be a non-empty mapping"),
        (
            lambda: fl.plots.convergence({"a": []}),
            r"histories\['a'\]: must be a History or a non-empty list",
        ),
        (lambda: fl.plots.convergence({"a": [history(), 3]}), r"histories\['a'\]"),
        (
            lambda: fl.plots.convergence({"a": history()}, x="round"),
            "x='round'.*Did you mean 'rounds'",
        ),
        (
            lambda: fl.plots.convergence({"a": history()}, y="accuracy"),
            "y='accuracy'.*'test_accuracy'",
        ),
        (lambda: fl.plots.convergence({"a": UNMEASURED}), "test_accuracy was not measured"),
        (
            lambda: fl.plots.convergence(
                {"a": [history("A", (0.1,), (1,)), history("A", (0.1,), (2,))]}
            ),
            "no evaluated round in common",
        ),
        (
            lambda: fl.plots.convergence({"a": history()}, illustration={"p": ([1, 2], [1])}),
            "inhomogeneous shape",
        ),
        (lambda: fl.plots.clients({"a": history()}), "accuracy per client was not measured"),
        (lambda: fl.plots.clients({"a": history(clients=(0.5, float("nan")))}), "was not measured"),
        (lambda: fl.plots.describe(go.Figure()), "figure: has no description"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
