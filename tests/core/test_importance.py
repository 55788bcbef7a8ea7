"""Importance against closed forms, one sample at a time, and the engines against each other."""

import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core import importance, losses
from fedlab_core.engines import ReferenceEngine, StackedEngine


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def linear(bias: bool) -> nn.Linear:
    layer = nn.Linear(3, 2, bias=bias).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(random(*parameter.shape, seed=1))
    return layer


def test_samples_with_opposite_gradients_do_not_cancel() -> None:
    """∂‖Wx‖²/∂W is even in x, ∂‖Wx + b‖²/∂W is not: at W = 0 it is 2b xᵀ, so ±x would cancel
    without |·|.
    """
    model = linear(bias=True)
    with torch.no_grad():
        model.weight.zero_()
    x = random(1, 3)
    both = importance.mas(model, torch.cat([x, -x]))
    torch.testing.assert_close(both, importance.mas(model, x), rtol=0, atol=1e-14)
    assert (both > 0).all()


def test_importance_of_the_softmax_in_closed_form() -> None:
    """With p = softmax(Wx): ∂‖p‖²/∂W = 2 p ⊙ (p − ‖p‖²) xᵀ, absolute values inside the mean."""
    model = linear(bias=False)
    x = random(5, 3)
    p = torch.softmax(x @ model.weight.detach().T, dim=1)
    outer = 2 * p * (p - p.square().sum(1, keepdim=True))
    expected = (outer[:, :, None] * x[:, None, :]).abs().mean(0).flatten()
    torch.testing.assert_close(
        importance.mas(model, x, output="softmax"), expected, rtol=0, atol=1e-14
    )
    with pytest.raises(
        ValueError, match="output='probabilities': must be one of 'logits', 'softmax'"
    ):
        importance.mas(model, x, output="probabilities")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda model, x: importance.fisher_diagonal(model, x, torch.tensor([0, 1, 2])),
            "label 2, .* 2 logits",
        ),
        (
            lambda model, x: importance.fisher_diagonal(model, x, torch.tensor([0, 1])),
            "2 labels for 3 samples",
        ),
        (
            lambda model, x: importance.fisher_diagonal(
                model, x[:0], torch.tensor([], dtype=torch.int64)
            ),
            "no samples",
        ),
        (lambda model, x: importance.mas(model, x[:0]), "no samples"),
    ],
    ids=["label", "lengths", "fisher of nothing", "mas of nothing"],
)
def test_data_that_do_not_fit_are_refused(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(linear(bias=True), random(3, 3))


def images() -> fl.FederatedDataset:
    sizes = (4, 1, 7)
    clients = [(random(n, 1, 8, 8, seed=n), torch.arange(n) % 3) for n in sizes]
    return fl.FederatedDataset.from_clients(clients, test=clients[0])


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 2, 2),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(8, 3),
    )


MODELS = {
    "mlp": (
        images,
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.ReLU(), nn.Linear(5, 3)),
    ),
    "cnn": (images, convolutions),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("loss", "power", "piece"),
    [("squared_norm", 1, 3), ("squared_norm_of_softmax", 1, 3), ("cross_entropy", 2, 100)],
)
def test_engines_agree_at_parameters_of_their_own(kind, piece, loss, power, monkeypatch) -> None:
    monkeypatch.setattr("fedlab_core.engines.stacked.engine.MOMENT_SAMPLES", piece)
    monkeypatch.setattr("fedlab_core.engines.stacked.engine.GRADIENT_VALUES", 1000)
    make_fed, make_model = MODELS[kind]
    fed = make_fed()
    model = make_model().double()
    function = getattr(losses, loss, None) or losses.LOSSES[loss]
    found = []
    for engine in [
        kind(fed, model, losses.LOSSES["cross_entropy"])
        for kind in (ReferenceEngine, StackedEngine)
    ]:
        start = engine.model.parameters()
        params = start + 0.1 * random(fed.num_clients, len(start))
        found.append(engine.moments(params, fed.parts, function, power))
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-12)
    assert (found[0] > 0).any()
