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
    return tables.numbers(
        Statement(id="s", says="", measure="accuracy", margin=0.0, table="runs", **given), folder
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            {
                "where": {"lr": "0.1"},
                "plus": [{"algorithm": "fedprox", "mu": 0.1}],
                "minus": [{"algorithm": "fedavg"}],
            },
            {0: 0.2, 1: 0.3},
        ),
        # seeds with every row
        ({"where": {"lr": "0.1"}, "plus": [{"mu": 0.1}], "minus": [{"mu": 1}]}, {0: 0.5}),
        (
            {
                "plus": [{"mu": 0.1}],
                "minus": [{"table": "other", "algorithm": "fedavg"}],
                "constant": 0.4,
            },
            {0: 0.05},
        ),
        ({"plus": [{"mu": "", "lr": "0.1/(1+t)"}]}, {0: 0.1}),  # "" is an empty cell
        ({"plus": [{"table": "absent"}]}, {}),
        ({"plus": [{"mu": 7}], "minus": [{"mu": 0.1}]}, {}),
    ],
)
def test_a_contrast_is_a_number_for_each_seed(folder, given, found):
    assert numbers(folder, **given) == pytest.approx(found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"plus": [{"algorithm": "fedavg"}]}, "statement s.*several rows"),
        ({"plus": [{"model": "mlp"}]}, "no column model"),
    ],
)
def test_ambiguous_rows_and_unknown_columns_are_refused(folder, given, words):
    with pytest.raises(ValueError, match=words):
        numbers(folder, **given)
