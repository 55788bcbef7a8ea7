"""Compressed: clients send only the largest entries of their change, or every number in a few bits.

Sparsification with error feedback: Stich et al., NeurIPS 2018, algorithm 1. Quantisation: QSGD,
Alistarh et al., NeurIPS 2017, sections 3.1 and 4. Error feedback for any compressor: Karimireddy et
al., ICML 2019, algorithm 2.

    e_k = 0 at the start
    d_k = y_k − w + e_k                     the change of client k, with the error of earlier rounds
    c_k = Q(top_k(d_k)),  e_k ← d_k − c_k   c_k is sent, e_k is kept for the next round
    the server aggregates w + c_k in place of y_k
    top_k(d): the ``keep``·P entries (rounded, at least one) with the largest absolute value,
              0 elsewhere
    Q(x)_i = M/s · (⌊s x_i / M⌋ + 1 with probability the fraction cut off),
              M = max |x|,  s = 2^(bits − 1) − 1

d_k, c_k, e_k [P]; E Q(x) = x. keep = 1 without ``bits`` is the inner algorithm exactly. Up per
client, in place of P numbers: the values, each as large as a parameter or ``bits`` bits (plus M),
and an index of 4 bytes for each unless all are sent.

Deviations. Algorithms whose clients use the exact y_k (SCAFFOLD, FedDyn, FedCurv) are refused, and
2 bits, whose errors grow without a bound. top_k takes the first of entries that are equal up to
rounding. q-FedAvg uses ‖c_k‖.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Server
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.clients.updates import widened
from fedlab_core.validation import Check, Share, integer

INDEX_BYTES = 4


@dataclass(frozen=True)
class Compressed(Wrapper):
    """``inner`` with compressed uploads: a fraction ``keep`` in (0, 1] of the entries, ``bits``
    from 3 to 16, or both.

    State: that of ``inner``, and ``residuals`` e_k [N, P].
    """

    refusal = "Its clients need their exact parameters, which the server does not receive"
    inner: Algorithm
    keep: Share | None = None
    bits: Annotated[int, Check("3 to 16", partial(integer, minimum=3, maximum=16))] | None = None

    def __post_init__(self) -> None:
        self.check_inner("mean", "each")
        if isinstance(self.inner, Compressed):
            raise ValueError(
                f"inner={self.inner}: is compressed already; give keep and bits to one Compressed"
            )
        if self.keep is None and self.bits is None:
            raise ValueError("keep=None, bits=None: give at least one of them, such as keep=0.1")
        super().__post_init__()

    def setup(self, server: Server) -> None:
        self.inner.setup(server)
        server.state["residuals"] = server.client_table()

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        updates = self.inner.upload(server, updates)
        count = self._count(server)
        received = updates.received
        residuals = server.state["residuals"]
        if count == server.num_parameters and self.bits is None:
            return updates
        wanted = updates.params - received + residuals[updates.clients]
        sent = self._compress(server, updates.clients, wanted, count)
        residuals[updates.clients] = wanted - sent
        return replace(updates, params=received + sent)

    def _compress(
        self, server: Server, clients: np.ndarray, wanted: torch.Tensor, count: int
    ) -> torch.Tensor:
        """c_k [K, P] from d_k [K, P]."""
        if count == wanted.shape[1]:
            return self._quantised(server, clients, wanted)
        places = largest(wanted.abs(), count)
        values = self._quantised(server, clients, wanted.gather(1, places))
        return torch.zeros_like(wanted).scatter(1, places, values)

    def _quantised(self, server: Server, clients: np.ndarray, values: torch.Tensor) -> torch.Tensor:
        """The values [K, n] with ``bits`` each; unchanged if ``bits`` is None."""
        if self.bits is None:
            return values
        streams = [server.stream("compression", client) for client in clients.tolist()]
        draws = np.stack([stream.random(values.shape[1]) for stream in streams])
        return quantised(values, self.bits, torch.from_numpy(draws))

    def _count(self, server: Server) -> int:
        """The number of entries that are sent."""
        if self.keep is None:
            return server.num_parameters
        return max(1, round(self.keep * server.num_parameters))

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[float, float]:
        down, up = self.inner.communication(server, cohort)
        count = self._count(server)
        number = server.params.element_size()
        size = count * number if self.bits is None else math.ceil(count * self.bits / 8) + number
        if count < server.num_parameters:
            size += INDEX_BYTES * count
        return down, up + len(cohort) * (size / number - server.num_parameters)


def largest(values: torch.Tensor, count: int) -> torch.Tensor:
    """The places [K, ``count``] of the largest ``values`` ≥ 0 in each row of [K, n], in increasing
    order.

    Values that differ by less than √ε of the largest are equal (ε the precision), and the first of
    them count: a model of two classes has pairs that are equal up to rounding, which differs
    between engines.
    """
    precision = torch.finfo(values.dtype)
    values = (
        values / (values.amax(1, keepdim=True) * precision.eps**0.5).clamp_min(precision.tiny)
    ).round()
    least = values.topk(count, dim=1).values[:, -1:]
    is_above = values > least
    is_equal = values == least
    missing = count - is_above.sum(1, keepdim=True)
    return (is_above | (is_equal & (is_equal.cumsum(1) <= missing))).nonzero()[:, 1].view(-1, count)


def quantised(values: torch.Tensor, bits: int, draws: torch.Tensor) -> torch.Tensor:
    """Q of each row of ``values`` [K, n], with ``draws`` [K, n] uniform in [0, 1)."""
    steps = 2 ** (bits - 1) - 1
    unit = widened(values.abs().amax(1, keepdim=True)) / steps
    scaled = torch.where(unit > 0, values / unit, 0.0)
    below = scaled.floor()
    return ((below + (draws.to(scaled) < scaled - below)) * unit).to(values.dtype)
