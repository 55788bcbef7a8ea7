"""The picture of learning rates: what chooses a rate, and what judges it."""

from dataclasses import replace

import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_course.evidence import configs
from fedlab_course.experiments.all_experiments import EXPERIMENTS
from fedlab_course.experiments.studies import learning_rates

PICTURES = {
    picture.dataset: picture for picture in (learning_rates.ON_DIGITS, learning_rates.ON_MNIST)
}


def rows(x: torch.Tensor) -> list[bytes]:
    return [row.numpy().tobytes() for row in x]


def test_a_rate_is_chosen_on_a_fifth_of_the_training_samples_and_on_no_test_image() -> None:
    digits = fl.load_dataset("digits")
    found = learning_rates.validated("digits", 3)
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
    two = [fl.FedMas(strength) for strength in (0.01, 0.1)]
    picture = replace(learning_rates.ON_DIGITS, methods={"FedMas implicit": two}, rates=(0.1,))
    monkeypatch.setattr(configs, "seeds", lambda table: range(len(measured) // 2))
    first = about | {"configuration": 0, "lr": 0.1, "best_by": ["updates"]}
    second = about | {"configuration": 1, "lr": 0.2, "best_by": ["rounds", "bytes"]}
    chosen = picture.chosen({"rates_digits": table})
    assert sorted(chosen, key=lambda case: case["lr"]) == [first, second], "the first of equals"


@pytest.mark.parametrize("dataset", PICTURES)
def test_every_method_has_a_case_in_every_setting(dataset: str) -> None:
    picture = PICTURES[dataset]
    cases = EXPERIMENTS[f"rates_{dataset}"].cases
    assert cases == picture.grid()
    configurations = sum(map(len, picture.methods.values()))
    assert len(cases) == configurations * len(picture.splits) * len(picture.epochs)


@pytest.mark.parametrize(
    ("claim", "dataset", "count"), [("fair-2", "digits", 53), ("fair-3", "mnist", 17)]
)
def test_every_statement_at_best_rates_compares_methods_of_the_picture(
    claim: str, dataset: str, count: int
) -> None:
    picture = PICTURES[dataset]
    (found,) = (one for one in configs.read() if one.id == claim)
    assert len(found.statements) == count
    for statement in found.statements:
        assert statement.where["partition"] in picture.splits
        assert statement.where["epochs"] in picture.epochs
        assert learning_rates.CRITERIA[statement.where["best_by"]] == statement.measure
        for _, table, row in statement.rows():
            assert configs.registered_as(table) == f"rated_{dataset}"
            assert row["method"] in picture.methods
