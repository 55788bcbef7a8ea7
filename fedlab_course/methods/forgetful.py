"""Compression without a memory."""

from dataclasses import dataclass
from typing import Any

import torch

from fedlab_core.algorithms import Compressed


@dataclass(frozen=True)
class Forgetful(Compressed):
    """``Compressed`` without error feedback: what is not sent in a round is dropped."""

    def upload(self, server: Any, updates: Any) -> Any:
        sent = super().upload(server, updates)
        server.state["residuals"][updates.clients] = torch.zeros_like(updates.params)
        return sent
