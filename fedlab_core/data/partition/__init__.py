"""Ways of dealing a data set out over clients; the laws are in ``laws.py``."""

from fedlab_core.data.partition.laws import by_user, dirichlet, iid, labels_per_client, quantity, shards
from fedlab_core.data.partition.parts import Partition

__all__ = ["Partition", "by_user", "dirichlet", "iid", "labels_per_client", "quantity", "shards"]


def __dir__() -> list[str]:
    return __all__
