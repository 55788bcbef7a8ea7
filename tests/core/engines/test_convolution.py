"""Every way of convolving and pooling against automatic differentiation, in float64."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from fedlab_core.engines import ReferenceEngine, StackedEngine
from fedlab_core.engines.stacked import convolution
from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.convolution import Conv2d
from fedlab_core.engines.stacked.pooling import Pool2d
from fedlab_core.engines.stacked.ways import Geometry, Ways, fastest
from fedlab_core.losses import LOSSES, squared_norm
from tests.core.engines.test_unusual_models import assert_same, federation

CLIENTS = 3
BATCH = 4
ALL_WAYS = [Ways(*ways) for ways in itertools.product(("patches", "each"), repeat=3)]
GEOMETRIES = {
    "plain": {"kernel_size": (2, 3)},
    "no bias": {"kernel_size": 3, "bias": False},
    "padding 1": {"kernel_size": 3, "padding": 1},
    "padding 2 and 1": {"kernel_size": 5, "padding": (2, 1)},
    "padding 1 and 0": {"kernel_size": 3, "padding": (1, 0)},
    "same": {"kernel_size": (3, 5), "padding": "same"},
    "valid": {"kernel_size": 3, "padding": "valid"},
    "stride": {"kernel_size": 3, "stride": 2, "padding": 1},
    "uneven stride": {"kernel_size": 2, "stride": (2, 3)},
}


def random(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64) - 0.5


def channels_last(images: Tensor) -> Tensor:
    """[A, B, C, H, W] → [A, B, H, W, C]."""
    return images.permute(0, 1, 3, 4, 2).contiguous()


def force(monkeypatch: pytest.MonkeyPatch, ways: Ways) -> None:
    monkeypatch.setattr(convolution, "fastest", lambda *_: ways)


def expected(
    layer: nn.Conv2d, parameters: Tensor, x: Tensor, above: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The output, the gradient of ``parameters`` [A, P] and that of ``x``, for the gradient
    ``above``.
    """
    parameters = parameters.clone().requires_grad_()
    x = x.clone().requires_grad_()
    outputs = []
    for own, images in zip(parameters, x, strict=True):
        weight = own[: layer.weight.numel()]
        bias = own[layer.weight.numel() :]
        values = {"weight": weight.view_as(layer.weight), **({"bias": bias} if len(bias) else {})}
        outputs.append(torch.func.functional_call(layer, values, (images,)))
    output = torch.stack(outputs)
    return output.detach(), *torch.autograd.grad((output * above).sum(), (parameters, x))


@pytest.mark.parametrize("values", [100, 10**9], ids=["small blocks", "one block"])
@pytest.mark.parametrize("options", GEOMETRIES.values(), ids=GEOMETRIES)
@pytest.mark.parametrize(
    "ways",
    ALL_WAYS,
    ids=lambda ways: f"{ways.forward}-{ways.weight_gradient}-{ways.input_gradient}",
)
@pytest.mark.parametrize("is_raw", [True, False], ids=["raw", "channels-last"])
def test_each_way_in_each_pass(
    monkeypatch, is_raw: bool, ways: Ways, options: dict, values: int
) -> None:
    """Twice, as the second time the buffers are full of old numbers."""
    force(monkeypatch, ways)
    monkeypatch.setattr(convolution, "PATCH_VALUES", values)
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 4, **options).double()
    stacked = Conv2d(0, layer, is_raw, Workspace(layer.weight.detach()))
    size = sum(value.numel() for value in layer.parameters())
    for _ in range(2):
        x = random(CLIENTS, BATCH, 3, 8, 7)
        parameters = random(CLIENTS, size)
        above = random(CLIENTS, BATCH, *layer(x[0, 0]).shape)
        output, of_parameters, of_images = expected(layer, parameters, x, above)
        with torch.no_grad():
            views = stacked.views(packed(stacked, parameters), CLIENTS, CLIENTS)
            found = stacked.forward(views, x if is_raw else channels_last(x))
            torch.testing.assert_close(found, channels_last(output), rtol=0, atol=1e-12)
            if not is_raw:
                below = stacked.input_gradient(views, channels_last(above))
                torch.testing.assert_close(below, channels_last(of_images), rtol=0, atol=1e-12)
            stacked.update(views, channels_last(above), 0.1)
        moved = parameters - 0.1 * of_parameters
        for view, (start, stop, _) in zip(views, stacked.places, strict=True):
            torch.testing.assert_close(view.flatten(1), moved[:, start:stop], rtol=0, atol=1e-12)


def packed(layer: Conv2d, parameters: Tensor) -> Tensor:
    """The parameters [A, P] tensor after tensor."""
    return torch.cat([parameters[:, start:stop].flatten() for start, stop, _ in layer.places])


@pytest.mark.parametrize(
    "ways",
    ALL_WAYS,
    ids=lambda ways: f"{ways.forward}-{ways.weight_gradient}-{ways.input_gradient}",
)
def test_networks_with_padding_train_as_in_the_reference_engine(monkeypatch, ways: Ways) -> None:
    """Three convolutions with pools between them, ragged batches and moments."""
    force(monkeypatch, ways)
    monkeypatch.setattr(convolution, "PATCH_VALUES", 300)
    torch.manual_seed(0)
    layers = [
        nn.Conv2d(2, 3, 3, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 4, 3, stride=2, padding=1),
        nn.Tanh(),
        nn.Conv2d(4, 2, 2, bias=False),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(2, 3),
    ]
    fed = federation(2, 12, 12)
    model = nn.Sequential(*layers).double()
    assert_same(fed, model, "layers", lr=0.3)
    engines = [
        kind(fed, model, LOSSES["cross_entropy"]) for kind in (ReferenceEngine, StackedEngine)
    ]
    params = engines[0].model.parameters().expand(3, -1)
    groups = [np.arange(4), np.array([7]), np.arange(20, 31)]
    for loss, power in ((squared_norm, 1), (LOSSES["cross_entropy"], 2)):
        left, right = (engine.moments(params, groups, loss, power) for engine in engines)
        torch.testing.assert_close(right, left, rtol=0, atol=1e-12)


def test_two_pools_and_two_convolutions_in_a_row_do_not_share_a_gradient_buffer() -> None:
    torch.manual_seed(0)
    layers = [
        nn.Conv2d(1, 2, 3, padding=1),
        nn.MaxPool2d(2),
        nn.MaxPool2d(2),
        nn.Conv2d(2, 3, 3, padding=1),
        nn.Conv2d(3, 2, 1),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8, 3),
    ]
    assert_same(federation(1, 16, 16), nn.Sequential(*layers).double(), "layers", lr=0.3)


@pytest.mark.parametrize(
    "options", [{"padding": "same"}, {"padding": 1, "padding_mode": "reflect"}, {"dilation": 2}]
)
def test_other_convolutions_go_through_vmap(options: dict) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 2, **options), nn.Flatten(), nn.LazyLinear(3)).double()
    fed = federation(1, 6, 6)
    model(fed.x[:1])
    assert_same(fed, model, "vmap")


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("size", [2, 3, (3, 2)])
@pytest.mark.parametrize("kind", [nn.MaxPool2d, nn.AvgPool2d])
def test_pools_with_ties(kind: type[nn.Module], size: int | tuple[int, int]) -> None:
    """A few whole numbers, so that most tiles have several maxima; some pixels are in no tile."""
    torch.manual_seed(0)
    x = torch.randint(3, (CLIENTS, BATCH, 5, 8, 7)).double().requires_grad_()
    layer = kind(size)
    output = layer(x.flatten(0, 1)).unflatten(0, (CLIENTS, BATCH))
    above = random(*output.shape)
    (of_images,) = torch.autograd.grad((output * above).sum(), x)
    stacked = Pool2d(layer, Workspace(above), "output")
    with torch.no_grad():
        torch.testing.assert_close(
            stacked.forward((), channels_last(x)), channels_last(output), rtol=0, atol=1e-12
        )
        below = stacked.input_gradient((), channels_last(above))
    torch.testing.assert_close(below, channels_last(of_images), rtol=0, atol=1e-12)


def test_of_equal_maxima_the_first_gets_the_gradient() -> None:
    image = torch.tensor([[1.0, 2.0], [2.0, 2.0]]).view(1, 1, 2, 2, 1)
    pool = Pool2d(nn.MaxPool2d(2), Workspace(image), "output")
    assert pool.forward((), image).item() == 2
    assert pool.input_gradient((), torch.full((1, 1, 1, 1, 1), 5.0)).flatten().tolist() == [
        0,
        5,
        0,
        0,
    ]


def test_the_memory_of_a_sample_counts_outputs_and_gradients_without_patches() -> None:
    """Outputs 2·6·6, 2·3·3 and 4·1·1, two gradients of the images in turn, 2·3·3 and 2·6·6, and no
    patches.
    """
    torch.manual_seed(0)
    layers = [
        nn.Conv2d(1, 2, 3),
        nn.MaxPool2d(2),
        nn.Conv2d(2, 4, 3),
        nn.Flatten(),
        nn.Linear(4, 3),
    ]
    engine = StackedEngine(
        federation(1, 8, 8), nn.Sequential(*layers).double(), LOSSES["cross_entropy"]
    )
    flat = 2 * 4  # the output in PyTorch's order, and its gradient
    assert engine._network.scratch_per_sample <= 72 + 18 + 4 + 72 + 18 + flat
    patches = 9 * 36  # of the first convolution
    assert engine._network.scratch_per_sample < patches


def test_small_work_goes_by_patches_and_large_work_by_calls() -> None:
    small = fastest(Geometry(8, 16, (3, 3), (1, 1), (0, 0)), places=90, is_raw=False)
    assert small == Ways("patches", "patches", "patches")
    large = fastest(Geometry(64, 64, (3, 3), (1, 1), (1, 1)), places=3200, is_raw=False)
    assert large == Ways("each", "each", "each")


@pytest.mark.parametrize(
    ("padding", "stride", "size"), [(0, 1, (6, 5)), (1, 1, (8, 7)), (1, 2, (4, 4)), (2, 3, (4, 3))]
)
def test_the_size_of_the_output(padding: int, stride: int, size: tuple[int, int]) -> None:
    geometry = Geometry(1, 1, (3, 3), (stride, stride), (padding, padding))
    assert geometry.output_size(8, 7) == size
    assert tuple(nn.Conv2d(1, 1, 3, stride, padding)(torch.zeros(1, 8, 7)).shape[1:]) == size
