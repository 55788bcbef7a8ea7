"""The picture of learning rates: what chooses a rate, and what judges it."""

import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_course.evidence import configs
from fedlab_course.experiments.studies import learning_rates


def rows(x: torch.Tensor) -> list[bytes]:
    return [row.numpy().tobytes() for row in x]


def test_a_rate_is_chosen_on_a_fifth_of_the_training_samples_and_on_no_test_image() -> None:
    digits = fl.load_dataset("digits")
    found = learning_rates.validated(3)
    assert sorted(rows(found.train.x) + rows(found.test.x)) == sorted(rows(digits.train.x))
    assert abs(len(found.test) - len(digits.train) / 5) < 1
    shares = torch.bincount(found.test.y) / torch.bincount(digits.train.y)
    assert ((shares - 0.2).abs() < 0.01).all(), "of each label"


def test_each_criterion_chooses_the_best_pair_of_configuration_and_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where all runs are there: with five epochs they are, and with twenty they are not."""
    about = {"partition": "iid", "epochs": 5, "method": "FedMas implicit"}
    measured = [  # configuration, rate, seed, by rounds, by updates, by bytes
        (0, 0.1, 100, 0.5, 0.9, 0.3),
        (0, 0.1, 101, 0.7, 0.9, 0.3),
        (1, 0.2, 100, 0.9, 0.2, 0.4),
        (1, 0.2, 101, 0.5, 0.2, 0.4),
        (1, 0.4, 100, 0.7, 0.1, 0.1),
        (1, 0.4, 101, 0.7, 0.1, 0.1),
    ]
    names = ("configuration", "lr", "seed", *learning_rates.CRITERIA.values())
    table = pd.DataFrame(
        [
            about | {"epochs": epochs} | dict(zip(names, row, strict=True))
            for epochs, those in ((5, measured), (20, measured[:5]))
            for row in those
        ]
    )
    monkeypatch.setattr(learning_rates, "METHODS", {"FedMas implicit": ["one", "other"]})
    monkeypatch.setattr(learning_rates, "EACH", len(measured) / 2)
    first = about | {"configuration": 0, "lr": 0.1, "best_by": ["updates"]}
    second = about | {"configuration": 1, "lr": 0.2, "best_by": ["rounds", "bytes"]}
    chosen = learning_rates.chosen({"rates_digits": table})
    assert sorted(chosen, key=lambda case: case["lr"]) == [first, second], "the first of equals"


def test_every_method_has_a_case_in_every_setting() -> None:
    cases = learning_rates.RATES_DIGITS.cases
    assert not callable(cases)
    configurations = sum(map(len, learning_rates.METHODS.values()))
    settings = len(learning_rates.SPLITS) * len(learning_rates.EPOCHS)
    assert len(cases) == configurations * settings


def test_every_statement_of_fair_2_compares_methods_at_their_best_rates() -> None:
    claim = next(claim for claim in configs.read() if claim.id == "fair-2")
    assert len(claim.statements) == 46
    for statement in claim.statements:
        assert statement.where["partition"] in learning_rates.SPLITS
        assert statement.where["epochs"] in learning_rates.EPOCHS
        assert learning_rates.CRITERIA[statement.where["best_by"]] == statement.measure
        for _, table, row in statement.rows():
            assert table == "rated_digits"
            assert row["method"] in learning_rates.METHODS
