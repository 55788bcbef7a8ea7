"""What a Plotly figure says of each of its parts, and where it says nothing, what its template says."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


class Part:
    """A part of a figure, such as an axis or a trace: mappings of properties, of which the first that has one counts.

    ``where`` is its name in messages.
    """

    def __init__(self, where: str, *layers: Any) -> None:
        self.where = where
        self.layers: list[Mapping[str, Any]] = [layer for layer in layers if isinstance(layer, Mapping)]

    def __call__(self, path: str, default: Any = None) -> Any:
        """The property at a dotted path, arrays as NumPy arrays."""
        for layer in self.layers:
            found = _down(layer, path)
            if found is not None:
                return decoded(found)
        return default

    def part(self, path: str) -> "Part":
        return Part(f"{self.where}.{path}", *(_down(layer, path) for layer in self.layers))

    def items(self, path: str) -> "list[Part]":
        """A list of parts, such as the annotations."""
        own = _down(self.layers[0], path) if self.layers else None
        common = [_down(layer, f"{path.removesuffix('s')}defaults") for layer in self.layers]
        return [Part(f"{self.where}.{path}[{number}]", one, *common) for number, one in enumerate(own or ())]

    def choice(self, path: str, default: Any, allowed: tuple[Any, ...]) -> Any:
        """The property, which must be one of ``allowed``."""
        value = self(path, default)
        if not any(value is one or value == one for one in allowed):
            self.refuse(path, value)
        return value

    def refuse(self, path: str, value: Any) -> None:
        raise untranslatable(f"{self.where}.{path}={value!r}")


def untranslatable(what: str) -> ValueError:
    return ValueError(
        f'{what}: cannot be drawn without a browser; engine="browser" can, which needs the package kaleido and Chrome'
    )


def decoded(value: Any) -> Any:
    """A value with the arrays of Plotly's own JSON, {"dtype", "bdata", "shape"}, as arrays."""
    if not isinstance(value, Mapping) or "bdata" not in value:
        return value
    array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    shape = value.get("shape", array.shape)
    return array.reshape([int(size) for size in shape.split(",")] if isinstance(shape, str) else shape)


def said(value: Any, path: str = "") -> Iterator[str]:
    """Every dotted path at which a part says something, with [] for the items of a list."""
    if isinstance(value, Mapping) and "bdata" not in value:
        for name, one in value.items():
            yield from said(one, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
        for one in value:
            yield from said(one, f"{path}[]")
    elif value is not None:
        yield path


def _down(layer: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(layer, Mapping):
            return None
        layer = layer.get(name)
    return layer
