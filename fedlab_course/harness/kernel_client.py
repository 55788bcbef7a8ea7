"""A kernel client that cannot miss a reply.

When a cell uses an Output widget, nbclient sends on the socket that it waits for, which can consume
the wake-up of a reply. About one ``interact`` cell in twenty then waits until its timeout (nbclient
issue 312), unless it polls.
"""

import math
import queue
import time
from typing import Any

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type

INTERVAL = 0.1


class PollingChannel(AsyncZMQSocketChannel):
    """A channel that checks for a message at least every ``INTERVAL`` seconds."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]
        """The next message. Raises ``queue.Empty`` if there is none within ``timeout`` seconds."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            try:
                return await super().get_msg(max(0.0, min(INTERVAL, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    raise


class PollingClient(AsyncKernelClient):
    """The asynchronous client with a :class:`PollingChannel` as shell channel."""

    shell_channel_class = Type(PollingChannel)
