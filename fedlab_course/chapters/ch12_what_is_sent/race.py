"""The reader's ``send`` and lazy clients in a federation, and what their uploads cost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Compressed
from fedlab_core.algorithms.base import LocalUpdates, Server
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.evidence import tables

_ = translator(__name__)
Send = Callable[[np.ndarray, np.ndarray, int], tuple[Any, Any]]
TARGET = 0.8
_BYTES = 8  # of an entry: a value and an index of 4 bytes each
_MEGABYTE = 1e6
_STORED = {"partition": "two labels", "epochs": 5}


class Racer(NamedTuple):
    """One method of the race: its algorithm, its row of the stored table, and its look. Without an
    algorithm there are only stored runs.
    """

    algorithm: fl.Algorithm | None
    stored: str
    colour: str
    symbol: str
    label: str  # where its name is, for Plotly


class Sending(fl.Algorithm):
    """FedAvg on what ``send`` sends: a share ``keep`` of the entries, with a residual for each
    client, or with none in ``forgets``.
    """

    def __init__(self, send: Send, keep: float, forgets: bool = False) -> None:
        self.keep = keep
        self.forgets = forgets
        self._send = send

    def setup(self, server: Server) -> None:
        server.state["residuals"] = server.client_table()

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        table = server.state["residuals"]
        count = max(1, round(self.keep * server.num_parameters))
        moves = (updates.params - server.params).numpy()
        rows = []
        for client, move in zip(updates.clients.tolist(), moves, strict=True):
            sent, kept = self._send(move, table[client].numpy(), count)
            if not self.forgets:
                table[client] = _tensor(kept)
            rows.append(_tensor(sent))
        return replace(updates, params=server.params + torch.stack(rows))

    def describe(self) -> dict[str, Any]:
        return {"name": type(self).__name__, "keep": self.keep, "forgets": self.forgets}


def _tensor(values: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float32))


class Counted(fl.Algorithm):
    """Another algorithm, with the number of entries that its clients send in each round, and which
    entries anybody sends [P].
    """

    def __init__(self, inner: fl.Algorithm) -> None:
        self.entries: list[int] = []
        self.anybody: list[torch.Tensor] = []
        self._inner = inner

    def setup(self, server: Server) -> None:
        self._inner.setup(server)

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        sent = self._inner.upload(server, updates)
        is_sent = sent.params != server.params
        self.entries.append(int(is_sent.sum()))
        self.anybody.append(is_sent.any(0))
        return sent

    def describe(self) -> dict[str, Any]:
        return {"name": type(self).__name__}


def run(
    fed: fl.FederatedDataset, model: torch.nn.Module, algorithm: fl.Algorithm, **work: Any
) -> dict[str, float]:
    """Megabytes in both directions up to 80 %, NaN if never; the accuracy of the last five rounds;
    the share of the entries that was sent, and of those that anybody ever sent.

    Clients send values with indices, or all values where that is shorter.
    """
    counted = Counted(algorithm)
    frame = fl.simulate(fed, model, counted, **work).frame
    full = work["clients_per_round"] * sum(p.numel() for p in model.parameters())
    entries = np.array(counted.entries)
    up = np.minimum(_BYTES * entries, 4 * full)
    spent = (4 * full + up).cumsum() / _MEGABYTE
    reached = frame.test_accuracy.to_numpy() >= TARGET
    return {
        "megabytes": float(spent[reached.argmax()]) if reached.any() else np.nan,
        "end": float(frame.test_accuracy.tail(5).mean()),
        "share": float(entries.mean() / full),
        "ever": float(torch.stack(counted.anybody).any(0).double().mean()),
    }


def traffic(
    fed: fl.FederatedDataset, model: torch.nn.Module, keep: float, bits: int, **work: Any
) -> go.Figure:
    """Kilobytes of one client in one round, down and up, as the library counts them."""
    share = _("a share of {share:g}")
    rules = {
        _("all entries"): fl.FedAvg(),
        share.format(share=keep): Compressed(fl.FedAvg(), keep=keep),
        share.format(share=0.01): Compressed(fl.FedAvg(), keep=0.01),
        _("{bits} bits each").format(bits=bits): Compressed(fl.FedAvg(), bits=bits),
    }
    once = work | {"rounds": 1, "local_epochs": 1}
    rows = []
    for name, rule in rules.items():
        record = fl.simulate(fed, model, rule, **once).records[0]
        clients = once["clients_per_round"]
        both = [size / clients / 1000 for size in (record.bytes_down, record.bytes_up)]
        rows.append([name, *both, sum(both)])
    title = _("One client in one round")
    figure = new_figure(title=title, x_title=_("kilobytes"), y_title="", height=330, legend=False)
    names = [row[0] for row in rows]
    for column, way, colour in (
        (1, _("{size:.1f} down"), GREY),
        (2, _("{size:.1f} up"), GROUPS[4]),
    ):
        values = [row[column] for row in rows]
        figure.add_bar(
            x=values,
            y=names,
            orientation="h",
            marker={"color": colour},
            text=[way.format(size=value) for value in values],
            textposition=["inside" if value > 20 else "outside" for value in values],
            insidetextfont={"color": "white"},
            textangle=0,
        )
    figure.update_layout(barmode="stack")
    figure.update_yaxes(autorange="reversed", showline=False, ticks="")
    lines = [[name, *(f"{value:.1f}" for value in values)] for name, *values in rows]
    each = _("{name}: {down} down, {up} up")
    phrases = "; ".join(each.format(name=row[0], down=row[1], up=row[2]) for row in lines)
    text = _("Bars: kilobytes of one client in one round. {phrases}.").format(phrases=phrases)
    set_description(figure, text, [_("what is sent"), _("down"), _("up"), _("both")], lines)
    return figure


def racers(send: Send, lazy: fl.Algorithm) -> dict[str, Racer]:
    """The methods of the race by name; all but FedAvg run the reader's code."""
    return {
        _("all entries"): Racer(fl.FedAvg(), "FedAvg", INK, "circle", "top center"),
        _("a tenth"): Racer(Sending(send, 0.1), "keep 0.1", GROUPS[0], "square", "top center"),
        _("lazy"): Racer(lazy, "", GROUPS[4], "diamond", "middle left"),
        _("a hundredth"): Racer(
            Sending(send, 0.01), "keep 0.01", GROUPS[2], "triangle-up", "middle right"
        ),
        _("a hundredth,<br>forgets"): Racer(
            Sending(send, 0.01, forgets=True),
            "keep 0.01, forgetful",
            GROUPS[3],
            "triangle-down",
            "middle left",
        ),
        _("four bits"): Racer(None, "4 bits", GROUPS[5], "cross", "top right"),
    }


def race(
    fed: fl.FederatedDataset,
    model: torch.nn.Module,
    send: Send,
    lazy: fl.Algorithm,
    **work: Any,
) -> go.Figure:
    """End accuracy against the megabytes to 80 %: a large marker for each run here, and a cross for
    the stored seeds, mean ± 2 standard errors.
    """
    words = own.whose(send, lazy)
    figure = new_figure(
        title=_("Two labels, {words}").format(words=words),
        x_title=_("megabytes to 80 %, up and down"),
        y_title=_("test accuracy at the end"),
        height=480,
        legend=False,
    )
    rows = []
    for name, racer in racers(send, lazy).items():
        here = [""] * 4
        start = None
        if racer.algorithm is not None:
            found = run(fed, model, racer.algorithm, **work)
            start = (found["megabytes"], found["end"])
            _marker(figure, name, racer, start)
            shares = [f"{found[key]:.1%}" for key in ("end", "share", "ever")]
            here = [f"{found['megabytes']:.1f}", *shares]
        stored = racer.stored and fed.dataset.name == "digits"
        means = _cross(figure, name, racer, start) if stored else ["", ""]
        rows.append([name.replace("<br>", " "), *here, *means])
    x, y = (np.concatenate([trace[axis] for trace in figure.data]) for axis in "xy")
    figure.update_xaxes(range=[0, 1.15 * np.nanmax(x)])
    figure.update_yaxes(tickformat=".0%", range=[y.min() - 0.02, y.max() + 0.01])
    _describe(figure, rows, words)
    return figure


def _describe(figure: go.Figure, rows: Sequence[Sequence[str]], words: str) -> None:
    """Say what the race shows, and give its table."""
    each = _("{name}: {megabytes} MB, then {accuracy}")
    phrases = "; ".join(
        each.format(name=row[0], megabytes=row[1], accuracy=row[2]) for row in rows if row[1]
    )
    text = _(
        "One run each, {words}: megabytes to 80 %, and accuracy at the end. {phrases}."
    ).format(words=words, phrases=phrases)
    heads = [
        _("what is sent"),
        _("MB to 80 %"),
        _("at the end"),
        _("entries sent"),
        _("sent at least once"),
        _("MB, stored mean"),
        _("end, stored mean"),
    ]
    set_description(figure, text, heads, rows)


def _marker(figure: go.Figure, name: str, racer: Racer, place: tuple[float, float]) -> None:
    """Add the large marker of a run here, with its name."""
    figure.add_scatter(
        x=[place[0]],
        y=[place[1]],
        mode="markers+text",
        text=[name],
        textposition=racer.label,
        textfont={"color": racer.colour},
        marker={"color": racer.colour, "symbol": racer.symbol, "size": 13},
    )


def _cross(
    figure: go.Figure, name: str, racer: Racer, start: tuple[float, float] | None
) -> list[str]:
    """Add the means of the stored seeds with two standard errors to both sides; return them.

    ``start``: the place of the run here, from which a thin line goes to the cross; without it the
    cross has the name.
    """
    stored = tables.matching("compressed", _STORED | {"method": racer.stored})
    columns = stored[["megabytes_to_80", "end_accuracy"]]
    mean = columns.mean()
    error = 2 * columns.sem()
    bars = [{"type": "data", "array": [e], "color": racer.colour, "thickness": 2} for e in error]
    figure.add_scatter(
        x=[mean.iloc[0]],
        y=[mean.iloc[1]],
        mode="markers",
        marker={"color": racer.colour, "size": 3},
        error_x=bars[0],
        error_y=bars[1],
    )
    if start:
        both = {"x": [start[0], mean.iloc[0]], "y": [start[1], mean.iloc[1]]}
        figure.add_scatter(**both, mode="lines", line={"color": racer.colour, "width": 0.8})
    else:
        where = {"x": mean.iloc[0], "y": mean.iloc[1], "ax": 60, "ay": -34}
        figure.add_annotation(**where, text=name, font={"color": racer.colour}, standoff=3)
    return [
        f"{mean.iloc[0]:.1f} ± {error.iloc[0]:.1f}",
        f"{mean.iloc[1]:.1%} ± {error.iloc[1]:.1%}",
    ]
