"""A history runs again from its own configuration, bit for
bit; what cannot be made again is said.
"""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core import algorithms as gallery
from fedlab_core.algorithms import Compressed, FedAvgM, Private
from fedlab_core.algorithms.tiers import Dbscan, KMeans
from tests.support import blobs

ALGORITHMS = [
    fl.FedAvg(),
    fl.FedProx(0.1),
    fl.Scaffold(control_update="cohort"),
    fl.FedNova(mu=0.1),
    fl.FedCurv(0.01),
    fl.FedSSO(noise="nearest"),
    fl.FedMas(0.01, tiers=KMeans(num_tiers=3), importance_update="ema"),
    fl.FedMas(0.01, tiers=Dbscan(eps=0.5)),
    fl.FedMas(0.01, tiers=[0, 1] * 5),
    gallery.FedAvgMas(0.01),
    gallery.TFedAvg(tiers="kmeans"),
    gallery.TFedAvgMas(0.01, tiers="one"),
    FedAvgM(0.5, server_lr=0.7),
    gallery.FedAdam(0.05, beta1=0.5),
    gallery.FedYogi(0.05, tau=0.1),
    gallery.FedDyn(0.5),
    gallery.MimeLite(0.7),
    gallery.QFedAvg(1.5),
    gallery.PowerOfChoice(4),
    Compressed(fl.FedMas(0.01, tiers=KMeans(num_tiers=3)), keep=0.3, bits=4),
    Private(Compressed(FedAvgM(0.5), keep=0.3), clip=0.5, noise=0.1),
    Private(fl.FedAvg(), clip=math.inf, noise=0.0),
    gallery.IFCA(2),
    gallery.Ditto(0.3),
    gallery.FedPer(("1.bias",)),
    gallery.FineTune(2),
]
WORK = {
    "rounds": 2,
    "clients_per_round": 3,
    "local_steps": 2,
    "batch_size": 8,
    "lr": 0.05,
    "seed": 4,
    "progress": False,
}


@pytest.fixture(scope="module")
def fed() -> fl.FederatedDataset:
    digits = fl.load_dataset("digits")
    return fl.FederatedDataset(
        digits, fl.partition.dirichlet(digits.train.y, num_clients=10, alpha=0.3, seed=1)
    )


def patch(layers: nn.Sequential) -> None:
    layers[2].forward = torch.tanh


def same(left: fl.History, right: fl.History) -> bool:
    frames = [history.frame.drop(columns="seconds") for history in (left, right)]
    clients = [
        None if history.clients is None else history.clients.accuracy.tolist()
        for history in (left, right)
    ]
    return (
        torch.equal(left.params, right.params)
        and frames[0].equals(frames[1])
        and left.config == right.config
        and clients[0] == clients[1]
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_every_algorithm(fed, algorithm: fl.Algorithm) -> None:
    history = fl.simulate(fed, fl.models.softmax_regression(fed, seed=2), algorithm, **WORK)
    assert same(fl.rerun(json.loads(json.dumps(history.config)), progress=False), history)


@pytest.mark.parametrize("name", sorted(set(fl.models.MODELS) - {"linear", "lstm", "cnn_cifar"}))
def test_every_model(fed, name: str) -> None:
    history = fl.simulate(fed, fl.models.MODELS[name](fed, seed=3), fl.FedAvg(), **WORK)
    assert same(fl.rerun(history.config, progress=False), history)


def test_models_for_other_data() -> None:
    """Linear regression, an LSTM and the larger network on data that only the caller has."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(0, 3, (24,), generator=generator)
    inputs = {
        "linear": (torch.randn(24, 5, generator=generator), torch.randn(24, generator=generator)),
        "lstm": (torch.randint(0, 9, (24, 4), generator=generator), y),
        "cnn_cifar": (torch.randn(24, 3, 16, 16, generator=generator), y),
    }
    for name, (x, target) in inputs.items():
        own = fl.FederatedDataset.from_clients(
            [(x[i::3], target[i::3]) for i in range(3)], test=(x[:4], target[:4])
        )
        loss = "squared_error" if name == "linear" else "cross_entropy"
        history = fl.simulate(
            own, fl.models.MODELS[name](own, seed=1), fl.FedAvg(), **WORK, loss=loss
        )
        assert same(fl.rerun(history.config, fed=own, progress=False), history)


@pytest.mark.parametrize(
    "deal",
    [
        lambda y: fl.partition.shards(y, num_clients=10, shards_per_client=2, seed=3),
        lambda y: fl.partition.labels_per_client(y, num_clients=10, labels_per_client=2, seed=3),
        lambda y: fl.partition.dirichlet(
            y, num_clients=10, alpha=0.5, by="class", min_size=4, seed=3
        ),
        lambda y: fl.partition.quantity(y, num_clients=10, alpha=2.0, seed=3),
    ],
)
def test_every_partition(deal) -> None:
    digits = fl.load_dataset("digits")
    own = fl.FederatedDataset(digits, deal(digits.train.y))
    history = fl.simulate(own, fl.models.softmax_regression(own), fl.FedAvg(), **WORK)
    assert same(fl.rerun(history.config, progress=False), history)


def test_a_schedule_from_elsewhere_runs_again_with_the_rates_it_gave(fed) -> None:
    history = fl.simulate(
        fed, fl.models.mlp(fed, (8,)), fl.FedAvg(), **{**WORK, "lr": lambda t: 0.1 / (1 + t) ** 0.5}
    )
    assert same(fl.rerun(history.config, progress=False), history)
    assert len(fl.rerun(history.config, rounds=3, lr=0.1, progress=False).records) == 3


def test_what_cannot_be_made_again_is_asked_for(fed) -> None:
    own = blobs([6, 7, 8])

    def loss(output, target):
        return nn.functional.cross_entropy(output, target)

    class Mine(fl.FedAvg):
        """Not a dataclass of its own fields."""

        def __init__(self, strength: float) -> None:
            object.__setattr__(self, "strength", strength)

    present = fl.sampling.Bernoulli(np.full(3, 0.9))
    model = nn.Linear(4, 3).double()
    history = fl.simulate(own, model, fl.FedAvg(), **WORK, loss=loss, availability=present)
    for given, said in (
        ({}, "dataset 'custom' .* cannot be made again; pass fed="),
        ({"fed": own}, "model Linear is not built in; pass model="),
        ({"fed": own, "model": model}, "loss=.* pass loss="),
        ({"fed": own, "model": model, "loss": loss}, "availability=.* pass availability="),
        ({"fed": blobs([6, 7, 8], seed=1)}, "its data have the fingerprint"),
        (
            {"fed": own, "model": nn.Linear(4, 3).double(), "loss": loss, "availability": present},
            "model: its weights",
        ),
    ):
        with pytest.raises(ValueError, match=said):
            fl.rerun(history.config, **given)
    assert same(
        fl.rerun(history.config, fed=own, model=model, loss=loss, availability=present), history
    )


def test_a_parameter_that_the_algorithm_does_not_have_is_refused(fed) -> None:
    config = fl.simulate(fed, fl.models.softmax_regression(fed), fl.FedProx(0.1), **WORK).config
    with pytest.raises(ValueError, match="speed=2: algorithm FedProx has no speed; it takes mu"):
        fl.rerun(config | {"algorithm": config["algorithm"] | {"speed": 2}})


@pytest.mark.parametrize("change", [lambda layers: layers.__setitem__(2, nn.Tanh()), patch])
def test_a_changed_layer_is_another_model_and_loads_as_one(fed, tmp_path, change) -> None:
    """Its recipe still says ReLU: neither configuration nor file may believe it."""
    model = fl.models.mlp(fed, (8,), seed=0)
    assert fl.models.recipe_of(model) is not None
    change(model)
    history = fl.simulate(fed, model, fl.FedAvg(), **WORK)
    assert history.config["model"]["name"] == "Sequential"
    history.save(tmp_path / "h.npz")
    with pytest.raises(ValueError, match=r"use History\.load"):
        fl.History.load(tmp_path / "h.npz").model  # noqa: B018
    x = fed.x[:5]
    assert torch.equal(fl.History.load(tmp_path / "h.npz", model=model).model(x), history.model(x))


def test_an_inner_algorithm_of_another_library_has_to_be_given_with_its_wrapper(fed) -> None:
    class Foreign(fl.Algorithm):
        needs = "mean"

    algorithm = Compressed(Foreign(), keep=0.5)
    history = fl.simulate(fed, fl.models.softmax_regression(fed, seed=2), algorithm, **WORK)
    with pytest.raises(
        ValueError, match="algorithm Foreign cannot be made from its description; pass algorithm="
    ):
        fl.rerun(history.config, progress=False)
    assert same(fl.rerun(history.config, algorithm=algorithm, progress=False), history)


def test_a_readers_class_of_the_same_name_does_not_take_the_place_of_the_librarys(fed) -> None:
    class FedAvgM(fl.Algorithm):
        """Such as an exercise asks for."""

    history = fl.simulate(fed, fl.models.mlp(fed, (8,)), fl.algorithms.FedAvgM(0.5), **WORK)
    assert torch.equal(fl.rerun(history.config, fed=fed).params, history.params)
    assert FedAvgM.__name__ == history.config["algorithm"]["name"]
