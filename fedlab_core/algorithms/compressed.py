"""Compressed changes: only the largest entries are sent, or every number in a few bits, and what was left out later.

Sparsification with error feedback: Stich, Cordonnier, Jaggi: Sparsified SGD with Memory, NeurIPS 2018, algorithm 1.
Quantisation: Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD, NeurIPS 2017, section 3.1, with the largest entry as scale
(section 4). Error feedback for any compressor: Karimireddy, Rebjock, Stich, Jaggi, ICML 2019, algorithm 2.

    e_k = 0 at the start
    d_k = y_k − w + e_k                       what client k has to say
    c_k = Q(top_k(d_k)),  e_k ← d_k − c_k     what it sends, and what it keeps for its next round
    the server aggregates w + c_k as if it were y_k
    top_k(d): the ``keep``·P entries (rounded, at least one) largest in absolute value, 0 elsewhere
    Q(x)_i = M/s · (⌊s x_i / M⌋ + 1 with probability the fraction cut off),  M = max |x|,  s = 2^(bits − 1) − 1

d_k, c_k, e_k [P]. E Q(x) = x, and no entry is off by M/s or more: without top_k, e_k stays below 1/(s − 1) of the
largest change there was, from 3 bits (s = 3) on; for 2 bits (s = 1) there is no such bound, and they are refused.
keep = 1 without ``bits`` is the inner algorithm exactly.

Sent up per client, in place of the P numbers of y_k: the values kept, each of the size of a parameter or ``bits`` bits
(together rounded up to bytes) with one M of the size of a parameter; and for each value kept its index, 4 bytes, unless
all are kept. With float32 that pays for ``keep`` below ½. Down, and whatever else the inner algorithm sends, as before.

Deviations. An algorithm whose clients keep or send what they compute from the exact y_k (SCAFFOLD's and FedDyn's
controls, FedCurv's Fisher information) is refused: its server would compute them from c_k, which is another method.
top_k takes the first of several entries that are equal within √ε of the largest, ε the precision of a parameter.
q-FedAvg's ‖d_k‖ is that of c_k. All e_k of clients that took part are in memory, and so is [K, P] of a cohort, however
large.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.clients.updates import LocalUpdates, widened
from fedlab_core.server import Server

INDEX_BYTES = 4


@dataclass(frozen=True)
class Compressed(Wrapper):
    """``inner`` with compressed uploads: a fraction ``keep`` in (0, 1] of the entries, ``bits`` from 3 to 16, or both.

    State, besides that of ``inner``: ``residuals`` e_k [N, P].
    """

    refusal: ClassVar[str] = "Its clients need their exact parameters, which the server no longer gets"
    inner: Algorithm
    keep: float | None = None
    bits: int | None = None

    def __post_init__(self) -> None:
        self.check_inner("mean", "each")
        if isinstance(self.inner, Compressed):
            raise ValueError(f"inner={self.inner}: is compressed already; give keep and bits together")
        if self.keep is None and self.bits is None:
            raise ValueError("keep=None, bits=None: give at least one of them, such as keep=0.1")
        if self.keep is not None:
            validation.real("keep", self.keep, maximum=1, exclusive=True)
        if self.bits is not None:
            validation.integer("bits", self.bits, minimum=3, maximum=16)

    def setup(self, server: Server) -> None:
        self.inner.setup(server)
        server.state["residuals"] = server.client_table()

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        updates = self.inner.upload(server, updates)
        count, received, residuals = self._count(server), updates.received, server.state["residuals"]
        if count == server.num_parameters and self.bits is None:
            return updates
        wanted = updates.params - received + residuals[updates.clients]
        sent = self._compress(server, updates.clients, wanted, count)
        residuals[updates.clients] = wanted - sent
        return LocalUpdates(updates.clients, received + sent, updates.num_steps, updates.num_samples, received)

    def _compress(self, server: Server, clients: np.ndarray, wanted: torch.Tensor, count: int) -> torch.Tensor:
        """c_k [K, P] from d_k [K, P]."""
        is_sparse = count < wanted.shape[1]
        places = largest(wanted.abs(), count) if is_sparse else torch.empty(0)
        values = wanted.gather(1, places) if is_sparse else wanted
        if self.bits is not None:
            draws = [server.stream("compression", client).random(count) for client in clients.tolist()]
            values = quantised(values, self.bits, torch.from_numpy(np.stack(draws)))
        return torch.zeros_like(wanted).scatter(1, places, values) if is_sparse else values

    def _count(self, server: Server) -> int:
        """How many of the P entries are sent."""
        return server.num_parameters if self.keep is None else max(1, round(self.keep * server.num_parameters))

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[float, float]:
        down, up = self.inner.communication(server, cohort)
        count, number = self._count(server), server.params.element_size()
        size = count * number if self.bits is None else math.ceil(count * self.bits / 8) + number
        if count < server.num_parameters:
            size += INDEX_BYTES * count
        return down, up + len(cohort) * (size / number - server.num_parameters)


def largest(values: torch.Tensor, count: int) -> torch.Tensor:
    """The places [K, ``count``] of the largest ``values`` ≥ 0 in each row of [K, n], in increasing order.

    Of equal values the first ones. Values count as equal within √ε of the largest, ε the precision of their dtype: the
    entries of a two-class model are equal in pairs up to rounding, which is not the same in every engine.
    """
    precision = torch.finfo(values.dtype)
    values = (values / (values.amax(1, keepdim=True) * precision.eps**0.5).clamp_min(precision.tiny)).round()
    least = values.topk(count, dim=1).values[:, -1:]
    is_above, is_equal = values > least, values == least
    missing = count - is_above.sum(1, keepdim=True)
    return (is_above | (is_equal & (is_equal.cumsum(1) <= missing))).nonzero()[:, 1].view(-1, count)


def quantised(values: torch.Tensor, bits: int, draws: torch.Tensor) -> torch.Tensor:
    """Q of each row of ``values`` [K, n], with ``draws`` [K, n] uniform in [0, 1): unbiased, and 0 stays 0."""
    steps = 2 ** (bits - 1) - 1
    unit = widened(values.abs().amax(1, keepdim=True)) / steps
    scaled = torch.where(unit > 0, values / unit, 0.0)
    below = scaled.floor()
    return ((below + (draws.to(scaled) < scaled - below)) * unit).to(values.dtype)
