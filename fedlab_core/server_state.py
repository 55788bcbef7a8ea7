"""What an algorithm may keep in ``server.state``."""

import copy
from collections.abc import Mapping
from typing import Any

import torch

from fedlab_core import archive
from fedlab_core.client_table import ClientTable


def check_state(state: Mapping[str, Any], num_clients: int | None = None) -> None:
    """``ValueError`` for an entry of ``server.state`` that a checkpoint could not give back as it is.

    It can: tensors of a dtype that NumPy has, strided and without gradient; client tables (of ``num_clients``, if
    given); None, bool, int, float, str; lists and dictionaries of these, with texts as keys.
    """
    for name, value in state.items():
        where = f"server.state[{name!r}]"
        if not isinstance(name, str) or not name.isprintable():
            raise ValueError(f"{where}: the name of an entry must be a printable text")
        if isinstance(value, ClientTable):
            if num_clients not in (None, value.num_clients):
                raise ValueError(f"{where}: a table of {value.num_clients} clients in a run with {num_clients}")
        elif type(value) is torch.Tensor:
            if value.requires_grad or value.layout != torch.strided:
                raise ValueError(f"{where}: a tensor must be strided and without gradient; use .detach()")
            archive.as_numpy(where, torch.empty(0, dtype=value.dtype))
        elif not _is_plain(value):
            raise ValueError(
                f"{where} is {value!r:.60} ({type(value).__name__}): must be a tensor (torch.from_numpy of an array), "
                "a client table, None, bool, int, float, str, or lists and dictionaries (keys: texts) of the last five"
            )


def copy_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """``state`` as it is now, whatever is done to it in place; client tables, which undo themselves, stay the same."""
    return {name: value if isinstance(value, ClientTable) else copy.deepcopy(value) for name, value in state.items()}


def _is_plain(value: Any, depth: int = 100) -> bool:
    """Whether JSON gives ``value`` back as it is, of the same type: at most ``depth`` lists or dictionaries deep."""
    if type(value) is list:
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    if type(value) is dict:
        return depth > 0 and all(type(key) is str and _is_plain(part, depth - 1) for key, part in value.items())
    return value is None or type(value) in (bool, int, float, str)
