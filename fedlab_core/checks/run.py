"""Check that a federation, a model, an algorithm and settings fit together, before any work starts."""

import math

import torch
from torch import nn

from fedlab_core import losses
from fedlab_core.algorithms import Algorithm
from fedlab_core.checks import inspection
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.randomness import stream
from fedlab_core.settings import Settings


def check_run(fed: FederatedDataset, model: nn.Module, algorithm: Algorithm, settings: Settings) -> torch.Tensor:
    """Raise ``ValueError`` for anything that cannot run. Returns the output of the model for the first two samples."""
    if not isinstance(fed, FederatedDataset):
        raise ValueError(f"fed must be a FederatedDataset, got {type(fed).__name__}: FederatedDataset(dataset, parts)")
    if not isinstance(algorithm, Algorithm):
        raise ValueError(f"algorithm={algorithm!r}: must be an instance of an algorithm, such as fl.FedProx(mu=0.1)")
    settings.cohort_size(fed.num_clients)
    if settings.loss == "cross_entropy" and fed.num_classes is None:
        raise ValueError("loss='cross_entropy': needs class labels, but the targets are floats; use 'squared_error'")
    if settings.loss == "squared_error" and fed.num_classes is not None:
        raise ValueError("loss='squared_error': needs float targets, but the targets are class labels (int64)")
    if settings.availability is not None:
        found = len(settings.availability.available(1, stream(settings.seed, "availability", round=1)))
        if found != fed.num_clients:
            raise ValueError(f"availability: is for {found} clients, but the federation has {fed.num_clients}")
    if settings.client_accuracy and fed.num_classes is None:
        raise ValueError("client_accuracy=True: needs class labels, but the targets are floats (regression)")
    _check_parameters(model, fed, settings)
    output = _check_output(model, fed)
    if callable(settings.loss):
        losses.check_is_mean(settings.loss, output, fed.y[: len(output)].to(output.device))
    algorithm.check(fed, settings)
    return output


def _check_parameters(model: nn.Module, fed: FederatedDataset, settings: Settings) -> None:
    """Check layers, devices, dtypes and rates."""
    if not isinstance(model, nn.Module):
        raise ValueError(f"model={model!r}: must be a torch.nn.Module")
    inspection.trainable(model)
    for name, module in model.named_modules():
        is_trained = module.training or any(parameter.requires_grad for parameter in module.parameters())
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and (is_trained or module.running_mean is None):
            raise ValueError(
                f"model: layer {name!r} is {type(module).__name__}; averaging its running statistics over clients has "
                "no meaning. Use GroupNorm or no normalisation, or freeze the layer of a trained model: "
                "layer.requires_grad_(False).eval()"
            )
    device = torch.device(settings.device).type
    tensors = {"the data": fed.x, "the targets": fed.y, **{f"parameter {n!r}": p for n, p in model.named_parameters()}}
    for what, tensor in tensors.items():
        if tensor.device.type not in ("cpu", device):
            raise ValueError(f"{what}: on device {tensor.device}, but the run is on {device!r}; use .to({device!r})")
        if device == "mps" and tensor.dtype == torch.float64:
            raise ValueError(f"{what}: float64, which device={device!r} does not have; use .float()")
    dtypes = {parameter.dtype for parameter in model.parameters()}
    dtype = dtypes.pop()
    if dtypes:
        raise ValueError(f"model: its parameters have several dtypes, {dtype} and {dtypes.pop()}; use model.to(dtype)")
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(
            f"model: its parameters are {dtype}, which loses sample counts and small steps; use torch.float32 or "
            "torch.float64: model.float()"
        )
    if fed.x.is_floating_point() and fed.x.dtype != dtype:
        raise ValueError(f"model: its parameters are {dtype} but the data are {fed.x.dtype}: use one of the two")
    if fed.y.dtype not in (torch.float32, torch.float64, torch.int64):
        raise ValueError(f"the targets are {fed.y.dtype}; must be float32, float64 or class labels (int64)")
    most = torch.finfo(dtype).max
    if max(settings.rates) > most:
        raise ValueError(f"lr={max(settings.rates):g}: must be at most {most:g}, the largest number of {dtype}")


def _check_output(model: nn.Module, fed: FederatedDataset) -> torch.Tensor:
    """Run forward passes on two samples, to report errors before training."""
    sample = fed.x[:2].to(next(model.parameters()).device)
    try:
        output = inspection.output_of(model, sample)
        changed = inspection.changed_by_training(model, sample)
    except (RuntimeError, IndexError, TypeError) as error:
        raise ValueError(f"model: does not take samples of shape {list(fed.x.shape[1:])}: {error}") from error
    if written := [name for name, _ in model.named_parameters() if name in changed]:
        raise ValueError(
            f"model: a forward pass changes its parameters {', '.join(written)}, so clients would train other weights "
            "than they receive. Leave the weight as it is (no weight.data, no max_norm)"
        )
    if changed:
        raise ValueError(
            f"model: training changes its buffers {', '.join(changed)}, which are not averaged over clients; "
            "switch that off (track_running_stats=False) or use another layer"
        )
    outputs = list(output.shape[1:])
    if fed.num_classes is not None and (output.ndim != 2 or output.shape[1] < fed.num_classes):
        raise ValueError(f"model: gives {outputs} outputs per sample, but the labels need {fed.num_classes} logits")
    entries = math.prod(fed.y.shape[1:])
    if fed.num_classes is None and math.prod(outputs) != entries:
        raise ValueError(f"model: gives {math.prod(outputs)} outputs per sample, but a target has {entries}")
    return output
