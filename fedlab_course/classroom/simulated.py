"""Simulated phones: a script that speaks the protocol, to rehearse a lesson and to test it."""

import asyncio
import ssl
import time
from collections.abc import Callable

import numpy as np
import torch
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from fedlab_core.engines.work import BatchPlan
from fedlab_core.language import translator
from fedlab_core.remote import Client, Values, Vectors
from fedlab_core.remote.messages import correction_of, work_of
from fedlab_course.classroom import virtual
from fedlab_course.classroom.protocol import Packet, pack, unpack

_ = translator(__name__)
Drawings = tuple[torch.Tensor, torch.Tensor]
RECONNECT = 0.5  # seconds until a lost phone tries again
NAMES = (
    _("fox"),
    _("owl"),
    _("bear"),
    _("lynx"),
    _("otter"),
    _("heron"),
    _("mole"),
    _("hare"),
    _("crane"),
    _("newt"),
)


class SimulatedPhone:
    """A phone that draws samples of the digits, trains, answers and sends counts.

    ``draw``: from a task to drawings; ``trained``: seconds of training of each answer.
    """

    def __init__(
        self,
        address: str,
        code: str,
        number: int,
        draw: Callable[[Values], Drawings] | None = None,
    ) -> None:
        self.address = address
        self.code = code
        self.number = number
        self.name = f"{NAMES[number % len(NAMES)]} {number + 1}"
        self.token = f"{number:032x}"
        self.draw = draw or self._drawn
        self.trained: list[float] = []
        self.words: list[str] = []  # of refusals
        self.received: list[Packet] = []
        self.link: WebSocketClientConnection | None = None
        self.seat = -1
        self._client: Client | None = None
        self._held: Drawings | None = None

    def _drawn(self, task: Values) -> Drawings:
        mode = {10: "all", 2: "two", 1: "one"}[len(task["labels"])]
        return virtual.part(mode, self.seat, self.number)

    async def connect(self) -> None:
        """Open the socket and join."""
        request = HTTPRequest(
            self.address.replace("http", "ws", 1).rstrip("/") + "/phone",
            ssl_options=_trusting() if self.address.startswith("https") else None,
        )
        self.link = await websocket_connect(request, max_message_size=2**24)
        self.send("join", code=self.code, token=self.token, name=self.name)

    def send(self, kind: str, vectors: Vectors | None = None, **values: object) -> None:
        """Send a packet, unless the socket is closed."""
        if self.link is not None and self.link.protocol is not None:
            self.link.write_message(pack(kind, values, vectors or {}), binary=True)

    async def run(self) -> None:
        """Join and answer until the class ends; connect again when the server is back."""
        while True:
            try:
                await self.connect()
                await self.listen()
            except OSError:
                pass
            if self.words and self.words[-1].startswith(("the lecturer", "this class")):
                return
            await asyncio.sleep(RECONNECT)

    async def listen(self) -> None:
        """Answer messages until the socket is closed."""
        while self.link is not None:
            message = await self.link.read_message()
            if message is None:
                return
            packet = unpack(message if isinstance(message, bytes) else message.encode())
            self.received.append(packet._replace(vectors={}))
            del self.received[:-50]
            self.take(packet)
            await asyncio.sleep(0)

    def take(self, packet: Packet) -> None:
        """Do what a message asks for."""
        if packet.kind in ("refused", "end"):
            self.words.append(packet.values["word"])
        elif packet.kind in ("welcome", "task"):
            self.seat = packet.values.get("seat", self.seat)
            self._prepare(packet.values)
        elif packet.kind == "model":
            self._score(packet)
        else:
            started = time.perf_counter()
            vectors, values = self.answer(packet)
            self.trained.append(time.perf_counter() - started)
            self.send("answer", vectors, question=packet.values["question"], **values)

    def _prepare(self, task: Values) -> None:
        x, y = self.draw(task)
        train, self._held = virtual.divided(x, y, len(task["labels"]), self.seat)
        self._client = Client(self.seat, train, virtual.model(0), "cross_entropy")
        samples, held = len(train[1]), len(self._held[1])
        self.send("ready", task=task["task"], samples=samples, held=held)

    def answer(self, packet: Packet) -> tuple[Vectors, Values]:
        """The vector and the loss that a question asks for."""
        client = self._client
        if client is None:
            raise ValueError("a question came before the task")
        vectors = {name: torch.from_numpy(np.array(v)) for name, v in packet.vectors.items()}
        values = packet.values
        if packet.kind != "train":
            found, more = client.answer(vectors, {"kind": packet.kind, **values})
            return found, {"loss": more.get("loss")}
        work = work_of(0, {**values, "unit": "steps", "amount": values["steps"], "seed": 0})
        plan = BatchPlan(np.array(values["orders"]), values["batch"], values["steps"])
        engine = client.engine
        with torch.no_grad():
            loss = float(engine.losses(vectors["w"], np.array([0]))[0])
            correction = correction_of(vectors, values)
            y = engine.alone(vectors["w"], work, 0, client.samples[0], plan, correction)
        return {"y": y}, {"loss": loss}

    def _score(self, packet: Packet) -> None:
        if self._client is None or self._held is None:
            return
        engine = self._client.engine
        w = torch.from_numpy(np.array(packet.vectors["w"]))
        counts = []
        with torch.no_grad():
            for x, y in (self._held, (engine.x, engine.y)):
                right = (engine.model.output(w, x).argmax(1) == y).sum() if len(y) else 0
                counts += [int(right), len(y)]
        hits, held, right, samples = counts
        where = {name: packet.values[name] for name in ("run", "round")}
        self.send("score", **where, hits=hits, held=held, right=right, samples=samples)


def _trusting() -> ssl.SSLContext:
    """Accept the server's own certificate: simulated phones talk to this machine only."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def rehearse(address: str, code: str, number: int) -> None:
    """Run ``number`` simulated phones until the process ends."""
    torch.set_num_threads(1)

    async def everybody() -> None:
        phones = [SimulatedPhone(address, code, place) for place in range(number)]
        await asyncio.gather(*(phone.run() for phone in phones))

    asyncio.run(everybody())
