"""The figures of chapter 8: paths on two quadratics, and the stored FedDyn with its halves, at one
rate and at fair rates.
"""

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import COMPETITORS, GREY, GROUPS
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures as comparison
from fedlab_course.check import on_quadratics, own
from fedlab_course.evidence import best_rates, configs, tables
from fedlab_course.explore import ideas

_ = translator(__name__)

A = [1.0, 3.0]
B = [0.0, 1.0]
OPTIMUM = 0.75  # Σ a_k b_k / Σ a_k
_ROUNDS = 60
_WORK: dict[str, Any] = {"rounds": _ROUNDS, "local_steps": 10, "lr": 0.05}
_SEEN = (-0.2, 2.1)  # of w on the axis; a path that ends elsewhere is said to run away
_NEAR = (0.6, 1.0)  # about the ends, which differ by hundredths
_WITH_OVERSHOOT = (0.0, 1.0)  # FedDyn with a small μ walks far beyond its end
_COPIES = 5  # of each client, where some of them are absent
_SOME_ABSENT = {**_WORK, "clients_per_round": 2}
_HEIGHT = 520
_PLOT = 400  # pixels of the height without the frame, about
# FedDyn and its server's half nearly coincide: one is solid, the other dashed.
CLIENTS_HALF = _("clients' half")
SERVERS_HALF = _("server's half")
_LOOKS = {
    "FedDyn": Look(GROUPS[COMPETITORS["FedDyn"]], "solid", "circle"),
    SERVERS_HALF: Look(GROUPS[2], "9px,3px", "square"),
    CLIENTS_HALF: Look(GROUPS[3], "solid", "diamond"),
    "Mine": Look(GROUPS[COMPETITORS["Mine"]], "solid", "x"),
    "Mine(0.0)": Look(GROUPS[0], "9px,9px", "star"),  # its dashes lie on FedAvg's line
}
# Mine less a rival, by ``compare`` with its defaults (seven rates, one seed that chooses, five that
# judge) and seeds=range(5, 10): how many more of the test images Mine gets right under each seed,
# against ``fl.FedAvg()`` and ``fl.algorithms.FedAvgM()``. Best rates: 0.4, and 0.1 for FedAvgM.
IMAGES = 355
LEADS = {
    "FedAvg": np.array([15, 7, 9, 4, 6]) / IMAGES,
    "FedAvgM": np.array([10, 1, 1, 5, 3]) / IMAGES,
}
MINE = "FedAvgM 0.5"  # the course's Mine in the tables of best rates
# The methods of the figure at fair rates: name in the tables → name in the figure, and the pairs.
_FAIR = {
    "FedDyn": "FedDyn",
    "FedAvg": "FedAvg",
    "FedAvgM": "FedAvgM",
    "FedDyn server's half": SERVERS_HALF,
    "FedDyn clients' half": CLIENTS_HALF,
}
_PAIRS = (
    *(("FedDyn", rival) for rival in _FAIR if rival != "FedDyn"),
    ("FedDyn server's half", "FedAvg"),
    ("FedDyn clients' half", "FedAvg"),
)
_OPTIMUM = _("optimum")


def paths(
    rules: dict[str, fl.Algorithm], *, title: str, seen: tuple[float, float] = _SEEN
) -> go.Figure:
    """w after each round, on two clients that pull to 0 and 1; their common optimum is 0.75.

    ``rules``: name → algorithm. ``seen``: the part of the axis of w that is shown. A path that
    runs away is drawn to the round in which it leaves −0.2 … 2.1.
    """
    found = {name: on_quadratics.path(_made(rule), [], A, B, _WORK) for name, rule in rules.items()}
    return _drawn(found, title, seen)


def stops(mine: Callable[..., fl.Algorithm], at: float | EllipsisType, *, title: str) -> go.Figure:
    """:func:`paths` of FedAvg, ``mine()`` and ``mine(0.0)``, with a level ``at`` the w where its
    author says that ``mine()`` stops; no level for ``...``, but of the course's ``mine``.
    """
    rules = {"FedAvg": fl.FedAvg(), "Mine": mine(), "Mine(0.0)": mine(0.0)}
    figure = paths(rules, title=title)
    said = _said(mine, at)
    if said is None:
        return figure
    line = {"color": _LOOKS["Mine"].colour, "width": 1, "dash": "dash"}
    name = _("you say: Mine stops here")
    if at is ...:
        name = _("the course says: Mine stops here")
    comparison.add_level(figure, (0.0, float(_ROUNDS)), said, name, line)
    words: dict[str, Any] = {"text": name, "font": {"color": line["color"]}, "showarrow": False}
    figure.add_annotation(x=_ROUNDS / 2, y=said, yshift=-14, **words)
    return figure


def stops_at(mine: Callable[..., fl.Algorithm], at: float | EllipsisType) -> bool:
    """Whether w is within 0.002 of ``at`` in each of the rounds 201 to 300 of ``mine()``; ``...``
    is as in :func:`stops`.
    """
    said = _said(mine, at)
    if said is None:
        return False
    path = on_quadratics.path(mine, [], A, B, {**_WORK, "rounds": 300})
    return bool(np.abs(np.array(path[200:]) - said).max() < 0.002)


def _said(mine: Callable[..., fl.Algorithm], at: float | EllipsisType) -> float | None:
    """Where the author of ``mine`` says that it stops. The course's Mine stops where FedAvg stops:
    Σ s_k (b_k − w) = 0.
    """
    if not isinstance(at, EllipsisType):
        return float(at)
    if own.is_own(mine):
        return None
    share = 1 - (1 - _WORK["lr"] * np.array(A)) ** _WORK["local_steps"]
    return float(share @ B / share.sum())


def paths_with_absence(rules: dict[str, fl.Algorithm], *, title: str) -> go.Figure:
    """:func:`paths` on five copies of each client, of which two of ten take part in a round."""
    clients = A * _COPIES, B * _COPIES
    found = {
        name: on_quadratics.path(_made(rule), [], *clients, _SOME_ABSENT)
        for name, rule in rules.items()
    }
    return _drawn(found, title, _SEEN)


def _drawn(found: dict[str, list[float]], title: str, seen: tuple[float, float]) -> go.Figure:
    """Draw the paths ``found`` (name → w after each round), each with its name at its end."""
    styles = looks({name: name for name in found}, _LOOKS)
    label = _("w (start: w = {start:g})").format(start=on_quadratics.START)
    words = {"title": title, "x_title": _("round"), "y_title": label}
    figure = new_figure(**words, height=_HEIGHT, legend=False)
    ends = {_OPTIMUM: (float(_ROUNDS), OPTIMUM)}
    colours = {_OPTIMUM: GREY}
    rows = []
    for name, path in found.items():
        shown = path if _is_seen(path[-1]) else _until_it_leaves(path)
        _add_path(figure, name, [on_quadratics.START, *shown], styles[name])
        rows.append([name, f"{path[-1]:.4f}", f"{abs(path[-1] - OPTIMUM):.4f}"])
        if _is_seen(path[-1]):
            ends[name] = (float(len(path)), path[-1])
            colours[name] = styles[name].colour
        else:
            _note_of_escape(figure, name, shown, styles[name])
    dots = {"color": GREY, "width": 2, "dash": "dot"}
    comparison.add_level(figure, (0.0, float(_ROUNDS)), OPTIMUM, _OPTIMUM, dots)
    span = seen[1] - seen[0]
    comparison.name_ends(figure, ends, colours, span, height=_PLOT, leader=comparison.LEADER)
    figure.update_xaxes(range=[0, _ROUNDS])
    figure.update_yaxes(range=list(seen))
    if seen[1] < on_quadratics.START:
        _note_of_start(figure)
    _describe_paths(figure, rows)
    return figure


def _is_seen(w: float) -> bool:
    return _SEEN[0] < w < _SEEN[1]


def _until_it_leaves(path: list[float]) -> list[float]:
    """The path as far as its first w that is not seen, with it."""
    first = next(i for i, w in enumerate(path) if not _is_seen(w))
    return path[: first + 1]


def _describe_paths(figure: go.Figure, rows: list[list[str]]) -> None:
    """Describe the paths by name, end and distance from the optimum."""
    phrase = _("{name} at {end}, {gap} from the optimum")
    phrases = [phrase.format(name=name, end=end, gap=gap) for name, end, gap in rows]
    text = _(
        "w round by round on two quadratics with optimum {optimum}. After {rounds} rounds: "
        "{phrases}."
    ).format(optimum=OPTIMUM, rounds=_ROUNDS, phrases=_("; ").join(phrases))
    end = _("w after {rounds} rounds").format(rounds=_ROUNDS)
    set_description(figure, text, [_("algorithm"), end, _("from the optimum")], rows)


def _add_path(figure: go.Figure, name: str, values: Sequence[float], style: Look) -> None:
    figure.add_scatter(
        x=list(range(len(values))),
        y=values,
        name=name,
        mode="lines",
        line={"color": style.colour, "dash": style.dash, "width": 3},
        hovertemplate=_("round %{x}: w = %{y:.4f}") + "<extra>" + name + "</extra>",
    )


def _note_of_escape(figure: go.Figure, name: str, shown: Sequence[float], style: Look) -> None:
    """Say where a path leaves the picture, above or below, that it runs away."""
    text = _("{name} runs away").format(name=name)
    words: dict[str, Any] = {"text": text, "font": {"color": style.colour}}
    height = 0.97 if shown[-1] > OPTIMUM else 0.03
    place: dict[str, Any] = {"yref": "paper", "xanchor": "left", "xshift": 8, "showarrow": False}
    figure.add_annotation(x=len(shown), y=height, **words, **place)


def _note_of_start(figure: go.Figure) -> None:
    """Say that the paths begin above the picture."""
    text = _("↑ the paths start at w = {start:g}").format(start=on_quadratics.START)
    place: dict[str, Any] = {"yref": "paper", "xanchor": "left", "xshift": 60, "showarrow": False}
    figure.add_annotation(x=0, y=0.99, text=text, font={"color": GREY}, **place)


def by_strength(*, feddyn: bool = False) -> ideas.Idea:
    """:func:`paths` of FedAvg and FedProx, and of FedDyn if wanted, with a slider for μ."""
    figures = {}
    for mu in (0.3, 1.0, 3.0, 10.0):
        rules: dict[str, fl.Algorithm] = {"FedAvg": fl.FedAvg(), "FedProx": fl.FedProx(mu)}
        title = _("FedAvg and FedProx with μ = {mu:g}")
        if feddyn:
            rules["FedDyn"] = fl.algorithms.FedDyn(mu)
            title = _("FedAvg, FedProx and FedDyn with μ = {mu:g}")
        seen = _WITH_OVERSHOOT if feddyn else _NEAR
        figures[mu] = paths(rules, title=title.format(mu=mu), seen=seen)
    return ideas.gallery(figures, _("strength μ"), value=3.0)


def _made(rule: fl.Algorithm) -> Callable[[], fl.Algorithm]:
    return lambda: rule


def parts(switched: Callable[..., fl.Algorithm], mu: float) -> dict[str, fl.Algorithm]:
    """FedAvg with a plain mean, FedDyn and its halves by name.

    ``switched(mu, clients=…, server=…)`` is FedDyn with a switch for each half.
    """
    return {
        "FedAvg": switched(mu, clients=False, server=False),
        "FedDyn": switched(mu),
        CLIENTS_HALF: switched(mu, server=False),
        SERVERS_HALF: switched(mu, clients=False),
    }


def tuned() -> go.Figure:
    """The pairs of ``_PAIRS`` at best rates, FedDyn less FedAvgM also with one label a client, and
    FedDyn less FedAvg at η = 0.05, a dot for each of 20 seeds.
    """
    values = {}
    for first, second in _PAIRS:
        found = best_rates.ahead("two_labels", first, second).to_numpy()
        values[f"{_FAIR[first]} − {_FAIR[second]}"] = found
    one_label = best_rates.ahead("one_label", "FedDyn", "FedAvgM").to_numpy()
    values[_("one label a client: FedDyn − FedAvgM")] = one_label
    lead = _ends({"algorithm": "feddyn", "mu": 0.1}) - _ends({"algorithm": "fedavg"})
    values[_("not fair: FedDyn − FedAvg, both at η = 0.05")] = lead
    title = _("Paired leads, each method at its best rate but in the last row")
    return comparison.differences(values, margin=0.01, title=title)


def long_comparison() -> dict[str, Any]:
    """The arguments of ``compare`` for a verdict: the rates and the seeds of the tables of best
    rates.
    """
    return {
        "rates": tuple(best_rates.curve("two_labels", MINE)),
        "choosing": tuple(configs.seeds("rates_digits")),
        "seeds": tuple(configs.seeds("rated_digits")),
    }


def leads(own_leads: Mapping[str, np.ndarray] | None = None) -> go.Figure:
    """The course's ``Mine`` minus its rivals: by quick comparisons, and as fairly as in
    :func:`tuned`. ``own_leads``: those of the reader's ``Mine``, by the name of the rival.
    """
    values = {}
    for rival, lead in LEADS.items():
        values[_("Mine − {rival}, quick: 5 seeds").format(rival=rival)] = lead
        long = best_rates.ahead("two_labels", MINE, rival).to_numpy()
        values[_("Mine − {rival}, long: 20 seeds, last five rounds").format(rival=rival)] = long
    for rival, lead in (own_leads or {}).items():
        values[_("yours − {rival}").format(rival=rival)] = lead
    title = _("The lead of the course's Mine after 50 rounds, test images (stored)")
    return comparison.differences(values, margin=0.01, title=title)


def _ends(where: dict[str, Any]) -> np.ndarray:
    """The end accuracies of the stored runs, in the order of their seeds."""
    rows = tables.matching("feddyn", where).sort_values("seed")
    found: np.ndarray = rows["end_accuracy"].to_numpy()
    return found
