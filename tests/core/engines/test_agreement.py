"""What a layer does beside what its class says is done by both engines, or trained by the loop,
which says so.
"""

import copy
import random
import types
import warnings
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines import StackedEngine, check_agreement, create
from fedlab_core.losses import LOSSES
from fedlab_core.models import TextLSTM
from fedlab_core.server import Server
from tests.core.engines.test_equality import texts
from tests.support import blobs

SIZES = (3, 12, 25, 1, 9)
ARGUMENTS = {
    "rounds": 3,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 5,
    "lr": 0.05,
    "progress": False,
}


def two_layers() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)).double()


def patched(model: nn.Module, place: int | None) -> nn.Module:
    """Twice what the layer at ``place`` says (None: the whole model), by a ``forward`` of this one
    instance.
    """
    layer = model if place is None else model[place]

    def forward(self: nn.Module, *inputs: torch.Tensor) -> torch.Tensor:
        return 2 * type(self).forward(self, *inputs)

    layer.forward = types.MethodType(forward, layer)
    return model


def hooked(model: nn.Module) -> nn.Module:
    model[0].register_forward_hook(lambda layer, inputs, output: 2 * output)
    return model


def with_backward_hook(model: nn.Module) -> nn.Module:
    model[1].register_full_backward_hook(lambda layer, below, above: (3 * below[0],))
    return model


def pruned(model: nn.Module) -> nn.Module:
    """The weight comes after the bias then."""
    prune.l1_unstructured(model[0], "weight", amount=0.3)
    prune.remove(model[0], "weight")
    return model


def with_a_tensor_for_a_bias(model: nn.Module) -> nn.Module:
    del model[0].bias
    model[0].bias = torch.ones(5, dtype=torch.float64)
    return model


def not_contiguous(model: nn.Module) -> nn.Module:
    model[0].weight = nn.Parameter(model[0].weight.detach().t().contiguous().t())
    assert not model[0].weight.is_contiguous()
    return model


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(
    ("change", "form"),
    [
        (lambda model: patched(model, 0), "vmap"),
        (lambda model: patched(model, None), "vmap"),
        (hooked, "vmap"),
        (with_backward_hook, None),
        (pruned, "layers"),
        (with_a_tensor_for_a_bias, "vmap"),
        (not_contiguous, "layers"),
    ],
)
def test_a_changed_layer_trains_as_in_the_reference_engine(change, form: str | None) -> None:
    """Offsets move parameters that the loss does not depend on, too."""
    fed = blobs(SIZES)
    model = change(two_layers())

    class Pushed(fl.Algorithm):
        def correction(self, server: Server, client: int) -> fl.Correction:
            return fl.Correction(offset=torch.full_like(server.params, 0.1 * client))

    with warnings.catch_warnings():
        if form is None:
            warnings.simplefilter("ignore")
        engines = [
            create(name, fed, model, LOSSES["cross_entropy"], "cpu")
            for name in ("reference", "auto")
        ]
    assert form is None or engines[1].form == form
    params = engines[0].model.parameters()
    settings = fl.Settings(rounds=1, clients_per_round=5, local_steps=1, batch_size=4, lr=0.1)
    server = Server(fed, engines[0], settings)
    corrections = [Pushed().correction(server, client) for client in range(5)]
    work = fl.engines.work.Work(np.arange(5), np.full(5, 2), "epochs", 5, 0.1, round=1, seed=0)
    left, right = (engine.train(params, work, corrections).params for engine in engines)
    torch.testing.assert_close(right, left, rtol=0, atol=1e-12)
    untouched = StackedEngine(fed, two_layers(), LOSSES["cross_entropy"])
    if untouched.model.size == len(params) and change not in (pruned, not_contiguous):
        assert (untouched.train(params, work, corrections).params - left).abs().max() > 1e-3


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(
    "options", [{"scale_grad_by_freq": True}, {"sparse": True}, {"padding_idx": 0}], ids=str
)
def test_options_of_an_embedding(options) -> None:
    model = TextLSTM(9, 4, 6, 2)
    model.embedding = nn.Embedding(9, 4, **options)
    fed = texts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [
            fl.simulate(fed, model.double(), fl.FedAvg(), engine=name, **ARGUMENTS)
            for name in ("reference", "auto")
        ]
    torch.testing.assert_close(runs[1].params, runs[0].params, rtol=0, atol=1e-12)


class Odd(nn.Module):
    """A linear model whose logits have a ``factor`` that
    depends on more than weights and samples.
    """

    def __init__(self, factor) -> None:
        super().__init__()
        self.output = nn.Linear(4, 3)
        self.factor = factor
        self.calls = 0
        self.register_buffer("mean", torch.zeros((), dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean()
        return self.output(x) * self.factor(self)


FACTORS = {
    "counts its calls": lambda model: 1 + 0.1 * model.calls,
    "replaces a buffer": lambda model: 1 + model.mean,
    "draws from NumPy": lambda model: float(np.random.default_rng().normal()),
    "draws from Python": lambda model: random.random(),
    "draws from PyTorch": lambda model: torch.rand(1, dtype=torch.float64),
}


@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
def test_a_model_with_a_state_or_random_draws_goes_to_the_loop_with_a_warning(factor) -> None:
    fed = blobs(SIZES)
    model = Odd(factor).double()
    with pytest.warns(UserWarning, match="one after another"):
        assert create("auto", fed, model, LOSSES["cross_entropy"], "cpu").form == "loop"
    with pytest.raises(ValueError, match=r"engine='stacked'.*use engine='reference'"):
        create("stacked", fed, model, LOSSES["cross_entropy"], "cpu")


def test_a_stacked_engine_that_is_off_by_a_hundredth_is_found(monkeypatch) -> None:
    """As if a layer had a fault nobody foresaw."""
    fed = blobs(SIZES)
    model = two_layers()
    engine = StackedEngine(fed, model, LOSSES["cross_entropy"])
    check_agreement(engine, model)
    right = engine.mean_gradients
    monkeypatch.setattr(
        engine, "mean_gradients", lambda *args, **kwargs: 1.01 * right(*args, **kwargs)
    )
    with pytest.raises(fl.engines.Unstackable, match=r"0\.01 of their size"):
        check_agreement(engine, model)


@pytest.mark.parametrize(("dtype", "scale"), [(torch.float32, 1), (torch.float64, 1e-3)], ids=str)
@pytest.mark.parametrize(
    "layers",
    [
        [nn.Flatten(), nn.Linear(64, 30), nn.ReLU(), nn.Linear(30, 10)],
        [
            nn.Flatten(),
            *(layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.Tanh())),
            nn.Linear(64, 10),
        ],
        [nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 10)],
        [
            nn.Conv2d(1, 4, 3, padding=1),
            nn.GroupNorm(2, 4),
            nn.GELU(),
            nn.Flatten(),
            nn.Linear(256, 10),
        ],
        [nn.Flatten(), nn.LayerNorm(64), nn.Linear(64, 10)],
    ],
    ids=["mlp", "deep", "cnn", "group norm", "layer norm"],
)
def test_no_false_alarm(layers, scale: float, dtype: torch.dtype) -> None:
    """Large weights magnify rounding; small and ragged clients are part of the comparison."""
    model = copy.deepcopy(nn.Sequential(*layers)).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= scale
    x = torch.rand(50, 1, 8, 8, generator=torch.Generator().manual_seed(0), dtype=dtype)
    split = Split(x, torch.arange(50) % 10)
    bounds = np.cumsum((0, *SIZES)).tolist()
    fed = fl.FederatedDataset(
        Dataset("random", split, split, 10), [range(a, b) for a, b in pairwise(bounds)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "There is a performance drop")
        assert create("auto", fed, model, LOSSES["cross_entropy"], "cpu").name == "stacked"
