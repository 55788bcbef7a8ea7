"""An answer that is an algorithm: its hooks are called on copies of what the simulation, which runs elsewhere, has."""

from collections.abc import Callable
from typing import Any

import torch

from fedlab_core.algorithms import Algorithm
from fedlab_core.clients.updates import LocalUpdates

HOOKS = ("setup", "aggregate", "after_aggregation")  # what can cross over
OTHERS = ("check", "cohorts", "correction", "upload", "client_params", "communication", "describe")
FIELDS = ("round", "lr", "local_momentum", "clients_per_round", "num_clients", "num_parameters", "seed", "tag")


class Server:
    """What the hooks of one instance see of the server: ``params``, ``state``, and the numbers of ``FIELDS``."""

    def now(self, params: torch.Tensor, state: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Take the values that the server has at this call. Other attributes stay, as they do in a simulation."""
        self.params, self.state = params, state
        for name in FIELDS:
            setattr(self, name, numbers.get(name))


def about(instance: Any) -> dict[str, Any]:
    """What a simulation must know of an algorithm before it runs."""
    kind = type(instance)
    is_algorithm = isinstance(instance, Algorithm)
    overridden = [
        name for name in (*HOOKS, *OTHERS) if is_algorithm and getattr(kind, name) is not getattr(Algorithm, name)
    ]
    plain = {name: value for name, value in vars(instance).items() if isinstance(value, (bool, int, float, str))}
    return {"algorithm": is_algorithm, "type": kind.__name__, "hooks": overridden, "attributes": plain}


def run_hook(instance: Any, server: Server, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Call a hook. ``given``: ``params``, ``state``, ``numbers``, and ``updates``, the fields of them, if it takes any.

    Returns what it returned, the parameters and the state after it, and the attributes that it changed.
    """
    server.now(given["params"], given["state"], given["numbers"])
    before = dict(vars(instance))
    hook: Callable[..., Any] = getattr(instance, name)
    result = hook(server) if given["updates"] is None else hook(server, LocalUpdates(**given["updates"]))
    changed = [each for each, value in vars(instance).items() if each not in before or before[each] is not value]
    return {"result": result, "params": server.params, "state": server.state, "changed": changed}
