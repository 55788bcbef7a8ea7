"""The SuperNodes of a run: which client is which node, who is connected, questions and answers."""

import time
from collections.abc import Mapping

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from fedlab_core.flower import wire
from fedlab_core.remote import Answer, ClientFailed, Clients

POLL = 0.1  # seconds


class Nodes(Clients):
    """``sizes``: client → n_k, of all clients that have ever answered; ``sent``: bytes of arrays
    (down, up) so far.

    As an ``Availability``, it tells who is connected.
    """

    name = "flower"

    def __init__(self, grid: Grid, num_clients: int, goes_on: bool, timeout: float) -> None:
        self.grid = grid
        self.num_clients = num_clients
        self.goes_on = goes_on
        self.timeout = timeout
        self.sizes: dict[int, int] = {}
        self.sent = (0, 0)
        self.is_ready = False
        self._node_of: dict[int, int] = {}  # the connected ones
        self._greeted: dict[str, int] = {}  # message → node that has not answered yet

    def connect(self, parameters: str) -> None:
        """Wait until all clients have answered.

        Raises ``ClientFailed`` if some do not answer, or have another model.
        """
        self._parameters = parameters
        end = time.monotonic() + self.timeout
        while len(self._node_of) < self.num_clients:
            if time.monotonic() > end:
                missing = sorted(set(range(self.num_clients)) - self._node_of.keys())
                raise ClientFailed(f"clients {missing} gave no answer within {self.timeout:g} s")
            self._greet()
            time.sleep(POLL)
        self.is_ready = True

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        connected = self._greet()
        for client in [client for client, node in self._node_of.items() if node not in connected]:
            self._lose(client, f"round {round}: client {client} is not connected any more")
        return np.isin(np.arange(self.num_clients), list(self._node_of))

    def _greet(self) -> set[int]:
        """Ask new nodes who they are, and read the answers that have come.

        Returns the nodes that are connected.
        """
        connected = set(self.grid.get_node_ids())
        known = {*self._node_of.values(), *self._greeted.values()}
        new = [node for node in connected if node not in known]
        self._greeted |= self._push({node: wire.pack({}, {"kind": "hello"}) for node in new})
        for reply in self.grid.pull_messages(list(self._greeted)) if self._greeted else ():
            node = self._greeted.pop(reply.metadata.reply_to_message_id)
            if reply.has_error() and not self.is_ready:
                raise ClientFailed(f"a client could not start: it {_reason(reply)}")
            if reply.has_error():
                continue  # it is asked again in the next round
            _, values = wire.unpack(reply.content)
            client = int(values["client"])
            if not 0 <= client < self.num_clients:
                raise ClientFailed(
                    f"partition-id={client}: must be from 0 to {self.num_clients - 1}"
                )
            if client in self._node_of and not self.is_ready:
                raise ClientFailed(f"partition-id={client}: two SuperNodes have this number")
            if values["parameters"] != self._parameters:
                raise ClientFailed(
                    f"client {client}: its model has the parameters {values['parameters']}, but "
                    f"that of the server {self._parameters}"
                )
            if self.sizes.setdefault(client, values["samples"]) != values["samples"]:
                raise ClientFailed(
                    f"client {client}: had {self.sizes[client]} samples, and now "
                    f"{values['samples']}"
                )
            self._node_of[client] = node
        return connected

    def _push(self, contents: Mapping[int, RecordDict]) -> dict[str, int]:
        """Send to nodes; message → node."""
        if not contents:
            return {}
        messages = [
            Message(content, dst_node_id=node, message_type="train", ttl=self.timeout)
            for node, content in contents.items()
        ]
        self.sent = self.sent[0] + sum(map(wire.size, contents.values())), self.sent[1]
        return dict(zip(self.grid.push_messages(messages), contents, strict=True))

    def ask(self, questions: Mapping[int, Answer], what: str) -> dict[int, Answer]:
        """See :meth:`Clients.ask`.

        A client that fails or is late ends the run with :class:`ClientFailed`, or is left out if
        the run ``goes_on``.
        """
        contents = {client: wire.pack(*question) for client, question in questions.items()}
        client_of = {
            self._node_of[client]: client for client in contents if client in self._node_of
        }
        waiting = self._push({node: contents[client] for node, client in client_of.items()})
        lost = {client: "is not connected" for client in contents if client not in self._node_of}
        answers = dict[int, Answer]()
        end = time.monotonic() + self.timeout
        while waiting and time.monotonic() < end:
            for reply in self.grid.pull_messages(list(waiting)):
                client = client_of[waiting.pop(reply.metadata.reply_to_message_id)]
                if reply.has_error():
                    lost[client] = _reason(reply)
                else:
                    answers[client] = wire.unpack(reply.content)
                    self.sent = self.sent[0], self.sent[1] + wire.size(reply.content)
            time.sleep(POLL if waiting else 0)
        lost |= {
            client_of[node]: f"gave no answer within {self.timeout:g} s"
            for node in waiting.values()
        }
        for client, reason in lost.items():
            self._lose(client, f"{what}: client {client} {reason}")
        if not answers:
            raise ClientFailed(f"{what}: no client is left")
        return {client: answers[client] for client in contents if client in answers}

    def _lose(self, client: int, message: str) -> None:
        if not self.goes_on:
            raise ClientFailed(f"{message}; on_failure='continue' would go on with the others")
        print(f"{message}; the run goes on without it", flush=True)
        self._node_of.pop(client, None)  # greeted anew, so that it comes back with its next answer


def _reason(reply: Message) -> str:
    return f"failed: {reply.error.reason or f'error code {reply.error.code}'}".strip()
