"""The same runs on three axes."""

from itertools import pairwise

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch08_shootout import figures


@pytest.fixture(scope="module")
def race():
    data = fl.load_dataset("digits")
    fed = fl.FederatedDataset(data, fl.partition.iid(data.train.y, num_clients=10, seed=0))
    settings = {"rounds": 3, "clients_per_round": 4, "local_steps": 2, "batch_size": 10, "lr": 0.05, "progress": False}
    rules = {"FedAvg": fl.FedAvg(), "SCAFFOLD": fl.Scaffold()}
    return {name: fl.simulate(fed, fl.models.mlp(fed, seed=0), rule, **settings) for name, rule in rules.items()}


def test_each_panel_holds_the_same_accuracies_at_another_price(race) -> None:
    figure = figures.three_axes(race)
    for name, history in race.items():
        curves = [trace for trace in figure.data if trace.name == name]
        assert [trace.xaxis or "x" for trace in curves] == ["x", "x2", "x3"]
        for trace in curves:
            np.testing.assert_allclose(trace.y, history.frame.test_accuracy)
        frame = history.frame
        prices = [frame["round"], frame["server_updates"], frame["bytes_up"] + frame["bytes_down"]]
        for trace, price in zip(curves, prices, strict=True):
            np.testing.assert_allclose(np.asarray(trace.x) * price.iloc[-1] / trace.x[-1], price)
    ends = {trace.name: trace.x[-1] for trace in figure.data if trace.xaxis == "x3"}
    assert ends["SCAFFOLD"] == pytest.approx(2 * ends["FedAvg"])


def test_a_name_stands_once_in_the_legend_and_panels_do_not_overlap(race) -> None:
    figure = figures.three_axes(race)
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len(shown) == len(set(shown))
    domains = [figure.layout[f"yaxis{end}"].domain for end in ("", "2", "3")]
    assert all(below[1] < above[0] for above, below in pairwise(domains))
    assert figure.layout.xaxis2.type == "log" and "bytes" not in figure.layout.xaxis2.title.text
