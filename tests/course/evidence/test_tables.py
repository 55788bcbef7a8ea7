"""What a statement takes from a table."""

import pytest

from fedlab_course.evidence import tables
from fedlab_course.evidence.configs import Statement

TABLE = """algorithm,mu,lr,seed,accuracy
fedavg,,0.1,0,0.5
fedavg,,0.1,1,0.6
fedavg,,0.1/(1+t),0,0.1
fedprox,0.1,0.1,0,0.7
fedprox,0.1,0.1,1,0.9
fedprox,1.0,0.1,0,0.2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "runs.csv").write_text(TABLE)
    (tmp_path / "other.csv").write_text("algorithm,seed,accuracy\nfedavg,0,0.25\n")
    return tmp_path


def numbers(folder, **given):
    return tables.numbers(Statement(id="s", says="", measure="accuracy", margin=0.0, table="runs", **given), folder)


def test_difference_by_seed(folder):
    found = numbers(
        folder, where={"lr": "0.1"}, plus=[{"algorithm": "fedprox", "mu": 0.1}], minus=[{"algorithm": "fedavg"}]
    )
    assert found == {0: pytest.approx(0.2), 1: pytest.approx(0.3)}


def test_only_seeds_that_have_every_row_count(folder):
    found = numbers(folder, where={"lr": "0.1"}, plus=[{"mu": 0.1}], minus=[{"mu": 1}])
    assert found == {0: pytest.approx(0.5)}


def test_rows_of_another_table_and_a_constant(folder):
    found = numbers(folder, plus=[{"mu": 0.1}], minus=[{"table": "other", "algorithm": "fedavg"}], constant=0.4)
    assert found == {0: pytest.approx(0.05)}


def test_nothing_stands_for_what_a_row_does_not_have(folder):
    assert numbers(folder, plus=[{"mu": "", "lr": "0.1/(1+t)"}]) == {0: pytest.approx(0.1)}


def test_a_table_or_row_that_is_not_there_has_no_numbers(folder):
    assert numbers(folder, plus=[{"table": "absent"}]) == {}
    assert numbers(folder, plus=[{"mu": 7}], minus=[{"mu": 0.1}]) == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"plus": [{"algorithm": "fedavg"}]}, "several rows"),
        ({"plus": [{"model": "mlp"}]}, "no column model"),
    ],
)
def test_rows_that_cannot_be_meant(folder, given, words):
    with pytest.raises(ValueError, match=words):
        numbers(folder, **given)
