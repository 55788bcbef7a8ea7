"""Integer arithmetic behind the partitioners: draws, roundings and tables with fixed margins."""

import heapq
from bisect import bisect_right
from itertools import accumulate

import numpy as np

_SWEEPS_PER_STAGE = 50


def even_sizes(total: int, num_clients: int) -> np.ndarray:
    """``total`` cut into ``num_clients`` sizes that differ by at most one, int64 [N]."""
    return np.full(num_clients, total // num_clients) + (np.arange(num_clients) < total % num_clients)


def log_dirichlet(rng: np.random.Generator, concentration: np.ndarray, size: int) -> np.ndarray:
    """Logarithms of ``size`` draws from Dir(``concentration``), float64 [size, len(concentration)], each finite.

    A share below 10⁻³⁰⁸ is 0 as a number but not as a logarithm: G(a) = G(a + 1)·U^(1/a) for gamma variables G, so
    log G(a) = log G(a + 1) + log(U)/a stays exact for any small a.
    """
    shape = (size, len(concentration))
    log_gamma = np.log(rng.gamma(concentration + 1, size=shape)) + np.log1p(-rng.random(shape)) / concentration
    return log_gamma - np.logaddexp.reduce(log_gamma, axis=1, keepdims=True)


def cut_by_shares(shares: np.ndarray, total: int) -> np.ndarray:
    """Positions [len(shares) + 1] that cut ``total`` items in proportion to ``shares``: the rounded running sum."""
    running = np.concatenate([[0.0], np.cumsum(shares)])
    return np.rint(running / running[-1] * total).astype(np.int64)


def fit_table(log_mix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Integers [N, C] with row sums ``rows`` and column sums ``columns``, close to rows ⊙ exp(``log_mix``).

    The real-valued table is the one nearest in Kullback–Leibler divergence, found by iterative proportional fitting
    (Deming and Stephan 1940): scale the columns, then the rows, again and again. Sharp mixes make that slow, so it
    starts from flattened mixes (their power ``heat`` < 1) and doubles the power until it is 1; the number of sweeps is
    bounded. What is then left of the column sums, and the rounding, is settled by :func:`_round_table`.
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
    """``table`` in integers with exact margins: round each row by largest remainders, then mend the column sums.

    The mending moves one unit at a time within a row, from a column with too much to one with too little, in the row
    whose rounding error this lowers most. It ends after Σ_c |excess_c|/2 moves.
    """
    whole = np.floor(table).astype(np.int64)
    rank = np.argsort(np.argsort(whole - table, axis=1, kind="stable"), axis=1)
    whole += rank < (rows - whole.sum(1))[:, None]
    excess = whole.sum(0) - columns
    whole, table = (np.ascontiguousarray(cells.T) for cells in (whole, table))  # now one row per column, in one piece
    error = whole - table
    while excess.any():
        source, target = int(excess.argmax()), int(excess.argmin())
        row = int(np.where(whole[source] > 0, error[source] - error[target], -np.inf).argmax())
        for column, unit in ((source, -1), (target, 1)):
            whole[column, row] += unit
            error[column, row] = whole[column, row] - table[column, row]
            excess[column] += unit
    return whole.T


def holders_per_label(counts: np.ndarray, num_clients: int, labels_per_client: int) -> np.ndarray:
    """How many clients hold each label, int64 [C]: Σ = N·``labels_per_client``, between 1 and min(N, samples).

    In proportion to the samples per label ``counts`` by the Webster–Sainte-Laguë rule.
    """
    samples, most = counts.tolist(), np.minimum(counts, num_clients).tolist()
    holders = [1] * len(samples)
    claims = [(-n / 1.5, c) for c, n in enumerate(samples) if most[c] > 1]
    heapq.heapify(claims)
    for _ in range(num_clients * labels_per_client - len(samples)):
        c = heapq.heappop(claims)[1]
        holders[c] += 1
        if holders[c] < most[c]:
            heapq.heappush(claims, (-samples[c] / (holders[c] + 0.5), c))
    return np.array(holders)


def match_labels(
    rng: np.random.Generator, holders: np.ndarray, num_clients: int, labels_per_client: int
) -> list[list[int]]:
    """For each label a list of clients, ``holders[c]`` of them, so that every client has exactly that many labels.

    Clients choose in random order, with probability in proportion to the places that a label still has. A label with
    as many places as there are clients left must be taken by each of them, which keeps a valid choice open to the end.
    """
    places = holders.tolist()
    clients: list[list[int]] = [[] for _ in places]
    for left, client in zip(range(num_clients, 0, -1), rng.permutation(num_clients).tolist(), strict=True):
        labels = [c for c, count in enumerate(places) if count == left] if left in places else []
        free = [0 if count == left else count for count in places] if labels else places
        for label in labels + _draw_without_replacement(rng, free, labels_per_client - len(labels)):
            places[label] -= 1
            clients[label].append(client)
    return clients


def _draw_without_replacement(rng: np.random.Generator, weights: list[int], size: int) -> list[int]:
    """The very draws of ``rng.choice(len(weights), size, replace=False, p=weights / sum)``, which takes 30 µs a call.

    In plain Python it is a few µs for tens of weights, and there is one call per client.
    """
    total = sum(weights)
    chosen: list[int] = []
    while len(chosen) < size:
        running = list(accumulate(0.0 if c in chosen else weight / total for c, weight in enumerate(weights)))
        edges = [edge / running[-1] for edge in running]
        new = [bisect_right(edges, u) for u in rng.random(size - len(chosen)).tolist()]
        chosen += dict.fromkeys(new)
    return chosen
