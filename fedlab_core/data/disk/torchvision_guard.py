"""Import torchvision although its compiled operators are missing.

The usual torchvision wheel is compiled for CUDA. Beside a CPU build of PyTorch its library cannot be loaded, and
``import torchvision`` stops with "operator torchvision::nms does not exist": it attaches a shape rule to two operators
which that library would have declared. The mirrors of data sets, all that is wanted of it here, need neither. So we
declare the two names, without any implementation (calling them still fails), and import again. The plain import always
comes first: a second declaration of an operator that the compiled library brings would itself be an error.
"""

import importlib
from types import ModuleType

import torch

_SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
_libraries: list[torch.library.Library] = []  # a declaration lives as long as the object that made it


def import_torchvision() -> ModuleType:
    """The torchvision module, with or without its compiled operators. ``ImportError`` if it is not installed."""
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError as error:
        if error.name != "torchvision":
            raise
        raise ImportError(
            "torchvision knows the mirrors of this data set, but is not installed. Install the one that belongs to "
            f"torch {torch.__version__}, for example with `python -m pip install torchvision`."
        ) from error
    except RuntimeError as error:
        if "torchvision::" not in str(error) or not declare_missing_operators():
            raise
    return importlib.import_module("torchvision")


def declare_missing_operators() -> list[str]:
    """Declare those of the two operators that PyTorch does not know yet, and return their names."""
    missing = [name for name in _SCHEMAS if not hasattr(torch.ops.torchvision, name)]
    if missing:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in missing:
            library.define(_SCHEMAS[name])
        _libraries.append(library)
    return missing
