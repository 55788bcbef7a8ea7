"""A patient of chapter 5, whose penalty has another anchor, and the figure that shows it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.style import new_figure, set_description
from fedlab_core.server import Server
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.explore.figures import add_curve
from fedlab_course.methods import continual

_ = translator(__name__)

_LOOKS = (ideas.TIERS, ideas.OMEGA, ideas.PATIENT)


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
    rules: tuple[fl.Algorithm, fl.Algorithm, fl.Algorithm],
    fed: fl.FederatedDataset,
    model: torch.nn.Module,
    tiers: np.ndarray,
    **settings: Any,
) -> go.Figure:
    """How far the model is from where the round began, after each update of TFedAvg, of a FedMas
    and of its patient.

    ``tiers`` [N]: the tier of each client; ``settings`` of :func:`fedlab_core.simulate`.
    """
    figure = new_figure(
        title=_("How far the model is from where its round began"),
        x_title=_("server updates"),
        y_title=_("distance"),
    )
    start = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    count = len(np.unique(tiers))
    names = ("TFedAvg", _("your FedMas"), _("the patient"))
    rows = []
    for name, rule, style in zip(names, rules, _LOOKS, strict=True):
        way = continual.watch(fed, model, rule, **settings).way
        far = distances(way, start, count)
        accuracy = continual.knowledge(way[-1:], model, [(fed.test.x, fed.test.y)]).item()
        words = _("{name}, {accuracy:.0%} at the end").format(name=name, accuracy=accuracy)
        along = np.arange(1.0, len(far) + 1)
        gaps = np.arange(count, len(far), count)  # no line from one round to the next
        far, along = np.insert(far, gaps, np.nan), np.insert(along, gaps, np.nan)
        add_curve(figure, along, far, words, style)
        ends = distances(way, start, count)[count - 1 :: count]
        rows.append([name, *(f"{end:.2f}" for end in ends), f"{accuracy:.0%}"])
    figure.update_yaxes(rangemode="tozero")
    text = _(
        "Distance of the global model from where its round began, after each server update. The "
        "table has the last update of each round, and the test accuracy at the end."
    )
    rounds = [_("round {number}").format(number=1 + place) for place in range(len(rows[0]) - 2)]
    set_description(figure, text, [_("method"), *rounds, _("test accuracy")], rows)
    return figure
