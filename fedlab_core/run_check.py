"""Check that federation, model, algorithm and settings fit together, before any work starts."""

import math

import torch
from torch import nn

from fedlab_core import inspection, losses
from fedlab_core.algorithms import Algorithm
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.randomness import stream
from fedlab_core.settings import Settings


def check_run(
    fed: FederatedDataset, model: nn.Module, algorithm: Algorithm, settings: Settings
) -> torch.Tensor:
    """Raise ``ValueError`` for anything that cannot run.

    Returns the output of the model for the first two samples.
    """
    if not isinstance(fed, FederatedDataset):
        raise ValueError(
            f"fed must be a FederatedDataset, got {type(fed).__name__}: FederatedDataset(dataset, "
            "parts)"
        )
    if not isinstance(algorithm, Algorithm):
        raise ValueError(
            f"algorithm={algorithm!r}: must be an instance of an algorithm, such as "
            "fl.FedProx(mu=0.1)"
        )
    settings.cohort_size(fed.num_clients)
    _check_task(fed, settings)
    if settings.availability is not None:
        rng = stream(settings.seed, "availability", round=1)
        count = len(settings.availability.available(1, rng))
        if count != fed.num_clients:
            raise ValueError(
                f"availability: is for {count} clients, but the federation has {fed.num_clients}"
            )
    if not isinstance(model, nn.Module):
        raise ValueError(f"model={model!r}: must be a torch.nn.Module")
    inspection.trainable(model)
    _check_normalisation(model)
    _check_devices(model, fed, torch.device(settings.device).type)
    dtype = _one_dtype(model)
    _check_data_types(fed, dtype)
    most = torch.finfo(dtype).max
    if max(settings.rates) > most:
        raise ValueError(
            f"lr={max(settings.rates):g}: must be at most {most:g}, the largest number of {dtype}"
        )
    output = _check_output(model, fed)
    if callable(settings.loss):
        losses.check_is_mean(settings.loss, output, fed.y[: len(output)].to(output.device))
    algorithm.check(fed, settings)
    return output


def _check_task(fed: FederatedDataset, settings: Settings) -> None:
    """Check that loss and evaluation fit the targets, class labels or floats."""
    if settings.loss == "cross_entropy" and fed.num_classes is None:
        raise ValueError(
            "loss='cross_entropy': needs class labels, but the targets are floats; use "
            "'squared_error'"
        )
    if settings.loss == "squared_error" and fed.num_classes is not None:
        raise ValueError(
            "loss='squared_error': needs float targets, but the targets are class labels (int64)"
        )
    if settings.client_accuracy and fed.num_classes is None:
        raise ValueError(
            "client_accuracy=True: needs class labels, but the targets are floats (regression)"
        )


def _check_normalisation(model: nn.Module) -> None:
    """Refuse batch normalisation, unless it is frozen."""
    for name, module in model.named_modules():
        if not isinstance(module, nn.modules.batchnorm._BatchNorm):
            continue
        is_trained = any(parameter.requires_grad for parameter in module.parameters())
        if is_trained or module.training or module.running_mean is None:
            raise ValueError(
                f"model: layer {name!r} is {type(module).__name__}; averaging its running "
                "statistics over clients has no meaning. Use GroupNorm or no normalisation, or "
                "freeze the layer of a trained model: layer.requires_grad_(False).eval()"
            )


def _check_devices(model: nn.Module, fed: FederatedDataset, device: str) -> None:
    """Check that data and parameters can be moved to the device of the run."""
    tensors = {"the data": fed.x, "the targets": fed.y}
    for name, parameter in model.named_parameters():
        tensors[f"parameter {name!r}"] = parameter
    for name, tensor in tensors.items():
        if tensor.device.type not in ("cpu", device):
            raise ValueError(
                f"{name}: on device {tensor.device}, but the run is on {device!r}; use "
                f".to({device!r})"
            )
        if device == "mps" and tensor.dtype == torch.float64:
            raise ValueError(
                f"{name}: float64, which device={device!r} does not have; use .float()"
            )


def _one_dtype(model: nn.Module) -> torch.dtype:
    """The dtype of all parameters, float32 or float64."""
    dtypes = {parameter.dtype for parameter in model.parameters()}
    dtype = dtypes.pop()
    if dtypes:
        raise ValueError(
            f"model: its parameters have several dtypes, {dtype} and {dtypes.pop()}; use "
            "model.to(dtype)"
        )
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(
            f"model: its parameters are {dtype}, which loses sample counts and small steps; use "
            "torch.float32 or torch.float64: model.float()"
        )
    return dtype


def _check_data_types(fed: FederatedDataset, dtype: torch.dtype) -> None:
    """Check samples and targets for a model with parameters of ``dtype``."""
    if fed.x.is_floating_point() and fed.x.dtype != dtype:
        raise ValueError(
            f"model: its parameters are {dtype} but the data are {fed.x.dtype}: use one of the two"
        )
    if fed.y.dtype not in (torch.float32, torch.float64, torch.int64):
        raise ValueError(
            f"the targets are {fed.y.dtype}; must be float32, float64 or class labels (int64)"
        )


def _check_output(model: nn.Module, fed: FederatedDataset) -> torch.Tensor:
    """Run forward passes on two samples, to report errors before training."""
    sample = fed.x[:2].to(next(model.parameters()).device)
    try:
        output = inspection.output_of(model, sample)
        changed = inspection.changed_by_training(model, sample)
    except (RuntimeError, IndexError, TypeError) as error:
        raise ValueError(
            f"model: does not take samples of shape {list(fed.x.shape[1:])}: {error}"
        ) from error
    written = [name for name, _ in model.named_parameters() if name in changed]
    if written:
        raise ValueError(
            f"model: a forward pass changes its parameters {', '.join(written)}, so clients would "
            "train other weights than they receive. Leave the weight as it is (no weight.data, no "
            "max_norm)"
        )
    if changed:
        raise ValueError(
            f"model: training changes its buffers {', '.join(changed)}, which are not averaged "
            "over clients; switch that off (track_running_stats=False) or use another layer"
        )
    outputs = list(output.shape[1:])
    if fed.num_classes is not None and (output.ndim != 2 or output.shape[1] < fed.num_classes):
        raise ValueError(
            f"model: gives {outputs} outputs per sample, but the labels need {fed.num_classes} "
            "logits"
        )
    entries = math.prod(fed.y.shape[1:])
    if fed.num_classes is None and math.prod(outputs) != entries:
        raise ValueError(
            f"model: gives {math.prod(outputs)} outputs per sample, but a target has {entries}"
        )
    return output
