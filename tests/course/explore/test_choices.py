"""The values of controls: which runs are the same, their names, and bad values."""

import dataclasses

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course.explore.choices import ALGORITHMS, Choice, Curve, tuned

SHORT = {"rounds": 2, "num_clients": 10, "clients_per_round": 4, "local_epochs": 1}


def by_name(choice: Choice) -> dict[str, Curve]:
    return dict(zip(choice.algorithms, choice.curves(), strict=True))


def test_a_curve_depends_on_nothing_else() -> None:
    base = Choice(algorithms=("fedavg", "fedprox"), mu=0.1)
    other_mu = dataclasses.replace(base, mu=1.0)
    assert by_name(base)["fedavg"] == by_name(other_mu)["fedavg"]
    assert by_name(base)["fedprox"] != by_name(other_mu)["fedprox"]
    assert base.curves() == dataclasses.replace(base, labels=5, strength=3.0).curves()
    labels = dataclasses.replace(base, split="labels_per_client")
    assert labels.curves() == dataclasses.replace(labels, alpha=9.0).curves()
    (one, _), (longer, _) = base.curves(), dataclasses.replace(base, rounds=55).curves()
    assert one == longer and hash(one) == hash(longer)
    assert longer.differences(one) == "55 rounds"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.7),
        ("local_epochs", 2),
        ("lr", 0.1),
        ("clients_per_round", 7),
        ("seed", 1),
        ("split", "iid"),
        ("model", "softmax_regression"),
    ],
)
def test_every_setting_of_a_run_makes_another_curve_and_is_named_as_a_difference(
    name: str, value: object
) -> None:
    base = Choice(algorithms=("fedavg",))
    (one,), (other,) = base.curves(), dataclasses.replace(base, **{name: value}).curves()
    assert one != other
    assert one.differences(one) == ""
    assert len(other.differences(one).split(", ")) == 1


def test_algorithms_of_the_registry_take_their_parameters_from_the_controls() -> None:
    assert tuned("fedavg") == tuned("scaffold") == ()
    assert tuned("fedprox") == ("mu",)
    assert tuned("fednova") == ()  # μ of FedNova stays 0
    for name in ALGORITHMS:
        given = {"mu": 0.25, "strength": 0.5, "penalty_step": "implicit"}
        (curve,) = Choice(algorithms=(name,), **given).curves()
        assert dict(curve.algorithm.arguments) == {
            parameter: given[parameter] for parameter in tuned(name)
        }
        assert isinstance(ALGORITHMS[name](**dict(curve.algorithm.arguments)), fl.Algorithm)


def test_the_implicit_step_of_a_penalty_is_named_and_the_explicit_one_is_the_default() -> None:
    both = {"algorithms": ("fedcurv", "fedmas"), "strength": 0.5}
    names = [curve.name for curve in Choice(**both).curves()]
    assert names == ["FedCurv λ=0.5", "FedMas λ=0.5"]
    assert "penalty_step" not in Choice(**both).curves()[0].code
    implicit = Choice(**both, penalty_step="implicit").curves()
    assert [curve.name for curve in implicit] == [f"{name} implicit step" for name in names]
    assert "fl.FedMas(strength=0.5, penalty_step='implicit')" in implicit[1].code
    simulation = (
        dataclasses.replace(Choice(**SHORT, **both), penalty_step="implicit")
        .curves()[1]
        .simulation()
    )
    assert simulation.algorithm.penalty_step == "implicit"
    with pytest.raises(ValueError, match=r"^penalty_step='implict': must be one of"):
        Choice(penalty_step="implict")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^algorithms='fedavgg': must be .*Did you mean 'fedavg'"):
        Choice(algorithms=("fedavgg",))
    with pytest.raises(ValueError, match=r"^split='shards': must be one of 'dirichlet'"):
        Choice(split="shards")


def test_choices_that_mean_the_same_are_equal_and_their_code_is_plain_python() -> None:
    one = Choice(
        algorithms=["fedprox", "fedavg"],
        mu=np.float64(0.5),
        alpha=1,
        rounds=np.int64(5),
        lr=np.float32(0.25),
    )
    assert one == Choice(algorithms=("fedavg", "fedprox"), mu=0.5, alpha=1.0, rounds=5, lr=0.25)
    assert all("np." not in curve.code for curve in one.curves())
