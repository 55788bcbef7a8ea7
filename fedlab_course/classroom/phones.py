"""The clients of a run: phones that are asked over the network, and virtual clients on the server.

``ask`` and ``available`` are called in the thread of the run. Everything about seats happens in the
thread of the server's loop.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from fedlab_core.aliases import Keywords
from fedlab_core.engines.work import plan_batches
from fedlab_core.remote import Answer, Client, ClientFailed, Clients, Values, Vectors
from fedlab_core.remote.messages import work_of
from fedlab_course.classroom.protocol import pack
from fedlab_course.classroom.seats import PhoneQuestion, Seat, Seats, vector_of

T = TypeVar("T")
_CORRECTION = ("weight", "anchor", "offset", "scale")
_UNSUPPORTED = ("start", "momentum")


class Stopped(Exception):
    """The lecturer stopped the run."""


class Phones(Clients):
    """Clients 0 … S − 1 are the phones of ``members``, the others ``virtual``.

    ``sizes``: client → n_k at the start of the run; a phone with another number of drawings is not
    available. ``deadline``: seconds that a question waits; ``run``: the number of the run.
    """

    name = "classroom"

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        seats: Seats,
        members: Sequence[Seat],
        virtual: Sequence[Client],
        sizes: Sequence[int],
        deadline: float,
        run: int,
    ) -> None:
        self.loop = loop
        self.seats = seats
        self.members = list(members)
        self.virtual = list(virtual)
        self.sizes = dict(enumerate(sizes))
        self.num_clients = len(sizes)
        self.deadline = deadline
        self.run = run
        self.trained: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # client → w and y_k
        self.stopped = threading.Event()

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self.stopped.is_set():
            work.close()
            raise Stopped
        result = asyncio.run_coroutine_threadsafe(work, self.loop).result()
        if self.stopped.is_set():
            raise Stopped
        return result

    def stop(self) -> None:
        """End the run at its next question; called in the loop."""
        self.stopped.set()
        for seat in self.members:
            seat.free()

    def present(self) -> np.ndarray:
        """Which clients can be asked now, bool [N]."""
        return self._in_loop(self._present())

    async def _present(self) -> np.ndarray:
        awake = np.ones(self.num_clients, dtype=bool)
        for client, seat in enumerate(self.members):
            awake[client] = seat.is_awake and seat.samples == self.sizes[client]
        return awake

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        return self.present()

    def ask(self, questions: Mapping[int, Answer], what: str) -> dict[int, Answer]:
        """See :meth:`Clients.ask`. The virtual clients train while the phones do."""
        to_phones = {client: questions[client] for client in questions if self._is_phone(client)}
        if self.stopped.is_set():
            raise Stopped
        collected = asyncio.run_coroutine_threadsafe(self._collect(to_phones), self.loop)
        answers: dict[int, Answer] = {}
        for client, question in questions.items():
            if not self._is_phone(client):
                answers[client] = self.virtual[client - len(self.members)].answer(*question)
        answers |= collected.result()
        if self.stopped.is_set():
            raise Stopped
        if not answers:
            raise ClientFailed(f"{what}: no client answered within {self.deadline:g} s")
        for client, (vectors, _) in answers.items():
            asked, values = questions[client]
            if values["kind"] == "train":
                self.trained[client] = asked["w"], vectors["y"]
        return {client: answers[client] for client in questions if client in answers}

    def _is_phone(self, client: int) -> bool:
        return client < len(self.members)

    async def _collect(self, questions: Mapping[int, Answer]) -> dict[int, Answer]:
        """Ask the phones, and wait until all have answered or the deadline is over."""
        waiting: dict[int, PhoneQuestion] = {}
        for client, (vectors, values) in questions.items():
            question = self._question(client, vectors, values)
            waiting[client] = question
            self.members[client].ask(question)
        if waiting:
            futures = [question.answer for question in waiting.values()]
            await asyncio.wait(futures, timeout=self.deadline)
        answers: dict[int, Answer] = {}
        for client, question in waiting.items():
            self.members[client].give_up(question.identity)
            packet = question.answer.result() if question.answer.done() else None
            if packet is not None:
                vectors = {}
                if question.needs:
                    vectors["y"] = torch.from_numpy(vector_of(packet))
                answers[client] = vectors, self._values(client, packet.values, questions[client][1])
        return answers

    def _values(self, client: int, given: Keywords, asked: Values) -> Values:
        """What the run gets beside the vector: the loss, and the steps that were asked for."""
        values: Values = {"loss": float("nan") if given["loss"] is None else given["loss"]}
        if asked["kind"] == "train":
            values["steps"] = self._plan(client, asked).num_steps
        return values

    def _plan(self, client: int, values: Values) -> Any:
        return plan_batches(work_of(client, values), [self.sizes[client]])[0]

    def _question(self, client: int, vectors: Vectors, values: Values) -> PhoneQuestion:
        """A question as a phone gets it: with its batches in order, so that it draws nothing."""
        identity = self.seats.new_question()
        sent: Keywords = {"question": identity, "run": self.run}
        if values["kind"] == "train":
            unsupported = [name for name in _UNSUPPORTED if values.get(name) or name in vectors]
            if unsupported:
                raise ValueError(f"{unsupported[0]}: phones cannot train with it")
            plan = self._plan(client, values)
            sent |= {"round": values["round"], "stream": values["stream"], "lr": values["lr"]}
            sent |= {"batch": plan.batch_size, "steps": plan.num_steps}
            sent["orders"] = plan.orders.tolist()
            sent |= {name: values[name] for name in _CORRECTION if name in values}
        else:
            sent |= {name: values[name] for name in ("of", "power") if name in values}
        message = pack(values["kind"], sent, vectors)
        needs = values["kind"] != "loss"
        return PhoneQuestion(identity, message, needs, self.loop.create_future())
