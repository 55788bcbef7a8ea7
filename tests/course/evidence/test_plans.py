"""A plan is what was fixed before the runs, and a change of it is told."""

from dataclasses import replace

import pandas as pd
import pytest

from fedlab_course.evidence import configs, plans, tables
from fedlab_course.evidence.configs import Claim, Statement

GIVEN = {"measure": "accuracy", "margin": 0.05, "table": "runs", "plus": [{"algorithm": "a"}]}
ONE = Statement(id="x-1a", says="A is good.", **GIVEN)


@pytest.fixture
def two_seeds(monkeypatch):
    monkeypatch.setattr(configs, "planned", lambda table: [0, 1])


def test_the_digest_changes_with_contrast_measure_margin_and_seeds_and_not_with_words(
    two_seeds, monkeypatch
):
    assert replace(ONE, says="A is better.", untested="why", changed="why").plan == ONE.plan
    changed = [
        {"margin": 0.01},
        {"measure": "loss"},
        {"constant": 1.0},
        {"expect": "zero"},
        {"exact": True},
        {"plus": [{"algorithm": "b"}]},
        {"minus": [{"algorithm": "b"}]},
        {"where": {"alpha": 0.3}},
    ]
    digests = [replace(ONE, **one).plan for one in changed]
    assert len({ONE.plan, *digests}) == len(changed) + 1
    monkeypatch.setattr(configs, "planned", lambda table: [0, 1, 2])
    longer = ONE.plan
    monkeypatch.setattr(configs, "planned", lambda table: [0, 1])
    assert ONE.plan != longer


def test_new_statements_are_registered_with_whether_they_came_before_their_data(
    two_seeds, tmp_path, monkeypatch
):
    """The first has data, the second a column that is not there yet, and the third was registered
    before.
    """
    register = tmp_path / "plans.csv"
    register.write_text(
        "statement,plan,date,fixed\nx-1c,old,2020-01-01,before\nx-1d,gone,2020-01-01,before\n"
    )
    statements = [
        ONE,
        replace(ONE, id="x-1b", measure="loss"),
        replace(ONE, id="x-1c", changed="a reason"),
    ]
    claims = [
        Claim(
            id="x-1",
            source="s",
            claim="c",
            expected="e",
            setting="s",
            ours="o",
            statements=statements,
        )
    ]
    monkeypatch.setattr(plans, "REGISTER", register)
    monkeypatch.setattr(
        configs, "read", lambda folder=configs.CONFIGS: claims if folder == configs.CONFIGS else []
    )
    table = pd.DataFrame({"algorithm": ["a"], "seed": [0], "accuracy": [0.5]})
    monkeypatch.setattr(tables, "read", lambda name, folder=None: table)
    tables._texts.cache_clear()
    plans.read.cache_clear()
    plans.register()
    found = plans.read()
    assert {id: (one["plan"], one["fixed"]) for id, one in found.items()} == {
        "x-1a": (ONE.plan, "after"),
        "x-1b": (statements[1].plan, "before"),
        "x-1c": ("old", "before"),
    }
    told = [plans.deviation(one) for one in statements]
    assert told == ["registered after the data", "", "changed after the data: a reason"]
    tables._texts.cache_clear()
    plans.read.cache_clear()


@pytest.mark.parametrize("folder", [configs.CONFIGS, configs.COURSE])
def test_every_stored_statement_is_registered_and_every_change_has_its_reason(folder):
    known = plans.read()
    for statement in (one for claim in configs.read(folder) for one in claim.statements):
        assert statement.id in known
        if known[statement.id]["plan"] != statement.plan:
            assert statement.changed, statement.id
