"""A reader's own algorithm in an explorer: sliders for its numbers, code that calls it, refusals in
words.
"""

import functools

import pytest
import torch

import fedlab_core as fl
from fedlab_course.explore.explorer import Explorer

SHORT = {"rounds": 4, "num_clients": 10, "clients_per_round": 4, "local_epochs": 1}


class Heavy(fl.Algorithm):
    """FedAvg with momentum at the server."""

    def __init__(self, beta=0.9, steps=2, verbose=False):
        self.beta = beta
        self.steps = steps

    def setup(self, server):
        server.state["velocity"] = torch.zeros_like(server.params)

    def aggregate(self, server, updates):
        move = updates.weighted_mean() - server.params
        server.state["velocity"] = self.beta * server.state["velocity"] + move
        return server.params + server.state["velocity"]


class Pull(fl.Algorithm):
    title = "My pull"

    def __init__(self, mu):
        self.mu = mu

    def correction(self, server, client):
        return fl.Correction(weight=self.mu, anchor=server.params)


def accuracies(explorer: Explorer) -> dict[str, list[float]]:
    return {
        name: history.frame.test_accuracy.tolist() for name, history in explorer.histories.items()
    }


def test_it_races_the_librarys_and_each_of_its_numbers_has_a_slider() -> None:
    explorer = Explorer(own=Heavy, **SHORT)
    explorer.run()
    assert list(explorer.histories) == [
        "FedAvg",
        "FedProx μ=1",
        "SCAFFOLD",
        "Heavy beta=0.9 steps=2",
    ]
    slider = explorer.controls.own["Heavy", "beta"]
    assert {0, 0.45, 0.9, 1.8} < {value for _, value in slider.options}
    steps = [value for _, value in explorer.controls.own["Heavy", "steps"].options]
    assert 2 in steps
    assert all(isinstance(value, int) for value in steps)
    assert ("Heavy", "verbose") not in explorer.controls.own
    assert slider.description
    assert slider.tooltip
    slider.value = 0
    explorer.wait(60)
    shown = accuracies(explorer)
    # w + (mean − w) is not the mean
    assert shown["Heavy beta=0 steps=2"] == pytest.approx(shown["FedAvg"], abs=0.02)


def test_only_its_own_run_starts_anew_and_its_sliders_go_with_its_box(monkeypatch) -> None:
    explorer = Explorer(own=Heavy, **SHORT)
    explorer.run()
    trained = []
    original = fl.Simulation.__next__
    monkeypatch.setattr(
        fl.Simulation,
        "__next__",
        lambda self: trained.append(str(self.algorithm)) or original(self),
    )
    explorer.controls.own["Heavy", "beta"].value = 0.09
    explorer.wait(60)
    assert len(trained) == 4
    assert "Heavy beta=0.09 steps=2" in explorer.histories
    explorer.controls.algorithms["Heavy"].value = False
    explorer.wait(60)
    assert list(explorer.histories) == ["FedAvg", "FedProx μ=1", "SCAFFOLD"]
    assert explorer.controls.own["Heavy", "beta"].layout.display == "none"
    assert len(trained) == 4


def test_the_code_makes_the_same_run_of_it() -> None:
    explorer = Explorer(
        own=[Heavy, functools.partial(Pull, mu=0.5)], algorithms=("fedprox",), mu=0.5, **SHORT
    )
    explorer.run()
    shown = accuracies(explorer)
    assert list(shown) == ["FedProx μ=0.5", "Heavy beta=0.9 steps=2", "My pull μ=0.5"]
    assert shown["My pull μ=0.5"] == shown["FedProx μ=0.5"]
    namespace = {"Heavy": Heavy, "Pull": Pull}
    exec(explorer.code, namespace)
    assert {
        name: one.frame.test_accuracy.tolist() for name, one in namespace["histories"].items()
    } == shown


def test_headless_it_says_what_it_is_and_trains_nothing(monkeypatch, capsys) -> None:
    monkeypatch.setattr(fl.Simulation, "__next__", lambda self: pytest.fail("it trains"))
    monkeypatch.setenv("FEDLAB_HEADLESS", "1")
    Explorer(own=Heavy, **SHORT)._ipython_display_()
    assert "An explorer of Heavy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Pull, r"own=Pull: its parameter mu has no default; .*functools.partial\(Pull, mu=…\)"),
        (lambda: fl.FedAvg(), "must be a class, or a function with a name"),
        (fl.FedAvg, "own=FedAvg: must have another name"),
        ([Heavy, Heavy], "must have different names"),
    ],
)
def test_what_cannot_race_is_refused(own: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Explorer(own=own, **SHORT)
