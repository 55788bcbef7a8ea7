"""Models. Each function returns a plain ``torch.nn.Module`` that fits a federation and has its
floating dtype.

Weights come from the stream "model" of ``seed`` with PyTorch's default laws: U(−1/√fan_in,
1/√fan_in) for linear and convolutional layers, U(−1/√hidden, 1/√hidden) for an LSTM, N(0, 1) for
embeddings.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

from fedlab_core import validation
from fedlab_core.aliases import Config, Keywords
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.inspection import is_as_its_class
from fedlab_core.randomness import derived_seed


def linear(fed: FederatedDataset, *, bias: bool = True, seed: int = 0) -> nn.Module:
    """Linear regression on the flattened input; as many outputs as a target has entries."""
    outputs = math.prod(fed.y.shape[1:])
    return build(
        "linear", {"inputs": _flat_size(fed), "outputs": outputs, "bias": bias}, seed, fed.dtype
    )


def softmax_regression(fed: FederatedDataset, *, seed: int = 0) -> nn.Module:
    """One linear layer from the flattened input to the classes: the convex model of the course."""
    return build(
        "softmax_regression", {"inputs": _flat_size(fed), "classes": _classes(fed)}, seed, fed.dtype
    )


def mlp(fed: FederatedDataset, hidden: Sequence[int] = (200,), *, seed: int = 0) -> nn.Module:
    """Fully connected layers with ReLU between them, of the widths in ``hidden``."""
    widths = [validation.integer("hidden", width, minimum=1) for width in hidden]
    return build(
        "mlp",
        {"inputs": _flat_size(fed), "hidden": widths, "classes": _classes(fed)},
        seed,
        fed.dtype,
    )


def cnn_mnist(fed: FederatedDataset, *, seed: int = 0) -> nn.Module:
    """One convolution (16 filters 5×5), one max-pool 2×2, three linear layers (128, 64, classes):
    [002] on MNIST.
    """
    return build(
        "cnn_mnist", {"shape": _image(fed, minimum=6), "classes": _classes(fed)}, seed, fed.dtype
    )


def cnn_cifar(fed: FederatedDataset, *, seed: int = 0) -> nn.Module:
    """Two convolutions (16 and 32 filters 5×5), each with average-pool 2×2, two linear layers (128,
    classes): [002].
    """
    return build(
        "cnn_cifar", {"shape": _image(fed, minimum=16), "classes": _classes(fed)}, seed, fed.dtype
    )


def lstm(
    fed: FederatedDataset, *, embedding: int = 32, hidden: int = 64, seed: int = 0
) -> nn.Module:
    """Embedding, one LSTM layer and a linear layer on its last state [004]; samples are int64 token
    ids [length].
    """
    if fed.x.is_floating_point() or fed.x.ndim != 2:
        raise ValueError(
            f"lstm needs int64 token ids [n, length], got {fed.x.dtype} {list(fed.x.shape)}"
        )
    tokens = int(max(fed.x.max(), fed.test.x.max() if len(fed.test) else 0)) + 1
    arguments = {
        "tokens": tokens,
        "embedding": embedding,
        "hidden": hidden,
        "classes": _classes(fed),
    }
    return build("lstm", arguments, seed, fed.dtype)


MODELS: dict[str, Callable[..., nn.Module]] = {
    model.__name__: model for model in (linear, softmax_regression, mlp, cnn_mnist, cnn_cifar, lstm)
}


def build(
    name: str, arguments: Keywords, seed: int = 0, dtype: torch.dtype = torch.float32
) -> nn.Module:
    """Build a built-in model from its recipe (see :func:`recipe_of`)."""
    module = _skeleton(name, arguments).to_empty(device="cpu").to(dtype)
    _initialise(module, torch.Generator().manual_seed(derived_seed(validation.seed(seed), "model")))
    vars(module)["recipe"] = {"name": name, "arguments": arguments, "seed": seed}
    return module


def recipe_of(module: nn.Module) -> Config | None:
    """``name``, ``arguments`` and ``seed`` of the initial weights of a built-in model; None for any
    other model.

    A model with changed or frozen layers is another one; changed weights do not count.
    """
    recipe = getattr(module, "recipe", None)
    if recipe is None or not all(map(is_as_its_class, module.modules())):
        return None
    built = _skeleton(recipe["name"], recipe["arguments"])
    is_as_built = str(module) == str(built) and _form(module) == _form(built)
    return dict(recipe) if is_as_built else None


def _form(module: nn.Module) -> dict[str, tuple[torch.Size, bool]]:
    """The shape of each parameter, and whether it is trained."""
    parameters = module.named_parameters()
    return {name: (parameter.shape, parameter.requires_grad) for name, parameter in parameters}


def _skeleton(name: str, arguments: Keywords) -> nn.Module:
    """The layers without weights."""
    with torch.device("meta"):
        return BUILDERS[name](**arguments)


def _mlp(inputs: int, hidden: Sequence[int], classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), *_dense(inputs, *hidden, classes))


def _dense(*widths: int) -> list[nn.Module]:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return layers[:-1]


def _cnn(
    shape: Sequence[int],
    filters: Sequence[int],
    pool: type[nn.Module],
    widths: Sequence[int],
    classes: int,
) -> nn.Module:
    """Convolutions 5×5, each with ReLU and a pool 2×2, and linear layers of these ``widths``."""
    channels, *sides = shape
    layers: list[nn.Module] = []
    for count in filters:
        layers += [nn.Conv2d(channels, count, 5), nn.ReLU(), pool(2)]
        channels = count
        sides = [(side - 4) // 2 for side in sides]
    features = channels * math.prod(sides)
    return nn.Sequential(*layers, nn.Flatten(), *_dense(features, *widths, classes))


class TextLSTM(nn.Module):
    """Token ids [n, length] → logits [n, classes], from the LSTM's state after the last token."""

    def __init__(self, tokens: int, embedding: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.output = nn.Linear(hidden, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        return self.output(states[:, -1])


BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "linear": lambda inputs, outputs, bias: nn.Sequential(
        nn.Flatten(), nn.Linear(inputs, outputs, bias=bias)
    ),
    "softmax_regression": lambda inputs, classes: _mlp(inputs, [], classes),
    "mlp": _mlp,
    "cnn_mnist": lambda shape, classes: _cnn(shape, [16], nn.MaxPool2d, [128, 64], classes),
    "cnn_cifar": lambda shape, classes: _cnn(shape, [16, 32], nn.AvgPool2d, [128], classes),
    "lstm": TextLSTM,
}


def _initialise(module: nn.Module, generator: torch.Generator) -> None:
    for layer in module.modules():
        if isinstance(layer, nn.Embedding):
            nn.init.normal_(layer.weight, generator=generator)
        elif isinstance(layer, (nn.Linear, nn.Conv2d, nn.LSTM)):
            fan_in = layer.hidden_size if isinstance(layer, nn.LSTM) else layer.weight[0].numel()
            bound = 1 / math.sqrt(fan_in)
            for parameter in layer.parameters():
                nn.init.uniform_(parameter, -bound, bound, generator=generator)


def _flat_size(fed: FederatedDataset) -> int:
    if not fed.x.is_floating_point():
        raise ValueError(
            f"this model needs floats, got samples of {fed.x.dtype}; token ids need the model lstm"
        )
    return math.prod(fed.x.shape[1:])


def _classes(fed: FederatedDataset) -> int:
    if fed.num_classes is None:
        raise ValueError(
            "this model is a classifier, but the targets are floats (regression): use "
            "fl.models.linear"
        )
    return fed.num_classes


def _image(fed: FederatedDataset, minimum: int) -> list[int]:
    shape = list(fed.x.shape[1:])
    if len(shape) != 3 or min(shape[1:]) < minimum:
        raise ValueError(
            f"this model needs images [channels, ≥{minimum}, ≥{minimum}], got samples of shape "
            f"{shape}"
        )
    return shape
