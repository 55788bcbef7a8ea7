"""The partitioners.

Every law returns a :class:`Partition`: disjoint index arrays, none of them empty, that cover the
data exactly (:func:`by_user` may leave samples out). Randomness comes from the "partition" stream
of ``seed``. :func:`shared` adds common samples to a partition.
"""

from collections.abc import Sequence

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.aliases import Column
from fedlab_core.data.partition import apportion
from fedlab_core.data.partition.parts import Partition, deal_by_label, reach_min_size
from fedlab_core.randomness import stream


def iid(y: Column, *, num_clients: int, seed: int = 0) -> Partition:
    """Split at random and equally: shuffle, then cut into N runs of ⌊n/N⌋ or ⌈n/N⌉ samples.

    ``y``: labels or targets [n]. Raises ``ValueError`` if n < N.
    """
    _check_enough(len(y), num_clients)
    rng = stream(validation.seed(seed), "partition")
    recipe = {"law": "iid", "num_clients": num_clients, "seed": seed}
    return Partition(np.array_split(rng.permutation(len(y)), num_clients), recipe)


def shards(y: Column, *, num_clients: int, shards_per_client: int, seed: int = 0) -> Partition:
    """Sort by label, cut into N·s shards, deal s shards to each client at random (McMahan et al.
    2017, section 3).

    ``y``: labels [n]. A shard has ⌊n/(N·s)⌋ or ⌈n/(N·s)⌉ samples. Raises ``ValueError`` if n < N·s.
    """
    labels = _labels(y)
    _check_enough(len(labels), num_clients)
    validation.integer("shards_per_client", shards_per_client, minimum=1)
    count = num_clients * shards_per_client
    if count > len(labels):
        setting = f"num_clients={num_clients} × shards_per_client={shards_per_client} = {count}"
        raise ValueError(
            f"{setting} shards need as many samples, but y has {len(labels)}; lower one of them"
        )
    rng = stream(validation.seed(seed), "partition")
    shuffled = rng.permutation(len(labels))
    by_label = np.array_split(shuffled[np.argsort(labels[shuffled], kind="stable")], count)
    hands = rng.permutation(count).reshape(num_clients, shards_per_client)
    recipe = {
        "law": "shards",
        "num_clients": num_clients,
        "shards_per_client": shards_per_client,
        "seed": seed,
    }
    parts = [np.concatenate([by_label[shard] for shard in hand]) for hand in hands]
    return Partition(parts, recipe)


def labels_per_client(
    y: Column, *, num_clients: int, labels_per_client: int, seed: int = 0
) -> Partition:
    """Deal exactly C distinct labels to each client; every label and every sample is dealt.

    ``y``: labels [n]. Label c goes to h_c random clients, with Σ h_c = N·C and h_c proportional to
    its n_c samples within 1 ≤ h_c ≤ min(N, n_c). Its samples are divided equally among these
    clients.

    Raises ``ValueError`` for more labels per client than ``y`` has, fewer places N·C than labels,
    or too few samples.
    """
    labels = _labels(y)
    _check_enough(len(labels), num_clients)
    present, counts = np.unique(labels, return_counts=True)
    validation.integer("labels_per_client", labels_per_client, minimum=1, maximum=len(present))
    places = num_clients * labels_per_client
    setting = f"num_clients={num_clients} × labels_per_client={labels_per_client} = {places}"
    if places < len(present):
        raise ValueError(
            f"{setting} places cannot hold all {len(present)} labels of y; raise one of them"
        )
    if places > np.minimum(counts, num_clients).sum():
        raise ValueError(
            f"{setting} places need more samples of the rare labels than y has; lower one of them"
        )
    rng = stream(validation.seed(seed), "partition")
    holders = apportion.holders_per_label(counts, num_clients, labels_per_client)
    matched = apportion.match_labels(rng, holders, num_clients, labels_per_client)
    pairs = zip(matched, counts, strict=True)
    owners = [np.repeat(clients, apportion.even_sizes(n, len(clients))) for clients, n in pairs]
    recipe = {
        "law": "labels_per_client",
        "num_clients": num_clients,
        "labels_per_client": labels_per_client,
    }
    return Partition(deal_by_label(rng, labels, owners, num_clients), recipe | {"seed": seed})


def dirichlet(
    y: Column,
    *,
    num_clients: int,
    alpha: float,
    by: str = "client",
    min_size: int = 1,
    seed: int = 0,
) -> Partition:
    """Deal label mixes from a Dirichlet distribution. Two different laws have this name; ``by``
    selects one.

    ``y``: labels [n] of C classes with shares p_c = n_c/n. ``alpha``: concentration α; small is
    skewed, α → ∞ is IID.

    ``by="client"`` (Hsu et al. 2019): clients have equal sizes; the label mix of each is a draw q_k
    ~ Dir(αC·p), with mean p and Var(q_c) = p_c(1−p_c)/(Cα+1). For balanced classes this is
    Dir_C(α): Var(q) = (C−1)/(C²(Cα+1)).

    Independent draws do not add up to the data, so the drawn table (n/N)·q_kc is replaced by the
    nearest one, in Kullback–Leibler divergence, with the right sums by client and by class. This
    lowers Var(q) a little: to 0.98 of the closed form with 100 clients of 600 samples in 10
    balanced classes (α ≤ 0.3), to 0.90 … 0.95 with 20 clients.

    ``by="class"`` (Yurochkin et al. 2019): the samples of each class are divided among the clients
    in shares ~ Dir_N(α), Var(share) = (N−1)/(N²(Nα+1)). Sizes differ widely. Clients below
    ``min_size`` then receive random samples of the largest client of that moment.

    Raises ``ValueError`` if n < N·``min_size``, or for α outside 10⁻⁶ … 10¹².
    """
    labels = _labels(y)
    validation.choice("by", by, ("client", "class"))
    validation.real("alpha", alpha, minimum=1e-6, maximum=1e12)
    _check_enough(len(labels), num_clients, min_size)
    rng = stream(validation.seed(seed), "partition")
    per_class = np.unique(labels, return_counts=True)[1]
    if by == "client":
        concentration = alpha * len(per_class) * per_class / len(labels)
        log_mix = apportion.log_dirichlet(rng, concentration, num_clients)
        sizes = apportion.even_sizes(len(labels), num_clients)
        table = apportion.fit_table(log_mix, sizes, per_class)
    else:
        concentration = np.full(num_clients, float(alpha))
        shares = np.exp(apportion.log_dirichlet(rng, concentration, len(per_class)))
        pairs = zip(shares, per_class, strict=True)
        table = np.stack([np.diff(apportion.cut_by_shares(q, n)) for q, n in pairs], axis=1)
    owners = (np.repeat(np.arange(num_clients), column) for column in table.T)
    parts = reach_min_size(deal_by_label(rng, labels, owners, num_clients), min_size, rng)
    recipe = {
        "law": "dirichlet",
        "num_clients": num_clients,
        "alpha": alpha,
        "by": by,
        "min_size": min_size,
    }
    return Partition(parts, recipe | {"seed": seed})


def quantity(
    y: Column, *, num_clients: int, alpha: float = 1.0, min_size: int = 1, seed: int = 0
) -> Partition:
    """Deal unequal sizes with IID labels: shuffle, then cut in proportion to shares s ~
    Dir_N(``alpha``).

    ``y``: labels or targets [n]. Var(s_k) = (N−1)/(N²(Nα+1)). Clients below ``min_size`` then
    receive random samples of the largest client of that moment.

    Raises ``ValueError`` if n < N·``min_size``, or for α outside 10⁻⁶ … 10¹².
    """
    validation.real("alpha", alpha, minimum=1e-6, maximum=1e12)
    _check_enough(len(y), num_clients, min_size)
    rng = stream(validation.seed(seed), "partition")
    log_shares = apportion.log_dirichlet(rng, np.full(num_clients, float(alpha)), 1)[0]
    cuts = apportion.cut_by_shares(np.exp(log_shares - log_shares.max()), len(y))
    parts = reach_min_size(np.split(rng.permutation(len(y)), cuts[1:-1]), min_size, rng)
    recipe = {
        "law": "quantity",
        "num_clients": num_clients,
        "alpha": alpha,
        "min_size": min_size,
        "seed": seed,
    }
    return Partition(parts, recipe)


def by_user(users: Sequence[np.ndarray] | None, *, min_samples: int = 1) -> Partition:
    """Make each user with at least ``min_samples`` samples a client: the natural clients of a data
    set.

    ``users``: one index array per user (``dataset.users``).
    Raises ``ValueError`` if there are no users, none is large enough, or two users share a sample.
    """
    validation.integer("min_samples", min_samples, minimum=1)
    if not users:
        raise ValueError(
            "users: this data set has no natural clients; use another partitioner, for example iid"
        )
    arrays = [validation.indices(f"users[{k}]", user) for k, user in enumerate(users)]
    everyone = np.concatenate(arrays)
    if len(np.unique(everyone)) != len(everyone):
        raise ValueError("users: the index arrays must be disjoint, but a sample has two users")
    kept = [user for user in arrays if len(user) >= min_samples]
    if not kept:
        largest = max(map(len, arrays))
        raise ValueError(
            f"min_samples={min_samples}: no user has that many samples; the largest has {largest}"
        )
    return Partition(kept, {"law": "by_user", "num_clients": len(kept), "min_samples": min_samples})


def shared(parts: Sequence[Column], fraction: float, *, seed: int = 0) -> Partition:
    """Add a globally shared set G to each of ``parts`` (Zhao et al. 2018, section 4, with α = 1).

    ``fraction`` is β = |G|/|D|. G is a uniform sample of round(β |D|) of the |D| samples that
    clients hold, at least one. A client receives those that it does not hold yet; a run adds their
    bytes to bytes_down before round 1. They count in n_k. ``held_out`` keeps back no shared sample.

    Deviations: the paper gathers G apart from the clients' data, uniform over the classes. Here G
    is drawn from their data, with their label mix, as if the server had a copy. The paper also
    trains the first model on G.

    Raises ``ValueError`` unless ``fraction`` lies in (0, 1].
    """
    validation.real("fraction", fraction, maximum=1, exclusive=True)
    arrays = [validation.indices(f"parts[{k}]", part) for k, part in enumerate(parts)]
    held = np.unique(np.concatenate(arrays))
    rng = stream(validation.seed(seed), "shared")
    common = rng.choice(held, max(1, round(fraction * len(held))), replace=False)
    together = [np.union1d(part, common) for part in arrays]
    received = sum(map(len, together)) - sum(len(np.unique(part)) for part in arrays)
    recipe = {
        "law": "shared",
        "fraction": fraction,
        "seed": seed,
        "parts": getattr(parts, "recipe", {"law": "given"}),
    }
    return Partition(together, recipe, received=getattr(parts, "received", 0) + received)


def _labels(y: Column) -> np.ndarray:
    labels = y.detach().cpu().numpy() if isinstance(y, torch.Tensor) else np.asarray(y)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"y: must be integer labels of shape [n], got {labels.dtype} of shape "
            f"{list(labels.shape)}"
        )
    return labels


def _check_enough(size: int, num_clients: int, min_size: int = 1) -> None:
    validation.integer("num_clients", num_clients, minimum=1)
    validation.integer("min_size", min_size, minimum=1)
    if size < num_clients * min_size:
        raise ValueError(
            f"num_clients={num_clients} × min_size={min_size} = {num_clients * min_size} samples "
            f"are needed, but y has {size}; lower num_clients or min_size"
        )
