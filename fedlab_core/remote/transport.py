"""What a run asks of its clients, whatever carries the messages."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from fedlab_core.aliases import Config
from fedlab_core.remote.messages import Answer
from fedlab_core.sampling import Availability


class ClientFailed(RuntimeError):
    """A client gave no answer or failed, and the run stops."""


class Clients(Availability):
    """The clients 0 … N − 1 of a run. As an ``Availability``, it tells who is connected.

    ``name``: the name of the transport in the configuration of a run. ``num_clients`` N;
    ``sizes``: client → n_k.
    """

    name: ClassVar[str]
    num_clients: int
    sizes: dict[int, int]

    def describe(self) -> Config:
        return {"name": type(self).__name__}

    @abstractmethod
    def ask(self, questions: Mapping[int, Answer], what: str) -> dict[int, Answer]:
        """Send a question to each client and wait for the answers.

        Returns client → answer of those that answered, in the order of ``questions``. ``what``: the
        occasion, for messages. Raises ``ClientFailed`` if no client answers.
        """
