"""The settings of a run, checked before any work starts."""

import hashlib
import inspect
import json
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import nn

from fedlab_core import losses, schedules, validation
from fedlab_core.algorithms import ALGORITHMS, Algorithm
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines import ENGINES
from fedlab_core.randomness import stream
from fedlab_core.sampling import Availability

_BATCH_NORM = (nn.modules.batchnorm._BatchNorm,)


@dataclass(frozen=True)
class Settings:
    """Every setting of a run in its final form: K as an integer, the rate as a schedule, the loss as a function."""

    fed: FederatedDataset
    model: nn.Module
    algorithm: Algorithm
    rounds: int
    clients_per_round: int
    unit: str
    amount: int
    batch_size: int | None
    schedule: schedules.Schedule
    loss: losses.Loss
    loss_description: Any
    seed: int
    engine: str
    device: str
    eval_every: int
    stragglers: float
    availability: Availability | None

    def describe(self) -> dict[str, Any]:
        """Everything needed to run it again, as JSON-able values."""
        config = {
            "algorithm": self.algorithm.describe(),
            "dataset": self.fed.dataset.name,
            "partition": self.fed.recipe,
            "fingerprint": self.fed.fingerprint,
            "num_clients": self.fed.num_clients,
            "model": _describe_model(self.model),
            "rounds": self.rounds,
            "clients_per_round": self.clients_per_round,
            "local_epochs": self.amount if self.unit == "epochs" else None,
            "local_steps": self.amount if self.unit == "steps" else None,
            "batch_size": self.batch_size,
            "lr": schedules.describe(self.schedule, self.rounds),
            "loss": self.loss_description,
            "seed": self.seed,
            "device": self.device,
            "eval_every": self.eval_every,
            "stragglers": self.stragglers,
            "availability": _describe_availability(self.availability),
            "versions": {"torch": torch.__version__},
        }
        return json.loads(json.dumps(config, default=str))


def check(
    fed: FederatedDataset,
    model: nn.Module,
    algorithm: Algorithm,
    *,
    rounds: int,
    clients_per_round: float,
    local_epochs: int | None,
    local_steps: int | None,
    batch_size: int | None,
    lr: float | schedules.Schedule,
    loss: str | losses.Loss,
    seed: int,
    engine: str,
    device: str,
    eval_every: int,
    stragglers: float,
    availability: Availability | None,
) -> Settings:
    """The arguments of ``simulate`` as :class:`Settings`. Raises ``ValueError`` for anything that cannot run."""
    if not isinstance(fed, FederatedDataset):
        raise ValueError(f"fed must be a FederatedDataset, got {type(fed).__name__}: FederatedDataset(dataset, parts)")
    _check_algorithm(algorithm)
    rounds = validation.integer("rounds", rounds, minimum=1)
    unit, amount = _local_work(local_epochs, local_steps)
    stragglers = validation.real("stragglers", stragglers)
    if stragglers > 1:
        raise ValueError(f"stragglers={stragglers}: must be a fraction from 0 to 1")
    device = _check_device(device)
    _check_loss(loss, fed)
    output = _check_model(model, fed, device)
    return Settings(
        fed=fed,
        model=model,
        algorithm=algorithm,
        rounds=rounds,
        clients_per_round=resolve_clients(clients_per_round, fed.num_clients),
        unit=unit,
        amount=amount,
        batch_size=None if batch_size is None else validation.integer("batch_size", batch_size, minimum=1),
        schedule=schedules.resolve(lr, rounds),
        loss=losses.resolve(loss),
        loss_description=losses.describe(loss, output, fed.y[: len(output)].to(output.device)),
        seed=validation.seed(seed),
        engine=validation.choice("engine", engine, ENGINES),
        device=device,
        eval_every=validation.integer("eval_every", eval_every, minimum=1),
        stragglers=stragglers,
        availability=_check_availability(availability, fed.num_clients, validation.seed(seed)),
    )


def resolve_clients(clients_per_round: float, num_clients: int) -> int:
    """K from an integer in 1 … N or a fraction in (0, 1] (rounded, at least one client)."""
    allowed = f"an integer from 1 to {num_clients} (the number of clients) or a fraction in (0, 1]"
    value = clients_per_round
    if not isinstance(value, bool):
        if isinstance(value, Integral) and 1 <= value <= num_clients:
            return int(value)
        if isinstance(value, Real) and not isinstance(value, Integral) and 0 < value <= 1:
            return max(1, round(float(value) * num_clients))
    raise ValueError(f"clients_per_round={value!r}: must be {allowed}")


def _check_availability(availability: Any, num_clients: int, seed: int) -> Availability | None:
    if availability is None:
        return None
    if not isinstance(availability, Availability):
        raise ValueError(
            f"availability={availability!r}: must be None or an Availability, such as sampling.Bernoulli(probabilities)"
        )
    found = len(availability.available(1, stream(seed, "availability", round=1)))
    if found != num_clients:
        raise ValueError(f"availability: is for {found} clients, but the federation has {num_clients}")
    return availability


def _describe_availability(availability: Availability | None) -> dict[str, Any] | None:
    """Its name and, instead of its tables, their fingerprints."""
    if availability is None:
        return None
    values = {
        name: _digest(value.tobytes()) if isinstance(value, np.ndarray) else value
        for name, value in vars(availability).items()
    }
    return {"name": type(availability).__name__, **values}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _local_work(local_epochs: int | None, local_steps: int | None) -> tuple[str, int]:
    if (local_epochs is None) == (local_steps is None):
        raise ValueError(
            f"local_epochs={local_epochs!r}, local_steps={local_steps!r}: give exactly one of them, an integer ≥ 1"
        )
    if local_epochs is not None:
        return "epochs", validation.integer("local_epochs", local_epochs, minimum=1)
    return "steps", validation.integer("local_steps", local_steps, minimum=1)


def _check_algorithm(algorithm: Any) -> None:
    if isinstance(algorithm, Algorithm):
        return
    if isinstance(algorithm, str):
        validation.choice("algorithm", algorithm.lower(), ALGORITHMS)
        name = ALGORITHMS[algorithm.lower()].__name__
        raise ValueError(f"algorithm={algorithm!r}: pass an instance, such as fl.{name}(…)")
    if inspect.isclass(algorithm) and issubclass(algorithm, Algorithm):
        raise ValueError(f"algorithm={algorithm.__name__}: pass an instance, {algorithm.__name__}(…), not the class")
    raise ValueError(f"algorithm={algorithm!r}: must be an instance of a subclass of Algorithm")


def _check_device(device: str) -> str:
    try:
        parsed = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device={device!r}: must be 'cpu' or 'cuda' (or 'cuda:1', …)") from error
    if parsed.type not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r}: must be 'cpu' or 'cuda' (or 'cuda:1', …)")
    if parsed.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r}: this PyTorch sees no CUDA device; use device='cpu'")
    return str(parsed)


def _check_model(model: nn.Module, fed: FederatedDataset, device: str) -> torch.Tensor:
    """What the model says of the first samples."""
    if not isinstance(model, nn.Module):
        raise ValueError(f"model={model!r}: must be a torch.nn.Module")
    parameters = list(model.parameters())
    if not parameters:
        raise ValueError("model: has no parameters to train")
    for name, module in model.named_modules():
        if isinstance(module, _BATCH_NORM):
            raise ValueError(
                f"model: layer {name!r} is {type(module).__name__}; its running averages have no meaning when clients "
                "are averaged. Use GroupNorm or no normalisation"
            )
        if any(not parameter.requires_grad for parameter in module.parameters(recurse=False)):
            raise ValueError(f"model: layer {name!r} is frozen (requires_grad=False); every parameter is trained here")
    tensors = {"the data": fed.x, "the targets": fed.y, **{f"parameter {n!r}": p for n, p in model.named_parameters()}}
    for what, tensor in tensors.items():
        if tensor.device.type not in ("cpu", torch.device(device).type):
            raise ValueError(f"{what}: on device {tensor.device}, but the run is on {device!r}; use .to({device!r})")
    dtypes = {parameter.dtype for parameter in parameters}
    if len(dtypes) > 1:
        raise ValueError(f"model: its parameters have several dtypes, {sorted(map(str, dtypes))}; use model.to(dtype)")
    if fed.x.is_floating_point() and fed.x.dtype not in dtypes:
        raise ValueError(
            f"model: its parameters are {parameters[0].dtype} but the data are {fed.x.dtype}: use one of the two"
        )
    return _check_output(model, fed)


def _check_loss(loss: Any, fed: FederatedDataset) -> None:
    if loss == "cross_entropy" and fed.num_classes is None:
        raise ValueError("loss='cross_entropy': needs class labels, but the targets are floats; use 'squared_error'")
    if loss == "squared_error" and fed.num_classes is not None:
        raise ValueError("loss='squared_error': needs float targets, but the targets are class labels (int64)")


def _check_output(model: nn.Module, fed: FederatedDataset) -> torch.Tensor:
    """One forward pass on two samples, so that a wrong shape is reported before training and not inside it."""
    device = next(model.parameters()).device
    sample = fed.x[:2].to(device)
    training = model.training
    try:
        with torch.no_grad():
            output = model.eval()(sample)
    except (RuntimeError, IndexError, TypeError) as error:
        raise ValueError(f"model: does not take samples of shape {list(sample.shape[1:])}: {error}") from error
    finally:
        model.train(training)
    if fed.num_classes is not None and (output.ndim != 2 or output.shape[1] < fed.num_classes):
        raise ValueError(
            f"model: gives {list(output.shape[1:])} outputs per sample, but the labels need {fed.num_classes} logits"
        )
    return output


def _describe_model(model: nn.Module) -> dict[str, Any]:
    initial = torch.nn.utils.parameters_to_vector(model.parameters()).detach().cpu()
    description: dict[str, Any] = dict(
        getattr(model, "recipe", None) or {"name": type(model).__name__, "layers": str(model)}
    )
    dtype = str(initial.dtype).removeprefix("torch.")
    return {
        **description,
        "dtype": dtype,
        "num_parameters": initial.numel(),
        "initial": _digest(initial.numpy().tobytes()),
    }
