"""The room: phones join and answer, the lecturer starts runs, pages get a picture of the class.

Everything here happens in the thread of the server's loop.
"""

import asyncio
import hmac
import secrets
from collections.abc import Callable

from fedlab_core.aliases import Config
from fedlab_course.classroom import assignment, virtual
from fedlab_course.classroom.keeping import KeptRoom
from fedlab_course.classroom.lessons import PHASES
from fedlab_course.classroom.making import make_run, members_of
from fedlab_course.classroom.options import ClassOptions
from fedlab_course.classroom.protocol import Packet, Refused, pack, read
from fedlab_course.classroom.rounds import ClassRun, Reports, RoundEnd
from fedlab_course.classroom.scores import ScoreBoard
from fedlab_course.classroom.seats import Link, Seat, Seats

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE = 5  # letters
VIEWS = ("join", "class", "rounds", "clusters", "reveal")


class Room:
    """A class with its ``code`` for phones and its ``secret`` for the lecturer.

    ``changed`` is called after each change that a page shows. ``folder``: where the room is kept,
    or None. ``num_parameters`` P of the network.
    """

    def __init__(self, options: ClassOptions, folder: KeptRoom | None) -> None:
        self.code = "".join(secrets.choice(LETTERS) for _ in range(CODE))
        self.secret = secrets.token_urlsafe(16)
        self.options = options
        self.folder = folder
        self.seats = Seats()
        self.task = 0
        self.run: ClassRun | None = None
        self.run_number = 0 if folder is None else folder.last_run()
        self.view = "join"
        self.phase = 0
        self.trouble = ""
        self.address = ""
        self.board = ScoreBoard()
        self.num_parameters = sum(one.numel() for one in virtual.model(0).parameters())
        self.changed: Callable[[], None] = lambda: None
        self._model: bytes | None = None

    @property
    def state(self) -> str:
        """ "drawing" before a run, "training", "paused", or "done"."""
        if self.run is None:
            return "done" if self.board.rounds else "drawing"
        return "paused" if self.run.is_paused else "training"

    # ------------------------------------------------------------------ phones

    def receive(self, link: Link, seat: Seat | None, message: object) -> Seat | None:
        """Take a message of a phone; returns its seat. Raises ``Refused`` with a word for it."""
        packet = read(message, self.num_parameters)
        if packet.kind == "join":
            if seat is not None:
                raise Refused("this phone has joined already")
            return self._join(link, packet)
        if seat is None or seat.link is not link:
            raise Refused("join first")
        if packet.kind == "ready":
            self._ready(seat, packet)
        elif packet.kind == "score":
            self.board.take(seat, packet, self.run_number)
        elif packet.kind == "leave":
            self.left(link, seat)
        else:
            self._wake(seat)
            seat.answered(packet)
        self.changed()
        return seat

    def _join(self, link: Link, packet: Packet) -> Seat:
        values = packet.values
        if not hmac.compare_digest(values["code"].upper(), self.code):
            raise Refused("wrong room code")
        seat = self.seats.join(values["token"], values["name"].strip())
        if seat.link is not None and seat.link is not link:
            seat.link.end("this class is open in another tab")
        seat.link = link
        self._wake(seat)
        link.send(pack("welcome", self._task_of(seat) | {"seat": seat.number}))
        if seat.question is not None:
            seat.state = "training"
            seat.send(seat.question.message)
        elif self._model is not None:
            seat.send(self._model)
        self.changed()
        return seat

    def _wake(self, seat: Seat) -> None:
        if seat.is_asleep or seat.state == "asleep":
            seat.is_asleep = False
            seat.state = "ready" if seat.samples and seat.task == self.task else "drawing"

    def _task_of(self, seat: Seat) -> Config:
        return {
            **assignment.task(self.options.mode, seat.number, self.task),
            "name": seat.name,
            "rounds": self.options.rounds,
            "algorithm": self.options.algorithm,
            "state": self.state,
            "member": self.run is None or seat in self.run.phones.members,
            "hidden": list(virtual.HIDDEN),
        }

    def _ready(self, seat: Seat, packet: Packet) -> None:
        values = packet.values
        self._wake(seat)
        if values["task"] != self.task:
            raise Refused("the task has changed")
        is_new = (seat.task, seat.samples, seat.held) != (
            self.task,
            values["samples"],
            values["held"],
        )
        seat.task = self.task
        seat.samples = values["samples"]
        seat.held = values["held"]
        if seat.state in ("drawing", "ready"):
            seat.state = "ready" if seat.samples else "drawing"
        if is_new:
            self.save()

    def left(self, link: Link, seat: Seat) -> None:
        """A phone's connection has ended."""
        if seat.link is link:
            seat.link = None
            seat.state = "asleep"
            self.changed()

    # --------------------------------------------------------------- lecturer

    async def order(self, order: Config) -> None:
        """Do what the lecturer asks for. Raises ``ValueError`` with a sentence for the lecturer."""
        orders = {
            "set": self._set,
            "phase": self._set_phase,
            "view": self._set_view,
            "remove": self._remove,
            "pause": self._pause,
        }
        name = order.get("do")
        self.trouble = ""
        if name == "start":
            await self.start()
        elif name == "reset":
            await self.reset()
        elif isinstance(name, str) and name in orders:
            orders[name](order.get("value"))
        else:
            raise ValueError("the server does not know this order")
        self.save()
        self.changed()

    def _set(self, value: object) -> None:
        if not isinstance(value, dict):
            raise ValueError("set: needs settings by name")
        options = self.options.changed(value)
        if self.run is not None and options != self.options:
            raise ValueError("a run is going on: reset it before you change its settings")
        is_other_task = options.mode != self.options.mode
        self.options = options
        if is_other_task:
            self._new_task()

    def _new_task(self) -> None:
        self.task += 1
        for seat in self.seats:
            seat.samples = seat.held = 0
            seat.state = "drawing" if seat.is_awake else "asleep"
        self.tell_tasks()

    def tell_tasks(self) -> None:
        """Send each phone its task and the state of the class."""
        for seat in self.seats:
            if seat.link is not None:
                seat.send(pack("task", self._task_of(seat)))

    def _set_phase(self, value: object) -> None:
        if not isinstance(value, int) or not 0 <= value < len(PHASES):
            raise ValueError("phase: is not a phase of the lesson")
        phase = PHASES[value]
        if self.run is None:
            self._set(dict(phase.options))
        self.phase = value
        self.view = phase.view

    def _set_view(self, value: object) -> None:
        if value not in VIEWS:
            raise ValueError(f"view: must be one of {', '.join(VIEWS)}")
        self.view = str(value)

    def _remove(self, value: object) -> None:
        self.seats.remove(self.seats.numbered(value))

    def _pause(self, value: object) -> None:
        if self.run is not None:
            self.run.pause()
            self.tell_tasks()

    async def start(self) -> None:
        """Start a run with all phones that are ready, or go on with the paused one."""
        if self.run is not None:
            self.run.resume()
        else:
            self.board.clear()
            self._model = None
            if self.folder is not None:
                self.folder.forget_run()
            self.run_number += 1
            self.begin(members_of(self.seats, self.task), None)
        self.tell_tasks()

    def begin(self, members: list[Seat], sizes: list[int] | None) -> None:
        """Begin a run, or go on with that of the checkpoint, which had so many samples."""
        reports = Reports(self._round_ended, self._trouble, self._finished)
        self.run = make_run(self, members, sizes, reports)
        self.run.start()

    async def reset(self) -> None:
        """End the run and forget its rounds; phones and drawings stay."""
        if self.run is not None:
            run = self.run
            await run.stop()
            self.run = None
        if self.folder is not None:
            self.folder.forget_run()
        self.board.clear()
        self._model = None
        for seat in self.seats:
            seat.right = seat.hits = None
            if seat.state in ("training", "done"):
                seat.state = "ready"
        self.tell_tasks()

    # -------------------------------------------------------------------- run

    def _round_ended(self, end: RoundEnd) -> None:
        if self.run is None:
            return
        self.board.add(end, self.run)
        self.trouble = ""
        where = {"run": self.run_number, "round": end.record.round, "rounds": self.options.rounds}
        self._model = pack("model", where, {"w": end.params})
        for seat in self.seats:
            if seat.is_awake:
                seat.send(self._model)
        self.changed()

    def _trouble(self, text: str) -> None:
        self.trouble = text
        self.changed()

    def _finished(self) -> None:
        self.run = None
        if self.folder is not None:
            self.folder.forget_run()
        self.save()
        self.tell_tasks()
        self.changed()

    def save(self) -> None:
        """Keep the room on disk, if it has a folder."""
        if self.folder is None:
            return
        run = self.run
        members = [] if run is None else [seat.number for seat in run.phones.members]
        kept = [(s.number, s.key, s.task, s.samples, s.held) for s in self.seats]
        self.folder.save(
            {
                "code": self.code,
                "secret": self.secret,
                "task": self.task,
                "run_number": self.run_number,
                "options": self.options.as_dict(),
                "view": self.view,
                "phase": self.phase,
                "next_question": self.seats.new_question(),
                "seats": kept,
                "members": members,
                "sizes": [] if run is None else list(run.phones.sizes.values()),
            }
        )

    def restore(self, state: Config) -> None:
        """Go on with a room from disk, and with its run, if one was going on.

        Must be called in the running loop.
        """
        asyncio.get_running_loop()
        for name in ("code", "secret", "task", "run_number", "view", "phase"):
            setattr(self, name, state[name])
        self.options = ClassOptions(**state["options"])
        seats = {kept[0]: self.seats.restore(*kept) for kept in state["seats"]}
        self.seats.skip_questions(state["next_question"] + 1_000_000)
        for seat in self.seats:
            seat.state = "asleep"
        if state["sizes"]:
            self.begin([seats[number] for number in state["members"]], state["sizes"])
            if self.run is not None:
                self.board.restore(self.run.simulation.history)
