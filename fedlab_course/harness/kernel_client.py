"""A kernel client that cannot miss a reply.

The stock client waits on the shell socket's edge-triggered wake-up. When a cell uses an Output widget, nbclient answers
the kernel on that same socket from elsewhere, which can use up the wake-up of a reply that has just arrived: about one
cell in twenty with ``interact`` then stands still until its timeout (nbclient issue 312). Asking again every so often
finds the reply.
"""

import queue
import time
from typing import Any

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type

INTERVAL = 0.1


class PollingChannel(AsyncZMQSocketChannel):
    """A channel that looks for a message at least every ``INTERVAL`` seconds."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]
        """The next message. Raises ``queue.Empty`` if there is none within ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = INTERVAL if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                return await super().get_msg(min(INTERVAL, left))
            except queue.Empty:
                if left == 0:
                    raise


class PollingClient(AsyncKernelClient):
    """The asynchronous client with a :class:`PollingChannel` as shell channel."""

    shell_channel_class = Type(PollingChannel)
