"""The configuration of a run as JSON: everything needed to run it again."""

import torch
from torch import nn

from fedlab_core import inspection, losses, models, schedules
from fedlab_core.algorithms import Algorithm
from fedlab_core.aliases import Config
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.description import described, digest
from fedlab_core.settings import Settings

_WORK = ("rounds", "local_epochs", "local_steps", "batch_size", "local_momentum", "stragglers")
_PLAIN = (*_WORK, "seed", "device", "eval_every", "held_out", "client_accuracy")


def configuration(
    fed: FederatedDataset,
    model: nn.Module,
    algorithm: Algorithm,
    settings: Settings,
    output: torch.Tensor,
) -> Config:
    """Describe a run; ``output``: the model's output for the first samples.

    Two runs with the same configuration and engine give the same numbers. Raises ``ValueError`` for
    an algorithm or an availability that cannot be described.
    """
    target = fed.y[: len(output)].to(output.device)
    return {
        "algorithm": described("algorithm", algorithm.describe()),
        "dataset": fed.dataset.name,
        "partition": fed.recipe,
        "fingerprint": fed.fingerprint,
        "num_clients": fed.num_clients,
        "model": _model(model),
        **{name: getattr(settings, name) for name in _PLAIN},
        **({} if settings.train_loss else {"train_loss": False}),
        "clients_per_round": settings.cohort_size(fed.num_clients),
        "lr": schedules.describe(settings.lr, settings.rates),
        "loss": losses.describe(settings.loss, output, target),
        "availability": described("availability", settings.availability),
        "versions": {"torch": torch.__version__},
    }


def _model(model: nn.Module) -> Config:
    trained = inspection.trainable(model).values()
    initial = torch.cat([parameter.detach().cpu().reshape(-1) for parameter in trained])
    frozen = inspection.frozen_digest(model)
    return {
        **(models.recipe_of(model) or {"name": type(model).__name__, "layers": str(model)}),
        "dtype": str(initial.dtype).removeprefix("torch."),
        "num_parameters": initial.numel(),
        "initial": digest(initial.numpy().tobytes() + frozen.encode()),
        **({"frozen": frozen} if frozen else {}),
    }
