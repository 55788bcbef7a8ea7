"""Partitioners: ways to deal a data set to clients, from equal to skewed.

``iid``: equal and alike. ``quantity``: unequal sizes, similar labels. ``shards``,
``labels_per_client``: few labels each. ``dirichlet``: random label mixes. ``by_user``: natural
clients. ``shared`` adds common data to any of them.
"""

from collections.abc import Callable

from fedlab_core.data.partition.laws import (
    by_user,
    dirichlet,
    iid,
    labels_per_client,
    quantity,
    shards,
    shared,
)
from fedlab_core.data.partition.parts import Partition

_LAWS = (iid, shards, labels_per_client, dirichlet, quantity, by_user)
LAWS: dict[str, Callable[..., Partition]] = {law.__name__: law for law in _LAWS}
__all__ = [
    "LAWS",
    "Partition",
    "by_user",
    "dirichlet",
    "iid",
    "labels_per_client",
    "quantity",
    "shards",
    "shared",
]


def __dir__() -> list[str]:
    return __all__
