"""A seeded random projection, so that the updates of many clients fit into memory."""

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.randomness import stream

BLOCK = 4096


def project(rows: torch.Tensor, num_outputs: int, seed: int) -> torch.Tensor:
    """Project ``rows`` [K, P] to rows·R [K, D], with a matrix R [P, D] of independent signs ±1/√D
    (Achlioptas 2003).

    E‖xR‖² = ‖x‖² and Var‖xR‖² ≤ (2/D)‖x‖⁴: with D = ``num_outputs`` of a few hundred the distances
    between clients change by a few per cent (Johnson and Lindenstrauss 1984). R depends on
    ``seed``, P and D only. At most ``BLOCK`` of its rows are in memory at a time: block b has the
    stream of client b.
    """
    validation.integer("num_outputs", num_outputs, minimum=1)
    projected = rows.new_zeros(len(rows), num_outputs)
    for number, columns in enumerate(rows.split(BLOCK, dim=1)):
        size = columns.shape[1] * num_outputs
        drawn = stream(validation.seed(seed), "projection", client=number).bytes(-(-size // 8))
        bits = np.unpackbits(np.frombuffer(drawn, dtype=np.uint8), count=size)
        signs = (2 * bits.astype(np.int8) - 1).reshape(-1, num_outputs)
        projected.addmm_(columns, torch.from_numpy(signs).to(rows))
    return projected / num_outputs**0.5
