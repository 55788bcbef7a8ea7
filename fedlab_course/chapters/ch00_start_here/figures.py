"""Figures of chapter 0: the NumPy and the PyTorch FedAvg, averages of two networks, and what skew
costs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core.data import Dataset
from fedlab_core.language import translator
from fedlab_core.plots.colours import GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch00_start_here import softmax
from fedlab_course.check import own
from fedlab_course.comparison_figures import differences
from fedlab_course.evidence import tables

_ = translator(__name__)
State = Mapping[str, torch.Tensor]
SHARES = 20  # steps from one network to the other
MARGIN = 0.01  # δ
NETWORKS = {_("two hidden layers of 32"): (32, 32), _("one hidden layer of 200"): (200,)}
# colour, dash, and pixels from the middle of the curve up to its name
_STARTS = {
    _("one start for both"): (GROUPS[3], "solid", 14),
    _("a start for each"): (GROUPS[2], "9px,3px", -14),
}


def largest_differences(mine: Sequence[np.ndarray], theirs: Sequence[State]) -> np.ndarray:
    """The largest absolute difference of any parameter, after each round [R + 1]."""
    pairs = zip(mine, theirs, strict=True)
    return np.array([np.abs(w - softmax.flat(state)).max() for w, state in pairs])


def twins(
    mine: Sequence[np.ndarray], theirs: Sequence[State], data: Dataset, *functions: Any
) -> go.Figure:
    """Accuracy by round above, and below it how far two runs are apart in any parameter.

    ``mine``: the parameters [P] of softmax regression after 0, 1, … rounds; ``theirs``: the state
    dicts of the other run. ``functions``: the reader's, which made ``mine``.
    """
    words = own.whose(*functions)
    rounds = np.arange(len(mine))
    accuracy = np.array([softmax.accuracy(w, data) for w in mine])
    gaps = largest_differences(mine, theirs)
    title = _("NumPy and PyTorch, {words}").format(words=words)
    figure = new_figure(title=title, x_title="", y_title="", height=520, legend=False)
    figure.add_scatter(
        x=rounds, y=accuracy, mode="lines+markers", line={"color": INK}, marker={"size": 7}
    )
    below = {"xaxis": "x2", "yaxis": "y2", "mode": "lines+markers"}
    shown = np.where(gaps > 0, gaps, np.nan)  # zero has no place on a logarithmic axis
    figure.add_scatter(x=rounds, y=shown, line={"color": GROUPS[4]}, marker={"size": 7}, **below)
    figure.update_layout(
        xaxis={"anchor": "y", "showticklabels": False},
        yaxis={"domain": [0.55, 1], "tickformat": ".0%", "title": _("test accuracy")},
        xaxis2={"anchor": "y2", "title": _("round")},
        yaxis2={
            "domain": [0, 0.42],
            "type": "log",
            "range": [-17.5, -11.5],
            "dtick": 1,
            "exponentformat": "power",
            "title": _("largest difference"),
        },
    )
    text = _(
        "Two charts over {rounds} rounds, {words}. Above, the test accuracy, which ends at "
        "{accuracy:.1%}. Below, the largest difference of any parameter between NumPy and "
        "PyTorch: at most {gap:.1g}."
    ).format(rounds=len(mine) - 1, words=words, accuracy=accuracy[-1], gap=gaps.max())
    rows = [
        [t, f"{share:.1%}", f"{gap:.1g}"]
        for t, share, gap in zip(rounds, accuracy, gaps, strict=True)
    ]
    columns = [_("round"), _("test accuracy"), _("largest difference")]
    set_description(figure, text, columns, rows)
    return figure


def between(aggregate: Callable[..., Any], data: Dataset, seed: int) -> go.Figure:
    """Accuracy of the averages of two networks that each trained on a half of the training images,
    with one start for both and with a start for each; a panel for a narrow and one for a wide
    network.

    ``aggregate(models, sizes)`` averages, with sizes from 0 to 20 for the second network.
    """
    words = own.whose(aggregate)
    title = _("The average of two networks, {words}").format(words=words)
    figure = new_figure(title=title, x_title="", y_title="", legend=False)
    share = _("share of network 2")
    figure.update_layout(
        xaxis={"domain": [0, 0.47], "title": share},
        xaxis2={"domain": [0.53, 1], "title": share, "anchor": "y2"},
        yaxis={"tickformat": ".0%", "range": [0, 1.12], "title": _("test accuracy")},
        yaxis2={"showticklabels": False, "range": [0, 1.12], "anchor": "x2"},
    )
    rows = []
    for axes, (name, hidden) in zip(("", "2"), NETWORKS.items(), strict=True):
        place = {"xref": f"x{axes}", "yref": f"y{axes}", "showarrow": False}
        figure.add_annotation(x=0.5, y=0.04, text=f"<b>{name}</b>", **place)
        for start, accuracies in _averages(aggregate, data, seed, hidden).items():
            _add_average(figure, axes, start, accuracies)
            three = (accuracies[0], accuracies[SHARES // 2], accuracies[-1])
            both = _("{network}, {start}").format(network=name, start=start)
            rows.append([both, *(f"{value:.1%}" for value in three)])
    phrases = "; ".join(f"{name}: {one}, {half}, {two}" for name, one, half, two in rows)
    text = _(
        "Test accuracy of the average of two networks, {words}: network 1 alone, the plain mean, "
        "network 2 alone. {phrases}."
    ).format(words=words, phrases=phrases)
    columns = [_("networks"), _("network 1"), _("their mean"), _("network 2")]
    set_description(figure, text, columns, rows)
    return figure


def _averages(
    aggregate: Callable[..., Any], data: Dataset, seed: int, hidden: Sequence[int]
) -> dict[str, list[float]]:
    """Start → the accuracies of the averages, from network 1 alone to network 2 alone."""
    halves = fl.partition.iid(data.train.y, num_clients=2, seed=seed)
    first = _trained(data, halves[0], hidden, seed)
    found = {}
    for name, start in zip(_STARTS, (seed, seed + 1), strict=True):
        models = np.stack([first, _trained(data, halves[1], hidden, start)])
        sizes = [np.array([SHARES - i, i]) for i in range(SHARES + 1)]
        found[name] = _accuracies([aggregate(models, n) for n in sizes], data, hidden)
    return found


def _add_average(figure: go.Figure, axes: str, start: str, accuracies: list[float]) -> None:
    """Add a curve with its name at its middle."""
    colour, dash, shift = _STARTS[start]
    line = {"color": colour, "dash": dash, "width": 3}
    x = np.arange(SHARES + 1) / SHARES
    place = {"xaxis": f"x{axes}", "yaxis": f"y{axes}"}
    figure.add_scatter(x=x, y=accuracies, mode="lines", line=line, name=start, **place)
    name = {"text": start, "font": {"color": colour}, "showarrow": False, "yshift": shift}
    name |= {"xref": f"x{axes}", "yref": f"y{axes}"}
    figure.add_annotation(x=0.5, y=accuracies[SHARES // 2], **name)


def _trained(data: Dataset, half: Any, hidden: Sequence[int], seed: int) -> np.ndarray:
    """The parameters [P] of a network that has trained on a part of the training images alone."""
    fed = fl.FederatedDataset(data, [half])
    epochs = 20 if len(data.train.y) < 10_000 else 1
    work: dict[str, Any] = {"clients_per_round": 1, "batch_size": 10, "local_epochs": epochs}
    model = fl.models.mlp(fed, hidden, seed=seed)
    work |= {"lr": 0.1, "rounds": 1, "seed": seed, "progress": False}
    params = fl.simulate(fed, model, fl.FedAvg(), **work).params
    return np.asarray(params)


def _accuracies(models: Sequence[Any], data: Dataset, hidden: Sequence[int]) -> list[float]:
    """The test accuracy of a network with each of these parameters [P]."""
    everything = fl.FederatedDataset(data, [np.arange(len(data.train.y))])
    network = fl.models.mlp(everything, hidden)
    shares = []
    for params in models:
        vector = torch.as_tensor(np.asarray(params), dtype=torch.float32)
        torch.nn.utils.vector_to_parameters(vector, network.parameters())
        with torch.no_grad():
            right = network(data.test.x).argmax(dim=1) == data.test.y
        shares.append(float(right.double().mean()))
    return shares


def cost_of_skew() -> go.Figure:
    """Accuracy with IID clients less that with Dirichlet clients, a dot for each stored seed."""
    iid = {"partition": "iid"}
    mild = {"partition": "dirichlet", "alpha": 0.3}
    strong = {"partition": "dirichlet", "alpha": 0.05}
    best = {"method": "FedAvg", "epochs": 5, "best_by": "rounds"}
    gaps = {
        _("α = 0.3, rounds 1 to 10"): _gap("first_skew", "start_accuracy", iid, mild),
        _("α = 0.3, rounds 46 to 50"): _gap("first_skew", "end_accuracy", iid, mild),
        _("the same, each at its best η"): _gap(
            "rated_digits",
            "end_accuracy",
            best | {"partition": "iid"},
            best | {"partition": "dirichlet_0.3"},
        ),
        _("α = 0.05, rounds 46 to 50"): _gap("first_skew", "end_accuracy", iid, strong),
    }
    figure = differences(
        gaps,
        margin=MARGIN,
        title=_("What skew costs"),
        x_title=_("accuracy of IID minus Dirichlet, in points"),
        digits=2,  # an interval ends just below δ
    )
    return figure.update_annotations(x=0, xanchor="left", selector={"xref": "paper"})


def _gap(table: str, measure: str, plus: Mapping[str, Any], minus: Mapping[str, Any]) -> np.ndarray:
    """The difference of a measure between two kinds of stored runs, one for each seed."""
    more, less = (tables.matching(table, rows).set_index("seed")[measure] for rows in (plus, minus))
    gap: np.ndarray = (more - less).dropna().to_numpy()
    return gap
