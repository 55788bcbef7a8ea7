"""The web server of a room: pages, and a socket each for phones, projectors and the lecturer."""

import contextlib
import hmac
import json
import re
from typing import Any

import tornado.web
import tornado.websocket
from tornado.ioloop import IOLoop

from fedlab_course.classroom import assets, protocol, views
from fedlab_course.classroom.protocol import Bucket, Refused, pack
from fedlab_course.classroom.room import Room
from fedlab_course.classroom.seats import MOST_SEATS, Seat

MOST_SOCKETS = 2 * MOST_SEATS
MOST_REFUSALS = 30  # messages of one phone
MESSAGES = (20.0, 60.0)  # of one phone a second, and at once
WRONG_CODES = (1.0, 30.0)  # of one address a second, and at once
PUSH = 0.2  # seconds between two pictures of the class
PING = 10.0  # seconds
_ADDRESS = re.compile(r"[\w.:\[\]\-]{1,100}")


class Hall:
    """The open sockets of a room."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.phones: set[PhoneSocket] = set()
        self.watchers: set[WatcherSocket] = set()
        self._codes: dict[str, Bucket] = {}
        self._pushing = False
        room.changed = self.push

    def may_guess(self, address: str) -> bool:
        """Whether an address that sent a wrong code may send another one."""
        if len(self._codes) > 1000:
            self._codes.clear()
        return self._codes.setdefault(address, Bucket(*WRONG_CODES)).take()

    def close(self) -> None:
        """Close all sockets; phones and pages connect again once the server is back."""
        for opened in [*self.phones, *self.watchers]:
            opened.close(1001, "the server stops")

    def push(self) -> None:
        """Send the picture to all pages soon, once for all changes until then."""
        if not self._pushing and self.watchers:
            self._pushing = True
            IOLoop.current().call_later(PUSH, self._push)

    def _push(self) -> None:
        self._pushing = False
        shown = views.as_json(views.picture(self.room))
        to_lecturer = views.as_json(views.controls(self.room))
        for watcher in list(self.watchers):
            if watcher.is_in:
                watcher.tell(to_lecturer if watcher.is_lecturer else shown)


class BaseSocket(tornado.websocket.WebSocketHandler):
    """A socket that bounds how many there are and how fast they talk."""

    def initialize(self, hall: Hall) -> None:
        self.hall = hall
        self.bucket = Bucket(*MESSAGES)
        self.refusals = 0

    def tell(self, message: str | bytes) -> None:
        """Send a message, unless the socket is closed."""
        with contextlib.suppress(tornado.websocket.WebSocketClosedError):
            self.write_message(message, binary=isinstance(message, bytes))

    def is_too_fast(self) -> bool:
        """Close the socket if it talks too fast."""
        if self.bucket.take():
            return False
        self.close(1008, "too fast")
        return True


class PhoneSocket(BaseSocket):
    """The socket of a phone: packets in both directions. A :class:`Link` of the room."""

    seat: Seat | None = None

    def open(self, *args: str, **kwargs: str) -> None:
        if len(self.hall.phones) >= MOST_SOCKETS:
            self.close(1013, "the class is full")
            return
        self.hall.phones.add(self)
        self.set_nodelay(True)

    def send(self, message: bytes) -> None:
        self.tell(message)

    def end(self, word: str) -> None:
        self.send(pack("end", {"word": word}))
        self.seat = None
        self.close(1000, "")

    def on_message(self, message: str | bytes) -> None:
        if self not in self.hall.phones or self.is_too_fast():
            return
        try:
            self.seat = self.hall.room.receive(self, self.seat, message)
        except Refused as refusal:
            self._refuse(str(refusal))

    def _refuse(self, word: str) -> None:
        self.refusals += 1
        address = str(self.request.remote_ip)
        is_guess = word == "wrong room code"
        if self.refusals > MOST_REFUSALS or (is_guess and not self.hall.may_guess(address)):
            self.close(1008, "too many refused messages")
            return
        self.send(pack("refused", {"word": word}))

    def on_close(self) -> None:
        self.hall.phones.discard(self)
        if self.seat is not None:
            self.hall.room.left(self, self.seat)


class WatcherSocket(BaseSocket):
    """The socket of a projector, which needs the room code, or of the lecturer."""

    is_lecturer = False
    is_in = False

    def open(self, *args: str, **kwargs: str) -> None:
        if len(self.hall.watchers) >= MOST_SOCKETS:
            self.close(1013, "too many pages")
            return
        self.hall.watchers.add(self)

    async def on_message(self, message: str | bytes) -> None:
        if self not in self.hall.watchers or self.is_too_fast():
            return
        order = _order(message)
        code = order.get("code")
        if self.is_in or not isinstance(code, str) or len(code) > 12 or not code.isascii():
            return
        if not hmac.compare_digest(code.upper(), self.hall.room.code):
            if not self.hall.may_guess(str(self.request.remote_ip)):
                self.close(1008, "too many wrong codes")
                return
            self.tell(views.as_json({"refused": "wrong room code"}))
            return
        self.enter()

    def enter(self) -> None:
        """Show the class from now on."""
        self.is_in = True
        room = self.hall.room
        self.tell(views.as_json((views.controls if self.is_lecturer else views.picture)(room)))

    def on_close(self) -> None:
        self.hall.watchers.discard(self)


class LecturerSocket(WatcherSocket):
    """The socket of the lecturer's page, at the secret address."""

    is_lecturer = True

    def prepare(self) -> None:
        _check_secret(self, self.path_args[0])

    def open(self, *args: str, **kwargs: str) -> None:
        super().open()
        self.enter()

    async def on_message(self, message: str | bytes) -> None:
        if self.is_too_fast():
            return
        try:
            await self.hall.room.order(_order(message))
        except ValueError as error:
            self.hall.room.trouble = str(error)
            self.hall.push()


def _order(message: str | bytes) -> dict[str, Any]:
    """The order in a message; an empty one for anything else."""
    try:
        order = json.loads(message) if len(message) < 4000 else None
    except (ValueError, RecursionError):
        order = None
    return order if isinstance(order, dict) else {}


def _check_secret(handler: tornado.web.RequestHandler, given: str) -> None:
    secret = handler.hall.room.secret  # type: ignore[attr-defined]
    if not hmac.compare_digest(given.encode(), secret.encode()):
        raise tornado.web.HTTPError(404)


class PageHandler(tornado.web.RequestHandler):
    """A page or one of its files. Nothing in it depends on the room."""

    def initialize(self, hall: Hall) -> None:
        self.hall = hall

    def set_default_headers(self) -> None:
        host = self.request.host if _ADDRESS.fullmatch(self.request.host) else "localhost"
        rules = [
            "default-src 'none'",
            "script-src 'self'",
            "worker-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            f"connect-src 'self' ws://{host} wss://{host}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
        ]
        self.set_header("Content-Security-Policy", "; ".join(rules))
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-cache")
        self.clear_header("Server")

    def get(self, name: str = "") -> None:
        page = assets.files().get(name or "student.html")
        if page is None:
            raise tornado.web.HTTPError(404)
        self.set_header("Content-Type", page.kind)
        self.write(page.text)


class LecturerHandler(PageHandler):
    """The lecturer's page, at its secret address."""

    def get(self, name: str = "") -> None:
        _check_secret(self, name)
        super().get("lecturer.html")


class InviteHandler(PageHandler):
    """The address of the class and its QR code, for the projector; needs the room code."""

    def get(self, name: str = "") -> None:
        if not hmac.compare_digest(name.upper().encode(), self.hall.room.code.encode()):
            time_allowed = self.hall.may_guess(str(self.request.remote_ip))
            raise tornado.web.HTTPError(404 if time_allowed else 429)
        self.set_header("Content-Type", "image/svg+xml")
        self.write(assets.qr_code(self.settings["address"] + "#" + self.hall.room.code))


def application(room: Room, address: str) -> tuple[tornado.web.Application, Hall]:
    """The server of a room. ``address``: where phones open it."""
    room.address = address.rstrip("/")
    hall = Hall(room)
    shared = {"hall": hall}
    routes: list[Any] = [
        (r"/()", PageHandler, shared),
        (r"/phone", PhoneSocket, shared),
        (r"/projector/socket", WatcherSocket, shared),
        (r"/control/([\w\-]{1,60})/socket", LecturerSocket, shared),
        (r"/control/([\w\-]{1,60})/", LecturerHandler, shared),
        (r"/invite/([\w]{1,12}).svg", InviteHandler, shared),
        (r"/([a-z_]{1,30}\.(?:html|js|css|json))", PageHandler, shared),
    ]
    made = tornado.web.Application(
        routes,
        compress_response=True,
        address=address,
        websocket_ping_interval=PING,
        websocket_ping_timeout=PING,
        websocket_max_message_size=protocol.most_bytes(room.num_parameters) + 1024,
        log_function=lambda handler: None,
    )
    return made, hall
