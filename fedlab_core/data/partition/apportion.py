"""Draws, roundings and tables with fixed margins for the partitioners."""

import numpy as np

_SWEEPS_PER_STAGE = 50


def even_sizes(total: int, num_clients: int) -> np.ndarray:
    """Cut ``total`` into ``num_clients`` sizes that differ by at most one, int64 [N]."""
    size, rest = divmod(total, num_clients)
    return np.full(num_clients, size) + (np.arange(num_clients) < rest)


def log_dirichlet(rng: np.random.Generator, concentration: np.ndarray, size: int) -> np.ndarray:
    """Draw ``size`` times from Dir(``concentration``) and return logarithms, float64 [size, C], all
    finite.

    For gamma variables, log G(a) = log G(a + 1) + log(U)/a is exact for any small a.
    """
    shape = (size, len(concentration))
    log_gamma = np.log(rng.gamma(concentration + 1, size=shape))
    log_gamma = log_gamma + np.log1p(-rng.random(shape)) / concentration
    return log_gamma - np.logaddexp.reduce(log_gamma, axis=1, keepdims=True)


def cut_by_shares(shares: np.ndarray, total: int) -> np.ndarray:
    """Return positions [len(shares) + 1] that cut ``total`` items in proportion to ``shares``
    (rounded running sum).
    """
    running = np.concatenate([[0.0], np.cumsum(shares)])
    return np.rint(running / running[-1] * total).astype(np.int64)


def fit_table(log_mix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Find integers [N, C] with row sums ``rows`` and column sums ``columns``, close to rows ⊙
    exp(``log_mix``).

    Iterative proportional fitting (Deming and Stephan 1940) converges to the real table that is
    nearest in Kullback–Leibler divergence. It is slow for sharp mixes, so it starts with flat ones
    (the power ``heat`` < 1).
    """
    doublings = int(np.ceil(np.log2(max(1.0, -log_mix.min() / 5))))
    scale = np.zeros(len(columns))
    for heat in 0.5 ** np.arange(doublings, -1, -1):
        scale = 2 * scale
        for _ in range(_SWEEPS_PER_STAGE):
            table = heat * log_mix + scale
            table += (np.log(rows) - np.logaddexp.reduce(table, axis=1))[:, None]
            excess = np.logaddexp.reduce(table, axis=0) - np.log(columns)
            if np.abs(np.expm1(excess) * columns).max() < 0.5:
                break
            scale = scale - excess
    return _round_table(np.exp(table), rows, columns)


def _round_table(table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Round each row of ``table`` by largest remainders, then correct the column sums.

    A correction moves one unit from the column with the most excess to the one with the least, in
    the row whose rounding error decreases most.
    """
    whole = np.floor(table).astype(np.int64)
    rank = np.argsort(np.argsort(whole - table, axis=1, kind="stable"), axis=1)
    whole += rank < (rows - whole.sum(1))[:, None]
    excess = whole.sum(0) - columns
    whole = np.ascontiguousarray(whole.T)  # columns are contiguous
    table = np.ascontiguousarray(table.T)
    error = whole - table
    while excess.any():
        source = int(excess.argmax())
        target = int(excess.argmin())
        gain = np.where(whole[source] > 0, error[source] - error[target], -np.inf)
        row = int(gain.argmax())
        for column, unit in ((source, -1), (target, 1)):
            whole[column, row] += unit
            error[column, row] = whole[column, row] - table[column, row]
            excess[column] += unit
    return whole.T


def holders_per_label(counts: np.ndarray, num_clients: int, labels_per_client: int) -> np.ndarray:
    """Apportion N·``labels_per_client`` places to labels by ``counts`` (Webster's rule), each from
    1 to min(N, n_c).

    After h places, a label claims the next one with n_c/(h + ½). The largest claims are met, ties
    in order of labels.
    """
    further = np.minimum(counts, num_clients) - 1
    labels = np.repeat(np.arange(len(counts)), further)
    held = np.concatenate([np.arange(1, number + 1) for number in further])
    largest_first = np.argsort(-counts[labels] / (held + 0.5), kind="stable")
    met = labels[largest_first[: num_clients * labels_per_client - len(counts)]]
    return 1 + np.bincount(met, minlength=len(counts))


def match_labels(
    rng: np.random.Generator, holders: np.ndarray, num_clients: int, labels_per_client: int
) -> list[list[int]]:
    """List ``holders[c]`` clients for each label c, so that every client has exactly
    ``labels_per_client`` labels.

    Clients choose in random order, in proportion to the places that a label has left, and must take
    a label that has as many places as there are clients left.
    """
    places = holders.tolist()
    clients: list[list[int]] = [[] for _ in places]
    order = rng.permutation(num_clients).tolist()
    for clients_left, client in zip(range(num_clients, 0, -1), order, strict=True):
        labels = []
        weights = np.array(places)
        if clients_left in places:  # labels that all remaining clients must take
            labels = np.flatnonzero(weights == clients_left).tolist()
            weights[labels] = 0
        wanted = labels_per_client - len(labels)
        if wanted:
            shares = weights / weights.sum()
            labels += rng.choice(len(weights), wanted, replace=False, p=shares).tolist()
        for label in labels:
            places[label] -= 1
            clients[label].append(client)
    return clients
