"""Units of an experiment: done once each, kept as they end, and the same table whoever did them
when.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fedlab_course.experiments.base import Experiment
from fedlab_course.experiments.collecting import collect, gathered, missing, restore

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed: pip install '.[cluster]'"
)


def squares(seed: int, *, factor: int) -> list[dict[str, Any]]:
    """factor · seed², with a curve of its multiples; a third is no short decimal."""
    if factor < 0:
        raise ValueError("factor: must not be negative")
    curve = [{"table": "curves", "x": x, "y": float(x * seed)} for x in (1, 2)]
    return [{"square": factor * seed**2 / 3}, *curve]


SQUARES = Experiment("squares", squares, [{"factor": 2}, {"factor": 1}], seeds=(3, 5), bands=("y",))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a scheduler with a worker in this process."""
    settings = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**settings) as started:
        yield started.scheduler_address


def without_seconds(tables: dict[str, pd.DataFrame]) -> dict[str, str]:
    return {
        name: table.drop(columns="seconds", errors="ignore").to_csv()
        for name, table in tables.items()
    }


def test_tables_hold_cases_by_seeds_in_their_order_to_six_digits(
    cluster: str, tmp_path: Path
) -> None:
    """Curves are means over seeds."""
    found = collect(SQUARES, tmp_path, scheduler=cluster)
    table = found["squares"]
    curves = found["squares_curves"]
    assert table[["factor", "seed"]].values.tolist() == [[2, 3], [2, 5], [1, 3], [1, 5]]
    assert table.square.tolist() == [6.0, 16.6667, 3.0, 8.33333]
    assert (table.seconds >= 0).all()
    assert curves[["factor", "x"]].values.tolist() == [[2, 1], [2, 2], [1, 1], [1, 2]]
    assert curves.y_mean.tolist() == [4.0, 8.0, 4.0, 8.0]
    assert curves.y_std.tolist() == [1.41421, 2.82843, 1.41421, 2.82843]
    assert curves.n.tolist() == [2] * 4


def test_what_is_there_is_not_done_again(cluster: str, tmp_path: Path) -> None:
    collect(replace(SQUARES, seeds=(5,)), tmp_path, scheduler=cluster)
    assert missing(SQUARES, tmp_path) == [({"factor": 2}, 3), ({"factor": 1}, 3)]
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "squares").iterdir()}
    resumed = collect(SQUARES, tmp_path, scheduler=cluster)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept and missing(
        SQUARES, tmp_path
    ) == []
    assert without_seconds(resumed) == without_seconds(
        collect(SQUARES, tmp_path / "new", scheduler=cluster)
    )


def test_what_the_stored_table_has_is_not_done_again(cluster: str, tmp_path: Path) -> None:
    """A table of two of four units, read from its file, gives back these two, once; the table of
    all units is the same as without a break.
    """

    def roots(seed: int, *, factor: int) -> list[dict[str, Any]]:
        return [{"sign": sign, "root": sign * factor * seed / 3, "none": None} for sign in (1, -1)]

    whole = Experiment("roots", roots, [{"factor": 2}, {"factor": 1}], seeds=(3, 5), grows=True)
    begun = collect(replace(whole, cases=[{"factor": 1}]), tmp_path / "old", scheduler=cluster)
    begun["roots"].to_csv(tmp_path / "roots.csv", index=False)
    stored = pd.read_csv(tmp_path / "roots.csv")
    assert restore(whole, stored, tmp_path) == 2
    assert restore(whole, stored, tmp_path) == 0
    assert missing(whole, tmp_path) == [({"factor": 2}, 3), ({"factor": 2}, 5)]
    resumed = collect(whole, tmp_path, scheduler=cluster)
    unbroken = collect(whole, tmp_path / "new", scheduler=cluster)
    assert without_seconds(resumed) == without_seconds(unbroken)
    assert restore(whole, pd.DataFrame(columns=["seed"]), tmp_path / "empty") == 0


def test_an_experiment_after_one_that_grows_takes_what_is_there_and_gives_back_its_own_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str
) -> None:
    """Of two candidates one is measured; by two criteria it is the largest: a unit of two rows."""
    from fedlab_course.experiments import collecting

    first = Experiment(
        "sizes",
        lambda seed, size: [{"found": size}],
        [{"size": 2}, {"size": 3}],
        seeds=(1,),
        grows=True,
    )

    def largest(earlier: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
        return [{"size": int(earlier["sizes"]["size"].max()), "by": ["mean", "end"]}]

    def judge(seed: int, *, size: int, by: list[str]) -> list[dict[str, Any]]:
        return [{"by": criterion, "area": size**2 + seed} for criterion in by]

    second = Experiment("judged", judge, largest, after="sizes", seeds=(5,), grows=True)
    monkeypatch.setitem(collecting.EXPERIMENTS, "sizes", first)
    collect(replace(first, cases=[{"size": 2}]), tmp_path, scheduler=cluster)
    judged = collect(second, tmp_path, scheduler=cluster)["judged"]
    assert judged[["size", "by", "area"]].values.tolist() == [[2, "mean", 9], [2, "end", 9]]
    shutil.rmtree(tmp_path / "judged")
    assert restore(second, judged, tmp_path) == 1
    assert missing(second, tmp_path) == []


def test_an_interrupted_experiment_that_grows_stores_the_units_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fedlab_course.experiments import collecting, command

    growing = Experiment(
        "growing", lambda seed: [{"square": seed**2}], [{}], seeds=(3, 5), grows=True
    )
    monkeypatch.setitem(collecting.EXPERIMENTS, "growing", growing)
    stored = dict[str, pd.DataFrame]()
    monkeypatch.setattr(command.tables, "write", stored.__setitem__)

    def interrupted(name: str, folder: Path, **_: Any) -> None:
        collecting._keep(growing, {}, 5, {"seconds": 1.0, "rows": growing.unit(5)}, folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(collecting, "collect", interrupted)
    options = argparse.Namespace(work=tmp_path, scheduler=None, workers=None, dry_run=False)
    with pytest.raises(KeyboardInterrupt):
        command._experiment("growing", options)
    assert stored["growing"].to_dict("records") == [{"seed": 5, "square": 25, "seconds": 1.0}]


def test_a_unit_that_fails_costs_no_other(cluster: str, tmp_path: Path) -> None:
    faulty = replace(SQUARES, cases=[{"factor": -1}, {"factor": 2}])
    with pytest.raises(RuntimeError, match=r"2 of 4 units failed.*factor: must not be negative"):
        collect(faulty, tmp_path, scheduler=cluster)
    assert missing(faulty, tmp_path) == [({"factor": -1}, 3), ({"factor": -1}, 5)]
    assert len(gathered(faulty, tmp_path)["squares"]) == 2


def test_cases_can_follow_from_another_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fedlab_course.experiments import collecting

    monkeypatch.setitem(collecting.EXPERIMENTS, "squares", SQUARES)
    largest = replace(
        SQUARES,
        name="largest",
        cases=lambda tables: [{"factor": int(tables["squares"].factor.max())}],
    )
    largest = replace(largest, after="squares")
    with pytest.raises(ValueError, match="which is not complete"):
        missing(largest, tmp_path)
    for case, seed in SQUARES.units({}):
        path = collecting._path(SQUARES, case, seed, tmp_path)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"seconds": 1.0, "rows": SQUARES.unit(seed, **case)}))
    assert missing(largest, tmp_path) == [({"factor": 2}, 3), ({"factor": 2}, 5)]
