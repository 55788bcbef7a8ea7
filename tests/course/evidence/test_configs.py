"""The configurations of claims: complete, and refused in words where they are not."""

import tomllib

import pytest

from fedlab_core.sweep import plan
from fedlab_course.evidence import configs
from fedlab_course.experiments import sweeps
from fedlab_course.experiments.all_experiments import EXPERIMENTS

CLAIM = """
source = "s"
claim = "c"
expected = "e"
setting = "x"
ours = "o"
[common]
margin = 0.01
measure = "end_accuracy"
table = "t"
[[statement]]
id = "a"
says = "one"
plus = [{algorithm = "fedavg"}]
"""


def test_common_values_are_those_of_every_statement(tmp_path):
    (tmp_path / "x-1.toml").write_text(CLAIM)
    (claim,) = configs.read(tmp_path)
    (statement,) = claim.statements
    assert (statement.id, statement.margin, statement.rows()) == (
        "x-1a",
        0.01,
        [(1, "t", {"algorithm": "fedavg"})],
    )
    assert claim.tables == ["t"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("margin = 0.01", "margin = -1", "margin=-1"),
        ("margin = 0.01", "margn = 0.01", "margn"),
        ('says = "one"', "", "says"),
        ('source = "s"', "", "source"),
        ('says = "one"', 'says = "one"\nexpect = "negative"', "expect='negative'"),
    ],
)
def test_faults_are_named_with_the_file(tmp_path, old, new, words):
    (tmp_path / "x-1.toml").write_text(CLAIM.replace(old, new))
    with pytest.raises(ValueError, match=rf"x-1\.toml.*{words}"):
        configs.read(tmp_path)


def test_every_table_that_a_claim_rests_on_can_be_made():
    made = (*sweeps.names(), *EXPERIMENTS)
    for claim in configs.read():
        assert all(table.startswith(made) for table in claim.tables), claim.id


@pytest.mark.slow
@pytest.mark.needs_data("mnist")
@pytest.mark.needs_data("cifar10")
@pytest.mark.needs_data("sentiment140")
def test_every_grid_can_be_planned():
    for path in sorted([*configs.GRIDS.glob("*.toml"), *configs.GRIDS.parent.glob("full/*.toml")]):
        assert plan.read(path).runs


def test_planned_seeds_are_those_of_the_grid_or_experiment():
    assert (
        configs.planned("drift_digits") == list(range(10))
        and len(configs.planned("curves_cifar10")) == 3
    )
    assert (
        configs.planned("theorem_rates_growth")
        == configs.planned("theorem_rates")
        == list(range(10))
    )
    assert configs.planned("tuning_digits") == [100, 101, 102] and configs.seeds(
        "error_floor_exact"
    ) == [0]
    assert all(configs.seeds(name) for name in EXPERIMENTS)
    with pytest.raises(ValueError, match="neither a grid"):
        configs.seeds("unheard_of")


def test_added_seeds_follow_the_planned_ones():
    for name, number in tomllib.loads(
        (configs.CONFIGS / "experiments" / "further_seeds.toml").read_text()
    ).items():
        planned = configs.planned(name)
        seeds = configs.seeds(name)
        assert (
            len(seeds) == number
            and seeds[: len(planned)] == planned
            and seeds[-1] == planned[0] + number - 1
        )
