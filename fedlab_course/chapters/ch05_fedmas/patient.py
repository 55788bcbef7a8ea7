"""A patient of chapter 5, whose penalty has another anchor, and the figure that shows it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import new_figure, set_description
from fedlab_core.server import Server
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.explore.figures import add_curve
from fedlab_course.methods import continual

_ = translator(__name__)


def of(rule: type[fl.Algorithm]) -> type[fl.Algorithm]:
    """A subclass of a FedMas: in every tier the penalty pulls to the model with which the round
    began.
    """

    class Patient(rule):  # type: ignore[valid-type, misc]
        """Looks like its parent."""

        def cohorts(self, server: Server) -> Iterator[np.ndarray]:
            server.state["begin"] = server.params.clone()
            yield from super().cohorts(server)

        def correction(self, server: Server, client: int) -> fl.Correction:
            mine = super().correction(server, client)
            anchor = server.state["begin"]
            return fl.Correction(weight=mine.weight, anchor=anchor, scale=mine.scale)

    return Patient


def distances(way: torch.Tensor, start: torch.Tensor, tiers: int) -> np.ndarray:
    """‖w − v‖ [V] after each of V updates, where v is the model with which the round began.

    ``way`` [V, P]: the model after each update; ``start`` [P]: before the first one; ``tiers``:
    updates of a round.
    """
    models = torch.cat([start[None], way])
    begins = torch.arange(len(way)) // tiers * tiers
    far: np.ndarray = (models[1:] - models[begins]).norm(dim=1).numpy()
    return far


def walk(
    rules: tuple[fl.Algorithm, fl.Algorithm],
    fed: fl.FederatedDataset,
    model: torch.nn.Module,
    tiers: np.ndarray,
    **settings: Any,
) -> go.Figure:
    """How far the model is from where the round began, after each update of a FedMas and of its
    patient.

    ``tiers`` [N]: the tier of each client; ``settings`` of :func:`fedlab_core.simulate`.
    """
    figure = new_figure(
        title=_("How far the model is from where its round began"),
        x_title=_("server updates"),
        y_title=_("distance"),
    )
    start = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    count = len(np.unique(tiers))
    names = (_("your FedMas"), _("the patient"))
    rows = []
    for name, rule, style in zip(names, rules, (ideas.OMEGA, ideas.PATIENT), strict=True):
        way = continual.watch(fed, model, rule, **settings).way
        far = distances(way, start, count)
        add_curve(figure, np.arange(1, len(far) + 1), far, name, style)
        ends = far[count - 1 :: count]
        rows.append([name, *(f"{end:.2f}" for end in ends)])
    for number in range(1, settings["rounds"]):
        figure.add_vline(x=number * count + 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_yaxes(rangemode="tozero")
    text = _(
        "Distance of the global model from where its round began, after each server update. Dotted "
        "lines are between rounds. The table has the last update of each round."
    )
    columns = [_("round {number}").format(number=1 + place) for place in range(len(rows[0]) - 1)]
    set_description(figure, text, [_("method"), *columns], rows)
    return figure
