"""Cohorts round by round: who trains, and what happens to the accuracy on each label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.engines import threads
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_core.server import Server
from fedlab_course import comparison_figures
from fedlab_course.explore.ideas import Idea, gallery

_ = translator(__name__)

_DOT = 0.055  # height of a client below the bars
_MOST_DOTS = 10
SHOWN = 30  # rounds
_STROKE = {"symbol": "line-ew-open", "size": 14, "color": INK, "line": {"width": 2}}
_COLUMNS = [
    _("draw"),
    _("label"),
    _("clients in the cohort"),
    _("accuracy before"),
    _("accuracy after"),
]


@dataclass(frozen=True)
class LabelStory:
    """A run of FedAvg with some rule for cohorts, one label a client, seen label by label.

    ``clients`` int [R, C]: how many clients of each cohort hold each of the C labels.
    ``accuracy`` [R, C]: on the test samples of each label after the round.
    """

    clients: np.ndarray
    accuracy: np.ndarray

    def changes(self) -> tuple[float, float]:
        """The mean change in a round of the accuracy on a label that somebody in the cohort holds,
        and on one that nobody holds; NaN if there is no such label.
        """
        change = np.diff(self.accuracy, axis=0)
        held = self.clients[1:] > 0
        return _mean(change[held]), _mean(change[~held])


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def watch(
    fed: fl.FederatedDataset, model: nn.Module, rule: fl.Algorithm, **setting: Any
) -> LabelStory:
    """Run ``rule`` on clients with one label each, and look at every label after every round.

    At most the first ``SHOWN`` rounds are run. ``setting``: the other arguments of
    :func:`fedlab_core.simulate`.
    """
    held = np.array([int(fed.y[part[0]]) for part in fed.parts])
    count = int(held.max()) + 1
    test = fed.test
    labels = test.y.numpy()
    clients = []
    accuracy = []
    short = {"rounds": min(SHOWN, setting["rounds"]), "train_loss": False}
    simulation = fl.Simulation(fed, model, rule, **setting | short)
    for _unused in simulation:
        clients.append(np.bincount(held[np.concatenate(simulation.cohorts)], minlength=count))
        with torch.no_grad(), threads.one_inside():
            right = simulation.model(test.x).argmax(1).numpy() == labels
        accuracy.append([right[labels == label].mean() for label in range(count)])
    return LabelStory(np.array(clients), np.array(accuracy))


def story(watched: Mapping[str, LabelStory], *, value: int = 1, words: str = "") -> Idea:
    """Bars for the accuracy on each label after a round, and below each bar a dot for every client
    of the cohort that holds the label. Slider ``value``: the round.

    A label that nobody in the cohort holds has another colour, and a cross. ``watched``: name of
    the draw → its run; a panel each. ``words``: for the title, such as "with your code".
    """
    rounds = min(len(run.accuracy) for run in watched.values())
    figures = {float(number): after(watched, number, words) for number in range(1, rounds + 1)}
    return gallery(figures, _("round"), value=float(min(value, rounds)))


def before(watched: Mapping[str, LabelStory], number: int) -> go.Figure:
    """The picture of round ``number`` ≥ 2 without its bars: who trains, and the strokes."""
    figure = after(watched, number, _("before training"))
    figure.data = [trace for trace in figure.data if trace.type != "bar"]
    table = figure.layout.meta["table"]
    text = _(
        "Round {number}, before training. Clients that hold each label, and its accuracy then."
    ).format(number=number)
    rows = [row[:-1] for row in table["rows"]]
    set_description(figure, text, table["columns"][:-1], rows)
    return figure


def after(watched: Mapping[str, LabelStory], number: int, about: str = "") -> go.Figure:
    """The picture of :func:`story` for one round; ``about``: words for its title."""
    heading = _("Round {number}, {about}") if about else _("Round {number}")
    heading = heading.format(number=number, about=about)
    figure = new_figure(title=heading, x_title="", y_title="", height=390, legend=False)
    names = [f"<b>{name}</b>" for name in watched]
    figure.set_subplots(1, len(watched), shared_yaxes=True, subplot_titles=names)
    rows: list[list[Any]] = []
    words = []
    for panel, (name, run) in enumerate(watched.items(), start=1):
        now = run.accuracy[number - 1]
        clients = run.clients[number - 1]
        before = run.accuracy[number - 2] if number > 1 else np.zeros_like(now)
        _add_bars(figure, panel, now, before, clients)
        missing = int((clients == 0).sum())
        phrase = _("{name}: labels missing {missing}, mean accuracy {mean:.0%}")
        words.append(phrase.format(name=name, missing=missing, mean=now.mean()))
        rows += [
            [name, label, int(clients[label]), f"{before[label]:.0%}", f"{now[label]:.0%}"]
            for label in range(len(now))
        ]
    lowest = -_DOT * (1 + min(_MOST_DOTS, max(int(row[2]) for row in rows)))
    figure.update_yaxes(range=[min(lowest, -0.3), 1.04], tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_yaxes(tickformat=".0%", title=_("accuracy on the label"), col=1)
    figure.update_xaxes(title=_("label"), dtick=1, showgrid=False)
    figure.update_layout(bargap=0.25, margin_t=84, margin_l=80, title_pad_b=34)
    text = _("Round {number}. Accuracy on each label, and clients that hold it. {phrases}.")
    text = text.format(number=number, phrases=_("; ").join(words))
    set_description(figure, text, _COLUMNS, rows)
    return figure


def _add_bars(
    figure: go.Figure, panel: int, now: np.ndarray, before: np.ndarray, clients: np.ndarray
) -> None:
    """Add the bars of one draw, a stroke where each was a round before, and the clients as dots."""
    labels = np.arange(len(now))
    place = {"row": 1, "col": panel}
    colours = [GROUPS[0] if count else GROUPS[2] for count in clients]
    hover = _("label %{x}: %{y:.0%}, %{customdata} clients") + "<extra></extra>"
    figure.add_bar(
        x=labels, y=now, marker_color=colours, customdata=clients, hovertemplate=hover, **place
    )
    figure.add_scatter(
        x=labels,
        y=before,
        mode="markers",
        marker=_STROKE,
        hovertemplate=_("label %{x}, the round before: %{y:.0%}") + "<extra></extra>",
        **place,
    )
    stacked = [
        (label, -_DOT * (row + 1))
        for label, count in enumerate(clients.tolist())
        for row in range(min(count, _MOST_DOTS))
    ]
    figure.add_scatter(
        x=[dot[0] for dot in stacked],
        y=[dot[1] for dot in stacked],
        mode="markers",
        marker={"color": INK, "size": 7},
        hovertemplate=_("a client with label %{x}") + "<extra></extra>",
        **place,
    )
    missing = labels[clients == 0]
    figure.add_scatter(
        x=missing,
        y=[-_DOT] * len(missing),
        mode="markers",
        marker={"symbol": "x-thin-open", "size": 9, "color": GROUPS[2], "line": {"width": 2.5}},
        hoverinfo="skip",
        **place,
    )


class StartsAtFirst(fl.Algorithm):
    """The systematic draw without a random start: it always begins at the first place."""

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = np.asarray(labels)

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        shuffled = server.stream("cohort").permutation(server.num_clients)
        row = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        yield row[0 :: server.num_clients // server.clients_per_round]


class Neighbours(fl.Algorithm):
    """The patient: K neighbours in the row of strata, in place of every (N/K)-th client."""

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = np.asarray(labels)

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        rng = server.stream("cohort")
        size = server.clients_per_round
        shuffled = rng.permutation(server.num_clients)
        row = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        first = size * rng.integers(server.num_clients // size)
        yield row[first : first + size]


def turns(
    fed: fl.FederatedDataset,
    model: nn.Module,
    rules: Mapping[str, fl.Algorithm],
    labels: Sequence[int] | np.ndarray,
    *,
    title: str,
    **setting: Any,
) -> go.Figure:
    """The rounds in which each client trains: clients in a row, stratum by stratum.

    ``rules``: name → algorithm; ``labels`` [N]: the strata. The dotted line is the expected number,
    R·K/N.
    """
    order = np.argsort(labels, kind="stable")
    expected = setting["rounds"] * setting["clients_per_round"] / fed.num_clients
    figure = new_figure(
        title=title,
        x_title=_("clients, stratum by stratum"),
        y_title=_("rounds in which it trains"),
    )
    hover = _("client %{customdata}: %{y} rounds")
    phrase = _("{name}: clients that never train {never}, most rounds of one {most}")
    rows = []
    words = []
    for number, (name, rule) in enumerate(rules.items()):
        counts = counted(fed, model, rule, **setting)
        never = int((counts == 0).sum())
        marker = {"size": 8, "color": GROUPS[2 * number], "symbol": ("circle", "x")[number]}
        figure.add_scatter(
            x=np.arange(len(order)),
            y=counts[order],
            mode="markers",
            marker=marker,
            customdata=order,
            name=_("{name}, never train: {never}").format(name=name, never=never),
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )
        rows.append([name, never, int(counts.max())])
        words.append(phrase.format(name=name, never=never, most=counts.max()))
    line = {"color": GREY, "dash": "dot", "width": 2}
    comparison_figures.add_level(figure, (0, len(order) - 1), expected, _("expected"), line)
    text = _("Rounds in which each of {count} clients trains. {phrases}.")
    text = text.format(count=len(order), phrases=_("; ").join(words))
    set_description(figure, text, [_("draw"), _("never train"), _("most rounds of a client")], rows)
    return figure


def counted(
    fed: fl.FederatedDataset, model: nn.Module, rule: fl.Algorithm, **setting: Any
) -> np.ndarray:
    """The rounds in which each client is drawn, int [N]. Nobody trains for more than a step."""
    quick = {**setting, "local_epochs": None, "local_steps": 1, "train_loss": False}
    simulation = fl.Simulation(fed, model, rule, **quick | {"eval_every": setting["rounds"]})
    counts = np.zeros(fed.num_clients, dtype=int)
    for _unused in simulation:
        for cohort in simulation.cohorts:
            counts[cohort] += 1
    return counts
