"""The first figures: four curves without names, and the same curves beside the right one."""

from functools import cache

import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch07_bug_clinic.patients import PATIENTS, name_of
from fedlab_course.explore import ideas

_ = translator(__name__)
SCAFFOLD = 0
CURVES = (9, 2, SCAFFOLD, 3)  # the patients of curves 1 to 4, and the healthy one
HIDDEN = 8  # a patient that has no curve: it coincides with SCAFFOLD's


@cache
def runs(seed: int = 0) -> dict[int, fl.History]:
    """The runs of four patients and of SCAFFOLD: digits, two labels a client, 30 rounds."""
    data = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=100, labels_per_client=2, seed=seed
    )
    fed = fl.FederatedDataset(data, parts)
    found = {}
    for number in (*CURVES, HIDDEN):
        rule = fl.Scaffold() if number == SCAFFOLD else PATIENTS[number].algorithm
        found[number] = fl.simulate(
            fed,
            fl.models.mlp(fed, seed=seed),
            rule,
            rounds=30,
            clients_per_round=20,
            local_epochs=5,
            batch_size=10,
            lr=0.05,
            seed=seed,
            train_loss=False,
            progress=False,
        )
    return found


def alone() -> ideas.Idea:
    """One curve at a time; each algorithm says that it is SCAFFOLD."""
    figures = {}
    for place, number in enumerate(CURVES, 1):
        title = _("Curve {number}: it says that it is SCAFFOLD").format(number=place)
        name = _("curve {number}").format(number=place)
        figure = fl.plots.convergence({name: runs()[number]}, title=title)
        figures[float(place)] = figure.update_yaxes(range=[0, 1]).update_layout(showlegend=False)
    return ideas.gallery(figures, _("curve"), value=1.0)


def together() -> go.Figure:
    """The patients minus SCAFFOLD, round by round."""
    names = {number: _on_curve(name_of(number), number) for number in (9, 2, 3)}
    names[HIDDEN] = _("{patient}, no curve").format(patient=name_of(HIDDEN))
    others = {name: runs()[number] for number, name in names.items()}
    right = (_on_curve("SCAFFOLD", SCAFFOLD), runs()[SCAFFOLD])
    figure = comparison_figures.less(right, others, title=_("Four patients minus SCAFFOLD"))
    figure.update_traces(mode="lines+markers", selector={"name": names[HIDDEN]})
    return figure


def _on_curve(name: str, number: int) -> str:
    """The name of an algorithm with the number of its curve."""
    return _("{name}, curve {number}").format(name=name, number=CURVES.index(number) + 1)
