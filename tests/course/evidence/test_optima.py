"""An optimum at the edge of a grid or on a flat curve is not located, and its verdict is not
tested."""

from pathlib import Path

import pytest

from fedlab_course.evidence import judging, optima, tables
from fedlab_course.evidence.configs import Claim, Statement

GRID = (1, 2, 4, 8, 16)
ARGMIN = {"table": "curve", "along": "epochs", "least": "rounds"}
# The rounds that each of three seeds takes at each value of the grid.
LOCATED = [[9, 6, 2, 5, 9], [9, 5, 2, 6, 9], [9, 6, 3, 5, 8]]
AT_EDGE = [[9, 6, 5, 4, 3], [9, 6, 5, 4, 3], [9, 6, 3, 4, 5]]
FLAT = [[9, 2, 3, 1, 9], [9, 1, 3, 2, 9], [9, 2, 3, 1, 9]]


def made(folder: Path, **curves: list[list[int]]) -> Statement:
    """Write the curves of methods and their best epochs; the statement that the best of "a" is
    larger than that of "b".
    """
    points = ["method,seed,epochs,rounds"]
    best = ["method,seed,best_epochs"]
    for method, by_seed in curves.items():
        for seed, values in enumerate(by_seed):
            points += [f"{method},{seed},{at},{n}" for at, n in zip(GRID, values, strict=True)]
            best.append(f"{method},{seed},{GRID[values.index(min(values))]}")
    (folder / "curve.csv").write_text("\n".join(points))
    (folder / "best.csv").write_text("\n".join(best))
    tables.forget()
    return Statement(
        id="x-1a",
        says="a has the larger best.",
        measure="best_epochs",
        table="best",
        margin=1.0,
        plus=[{"method": "a"}],
        minus=[{"method": "b"}],
        argmin=ARGMIN,
    )


@pytest.mark.parametrize(
    ("curve", "reason"),
    [
        (LOCATED, ""),
        (
            AT_EDGE,
            "b: the best value of epochs is at the edge of the grid, 1 or 16, in 2 of 3 runs",
        ),
        (FLAT, "b: the curve is flat: epochs 2 to 8 cannot be told from the best"),
    ],
)
def test_why_an_optimum_is_not_located(tmp_path: Path, curve: list, reason: str) -> None:
    """On the flat curve 8 is best on average, and 2 is worse by 1, −1 and 1: an interval about
    zero. On the located one all others are worse by two rounds or more.
    """
    assert optima.not_located(made(tmp_path, a=LOCATED, b=curve), tmp_path) == reason


def test_such_a_verdict_is_not_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging.configs, "seeds", lambda table: range(3))
    found = {}
    for name, curve in {"located": LOCATED, "edge": AT_EDGE}.items():
        statement = made(tmp_path, a=LOCATED, b=curve)
        claim = Claim(
            id="x-1",
            source="s",
            claim="c",
            expected="e",
            setting="x",
            ours="o",
            statements=[statement],
        )
        found[name] = judging.judged([claim], tmp_path)["x-1a"].finding
    assert (found["located"].verdict, found["located"].mean) == ("equivalent", 0.0)
    assert (found["edge"].verdict, found["edge"].p) == ("not tested", 1.0)
    assert "edge of the grid" in found["edge"].about
    assert not found["edge"].corrected


def test_a_statement_on_no_optimum_has_no_such_reason_and_a_wrong_key_is_refused() -> None:
    plain = {"id": "x", "says": "", "measure": "m", "margin": 0.0, "plus": [{}]}
    assert optima.not_located(Statement(**plain)) == ""
    with pytest.raises(ValueError, match="argmin='most': must be one of"):
        Statement(**plain, argmin={"most": "rounds"})


def test_where_optima_are_declared_does_not_change_a_registered_plan() -> None:
    plain = {"id": "x", "says": "", "measure": "best_epochs", "margin": 0.0, "plus": [{}]}
    table = "local_work_best"
    assert (
        Statement(**plain, table=table).plan == Statement(**plain, table=table, argmin=ARGMIN).plan
    )
