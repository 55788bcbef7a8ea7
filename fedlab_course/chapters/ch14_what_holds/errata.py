"""What a draw without replacement changes, equations (17) and (18) of [004], and what strata do."""

import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, GROUPS
from fedlab_core.plots.style import new_figure, set_description

DRAWS = ("with replacement", "without replacement", "stratified")
_LOOKS = {
    "weight of one client": (GREY, ""),
    "mean of the models": (GROUPS[0], "/"),
}


def variances(num_clients: int, cohort: int) -> dict[str, list[float]]:
    """The variance of one client's weight and that of the mean of the models, for the three draws,
    each divided by that with replacement.

    There are ``cohort`` strata of equal size, and the clients of a stratum have the same model. A
    client that is drawn has the weight 1/K each time. With replacement its variance is (1 − 1/N)/(N
    K), else (1 − K/N)/(N K); that of the mean is σ²/K, σ²/K · (N − K)/(N − 1), and 0.
    """
    weight = (1 - cohort / num_clients) / (1 - 1 / num_clients)
    mean = (num_clients - cohort) / (num_clients - 1)
    return {
        "weight of one client": [1.0, weight, weight],
        "mean of the models": [1.0, mean, 0.0],
    }


def strata(num_clients: int = 100, cohort: int = 10) -> go.Figure:
    """Both variances as bars, for ten strata of ten clients with equal models."""
    found = variances(num_clients, cohort)
    figure = new_figure(
        title="What strata lower, and what not",
        x_title="draw of 10 of 100 clients",
        y_title="relative variance",
        height=360,
    )
    for name, values in found.items():
        colour, shape = _LOOKS[name]
        marker = {"color": colour, "pattern": {"shape": shape, "solidity": 0.3}}
        labels = [f"{value:.2f}" for value in values]
        figure.add_bar(x=DRAWS, y=values, name=name, marker=marker, text=labels)
        figure.data[-1].update(textposition="outside", cliponaxis=False)
    figure.update_yaxes(range=[0, 1.15])
    rows = [
        [draw, *(f"{values[place]:.3f}" for values in found.values())]
        for place, draw in enumerate(DRAWS)
    ]
    phrases = "; ".join(f"{draw}: {weight} and {mean}" for draw, weight, mean in rows)
    text = (
        "Variance of one client's weight and of the mean of the models, divided by that with "
        f"replacement. {phrases}."
    )
    set_description(figure, text, ["draw", *found], rows)
    return figure
