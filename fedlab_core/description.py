"""Describe hyper-parameters as JSON, for the configuration of a run, and in words."""

import dataclasses
import hashlib
import math
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import torch


def described(name: str, value: object) -> Any:
    """Describe ``value`` as JSON; two values with the same description are the same.

    Numbers, texts, lists and dictionaries stay as they are. An array or tensor becomes shape, dtype
    and a digest, a function its name and a digest of its code, a dataclass or an object with
    ``describe()`` its name and fields. Raises ``ValueError`` for anything else.
    """
    value = value.item() if isinstance(value, np.generic) else value
    value = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
    match value:
        case None | bool() | str() | int():
            return value
        case float() if not math.isnan(value):
            return value
        case np.ndarray() if value.dtype != object:
            return {
                "shape": list(value.shape),
                "dtype": str(value.dtype),
                "digest": digest(value.tobytes()),
            }
        case list() | tuple() | range():
            return [described(f"{name}[{i}]", entry) for i, entry in enumerate(value)]
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: described(f"{name}[{key!r}]", entry) for key, entry in value.items()}
        case FunctionType():
            return {"function": value.__qualname__, "digest": digest(_code(name, value).encode())}
    if hasattr(value, "describe") and not isinstance(value, type):
        return described(name, value.describe())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"name": type(value).__name__, **described(name, vars(value))}
    raise ValueError(
        f"{name}={value!r}: a {type(value).__name__} cannot be described in the configuration of a "
        "run; use numbers, texts, lists, arrays or dataclasses of them, or write a method "
        "describe() that returns them"
    )


def in_words(owner: object) -> str:
    """The class name of an object and its attributes; a dataclass leaves out default values."""
    defaults = _defaults(owner)
    shown = []
    for name, value in vars(owner).items():
        if name not in defaults or value != defaults[name]:
            text = f"[{len(value)} values]" if isinstance(value, list) else value
            shown.append(f"{name}={text}")
    return f"{type(owner).__name__}({', '.join(shown)})"


def _defaults(owner: object) -> dict[str, object]:
    """The default value of each field of a dataclass."""
    defaults = {}
    for field in dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ():
        defaults[field.name] = field.default
        if field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    return defaults


def digest(data: bytes) -> str:
    """The first 16 hexadecimal digits of the SHA-256 sum."""
    return hashlib.sha256(data).hexdigest()[:16]


def _code(name: str, function: FunctionType) -> str:
    """A function's code, defaults and enclosed values."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = (function.__defaults__ or (), function.__kwdefaults__ or {}, cells)
    values = [described(name, part) for part in parts]
    return f"{_instructions(function.__code__)}{values}"


def _instructions(code: CodeType) -> str:
    constants = []
    for constant in code.co_consts:
        is_code = isinstance(constant, CodeType)  # of a function inside this one
        constants.append(_instructions(constant) if is_code else repr(constant))
    return f"{code.co_code.hex()}{code.co_names}{constants}"
