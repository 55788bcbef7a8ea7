"""A seeded random projection, so that the updates of many clients fit into memory."""

from collections.abc import Iterator

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.randomness import stream

BLOCK = 4096


class RandomProjection:
    """Project x to xR, with a fixed matrix R [P, D] of independent signs ±1/√D (Achlioptas 2003).

    E‖xR‖² = ‖x‖² and Var‖xR‖² ≤ (2/D)‖x‖⁴: with D of a few hundred the distances between clients change by a few per
    cent (Johnson and Lindenstrauss 1984). P = ``num_inputs``, D = ``num_outputs``. At most ``BLOCK`` rows of R are in
    memory at a time.
    """

    def __init__(self, num_inputs: int, num_outputs: int, seed: int) -> None:
        self.num_inputs = validation.integer("num_inputs", num_inputs, minimum=1)
        self.num_outputs = validation.integer("num_outputs", num_outputs, minimum=1)
        self.seed = validation.seed(seed)

    def apply(self, rows: torch.Tensor) -> torch.Tensor:
        """Project ``rows`` [K, P] to [K, D], with the same floating dtype and device."""
        if rows.ndim != 2 or rows.shape[1] != self.num_inputs:
            raise ValueError(f"rows: must be [K, {self.num_inputs}], got {list(rows.shape)}")
        projected = rows.new_zeros(len(rows), self.num_outputs)
        for columns, signs in self._blocks():
            projected.addmm_(rows[:, columns], torch.from_numpy(signs).to(rows))
        return projected / self.num_outputs**0.5

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of inputs with the signs [≤ BLOCK, D] of R·√D for them; block b has the stream of client b."""
        for number, start in enumerate(range(0, self.num_inputs, BLOCK)):
            columns = slice(start, min(start + BLOCK, self.num_inputs))
            size = (columns.stop - start) * self.num_outputs
            drawn = stream(self.seed, "projection", client=number).bytes(-(-size // 8))
            bits = np.unpackbits(np.frombuffer(drawn, dtype=np.uint8), count=size)
            yield columns, (2 * bits.astype(np.int8) - 1).reshape(-1, self.num_outputs)
