"""Import torchvision, which fetches and reads MNIST, Fashion-MNIST and CIFAR-10."""

import importlib
import sys
from types import ModuleType

import torch

_OPERATORS = ("nms", "qnms")  # torchvision describes these two while it is imported
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def import_torchvision() -> ModuleType:
    """Import torchvision, also where its compiled operators cannot be loaded.

    The wheel on PyPI is built for CUDA. Next to a CPU build of PyTorch, a plain ``import
    torchvision`` fails with "operator torchvision::nms does not exist". This function then declares
    the missing operators and imports again. Data sets, transforms and classification models work;
    object detection needs the compiled operators.

    Raises ``ImportError`` if torchvision is not installed.
    """
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError as error:
        if error.name != "torchvision":
            raise
        advice = "pip install torchvision"
        raise ImportError(
            f"MNIST, Fashion-MNIST and CIFAR-10 need torchvision: {advice}"
        ) from error
    except RuntimeError as error:
        if "operator torchvision::" not in str(error):
            raise
    _forget_partial_import()
    for name in _OPERATORS:
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", _SCHEMA)
    return importlib.import_module("torchvision")


def _forget_partial_import() -> None:
    """Remove the submodules that a failed import of torchvision leaves behind."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "torchvision":
            del sys.modules[name]
