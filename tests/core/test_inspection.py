"""What a module does beside what its class says."""

import threading

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from fedlab_core.inspection import changed_by_training, is_as_its_class, output_of

HOOKS = ["forward_pre_hook", "full_backward_hook"]


def nothing(*arguments: object) -> None:
    """A hook."""


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_seen_and_its_removal_too(hook: str) -> None:
    layer = nn.Linear(4, 3)
    assert is_as_its_class(layer)
    handle = getattr(layer, f"register_{hook}")(nothing)
    assert not is_as_its_class(layer)
    handle.remove()
    assert is_as_its_class(layer)


@pytest.mark.parametrize("method", ["forward", "_conv_forward"])
def test_a_method_of_an_instance_is_seen(method: str) -> None:
    layer = nn.Conv2d(1, 1, 3)
    setattr(layer, method, lambda *inputs: inputs[0])
    assert not is_as_its_class(layer)


class Counter(nn.Module):
    """Counts its calls in a buffer, or makes a buffer at the first one."""

    def __init__(self, lazy: bool) -> None:
        super().__init__()
        self.lazy = lazy
        self.register_buffer("steps", None if lazy else torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.lazy:
            self.steps = self.steps + 1
        elif self.steps is None:
            self.steps = torch.arange(x.shape[1])
        return x


class Small(nn.Linear):
    """Fails where its output is large."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output = super().forward(x)
        assert output.abs().max() < 10
        return output


def unsettled(layer: nn.Module) -> nn.Module:
    """Its power iteration, which may have settled to the last digit, begins anew with another
    weight.
    """
    torch.nn.init.uniform_(layer.parametrizations.weight.original)
    return layer


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: nn.Linear(4, 3), []),
        (lambda: nn.Sequential(nn.LayerNorm(4), nn.Dropout(0.5)), []),
        (lambda: parametrizations.weight_norm(nn.Linear(4, 3)), []),
        (lambda: Small(4, 3), []),
        (
            lambda: nn.Sequential(nn.InstanceNorm1d(4, track_running_stats=True)),
            ["0.running_mean", "0.running_var"],
        ),
        (
            lambda: unsettled(parametrizations.spectral_norm(nn.Linear(4, 3))),
            ["parametrizations.weight.0._u", "parametrizations.weight.0._v"],
        ),
        (lambda: Counter(lazy=False), ["steps"]),
        (lambda: Counter(lazy=True), []),
    ],
)
def test_buffers_that_training_changes(make, expected: list[str]) -> None:
    torch.manual_seed(0)
    module = make().eval()
    x = torch.rand(3, 4, 4)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    sample = x.clone()
    state = torch.get_rng_state()
    assert changed_by_training(module, x) == expected
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert (
        not module.training and torch.equal(x, sample) and torch.equal(torch.get_rng_state(), state)
    )


class Returning(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor):
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (x, x), "a tuple"),
        (lambda x: x.sum(), r"shape \[\] for 2 samples"),
        (lambda x: x.flatten(), r"shape \[8\] for 2 samples"),
    ],
)
def test_an_output_must_be_a_row_for_each_sample(function, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        output_of(Returning(function), torch.rand(2, 4))


def test_a_second_thread_waits_until_the_mode_is_given_back() -> None:
    """Else it finds the module in training mode half way, and dropout draws numbers that belong to
    another run.
    """
    modes = []
    threads = []
    second_is_inside = threading.Event()
    first_is_done = threading.Event()

    def forward(x: torch.Tensor) -> torch.Tensor:
        if not threads:
            threads.append(threading.Thread(target=output_of, args=(module, x)))
            threads[0].start()
            second_is_inside.wait(0.2)
        else:
            second_is_inside.set()
            first_is_done.wait(240)
        modes.append(module.training)
        return x

    module = Returning(forward).train()
    output_of(module, torch.rand(2, 4))
    first_is_done.set()
    threads[0].join()
    assert modes == [False, False] and module.training


class Writing(nn.Linear):
    """Does something to its own weight in each forward pass."""

    def __init__(self, write) -> None:
        super().__init__(4, 3)
        self._write = write

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self._write(self.weight)
        return super().forward(x)


@pytest.mark.parametrize(
    "write",
    [
        lambda weight: weight.data.clamp_(-2, 2),
        lambda weight: weight.data.div_(weight.data.norm(dim=1, keepdim=True).clamp_min(1)),
    ],
    ids=["clip", "max-norm"],
)
def test_a_forward_pass_that_writes_to_a_weight(write) -> None:
    torch.manual_seed(0)
    module = Writing(write)
    x = torch.rand(3, 4)
    weight = module.weight.detach().clone()
    assert changed_by_training(module, x) == ["weight"]
    assert torch.equal(module.weight, weight)
