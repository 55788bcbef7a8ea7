"""Figures of the further track, from tables written by hand."""

import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch13_one_or_several import figures as figures_13
from fedlab_course.chapters.ch14_what_is_sent import figures as figures_14
from fedlab_course.evidence import tables


def test_serving_places_each_method_at_its_means(tmp_path):
    rows = [
        {"partition": "iid", "method": method, "seed": seed, "own": own + seed / 10, "whole": whole - seed / 10}
        for method, own, whole in (("FedAvg", 0.5, 0.7), ("alone", 0.2, 0.4), ("Ditto λ=1", 0.3, 0.5))
        for seed in (0, 1)
    ]
    tables.write("c13_several", pd.DataFrame(rows), tmp_path)
    figure = figures_13.serving("iid", folder=tmp_path)
    (fedavg,) = [trace for trace in figure.data if trace.name == "FedAvg"]
    assert (fedavg.x[0], fedavg.y[0]) == pytest.approx((0.55, 0.65))
    (path,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(path.x) == pytest.approx([0.25, 0.35])
    assert "FedAvg 55.0% ± 7.1%" in fl.plots.describe(figure)
    with pytest.raises(ValueError, match="no row"):
        figures_13.serving("unheard of", folder=tmp_path)


def test_a_method_looks_alike_in_all_splits(tmp_path):
    rows = [
        {"partition": split, "method": method, "seed": seed, "own": 0.5, "whole": 0.5}
        for split, methods in (("iid", ("FedAvg", "alone", "IFCA")), ("dirichlet", ("FedAvg", "IFCA")))
        for method in methods
        for seed in (0, 1)
    ]
    tables.write("c13_several", pd.DataFrame(rows), tmp_path)
    drawn = [figures_13.serving(split, folder=tmp_path).data for split in ("iid", "dirichlet")]
    ours, other = ([trace.marker.color for trace in data if trace.name == "IFCA"] for data in drawn)
    assert ours == other


def test_bars_tell_held_labels_from_others():
    figure = figures_14.label_moves([0.2, -0.1, -0.3], [0.6, 0.4, 0.0], ("a", "b", "c"))
    held, other = figure.data
    assert (list(held.x), list(held.y), list(other.x)) == (["a", "b"], [0.2, -0.1], ["c"])
    assert "Upwards: a. The client holds: a, b." in fl.plots.describe(figure)


def test_noise_is_drawn_by_level_and_an_unclipped_probe_left_out(tmp_path):
    about = {"partition": "two labels", "move": "probe", "rule": "row", "main": 0.5}
    rows = [
        about | {"noise": noise, "seed": seed, "exact": exact, "adjusted_rand": 1 - exact}
        for noise, exact in ((None, 0.9), (0.0, 0.8), (0.1, 0.2))
        for seed in (0, 1)
    ]
    tables.write("c14_labels", pd.DataFrame(rows), tmp_path)
    figure = figures_14.noise("two labels", folder=tmp_path)
    exact, _, rand = figure.data
    assert list(exact.y) == pytest.approx([0.8, 0.2]) and list(rand.y) == pytest.approx([0.2, 0.8])
    assert figure.layout.xaxis.ticktext == ("0", "0.1")
