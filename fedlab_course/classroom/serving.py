"""A server that is running: where it listens, and what the lecturer reads."""

import socket
import ssl
from pathlib import Path

from tornado.httpserver import HTTPServer

from fedlab_course.classroom import assets, web
from fedlab_course.classroom.keeping import KeptRoom
from fedlab_course.classroom.options import ClassOptions
from fedlab_course.classroom.room import Room
from fedlab_course.classroom.web import Hall


class RunningClass:
    """A server that is running. ``address``: what phones open; ``local``: from this machine.

    A certificate names the host of ``address``; with TLS the lecturer's pages have it, too.
    """

    def __init__(
        self, room: Room, hall: Hall, server: HTTPServer, address: str, local: str
    ) -> None:
        self.room = room
        self.hall = hall
        self.server = server
        self.address = address
        self.local = local

    @property
    def control(self) -> str:
        """The lecturer's secret address."""
        return f"{self._here}/control/{self.room.secret}/"

    @property
    def projector(self) -> str:
        """The address of the page for the projector."""
        return f"{self._here}/projector.html#{self.room.code}"

    @property
    def _here(self) -> str:
        return self.address.rstrip("/") if self.local.startswith("https:") else self.local

    def invitation(self) -> str:
        """What the lecturer reads in the terminal."""
        invite = f"{self.address}#{self.room.code}"
        lines = [
            assets.qr_code_in_terminal(invite),
            f"phones:    {self.address}",
            f"room code: {self.room.code}",
            f"projector: {self.projector}",
            f"lecturer:  {self.control}   (keep this address to yourself)",
            f"kept in:   {self.room.folder.path if self.room.folder else 'nothing is kept'}",
        ]
        if "127.0.0.1" in self.address:
            lines.append("Only this machine can open it. --host 0.0.0.0 lets phones in.")
        elif self.address.startswith("http:"):
            lines.append("Without --certificate, others in this network could read the traffic.")
        return "\n".join(lines)

    async def stop(self) -> None:
        """End the run after its checkpoint, and close all connections."""
        self.room.save()
        if self.room.run is not None:
            await self.room.run.stop()
        self.server.stop()
        self.hall.close()
        await self.server.close_all_connections()


async def start(
    folder: KeptRoom | None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    certificate: tuple[Path, Path] | None = None,
    address: str | None = None,
    is_new: bool = False,
    virtual: int = 0,
) -> RunningClass:
    """Start the server of a room in the running loop; go on with the room in ``folder``.

    ``certificate``: the files of the certificate and of its key, for TLS.
    """
    room = Room(ClassOptions().changed({"virtual": virtual}), folder)
    kept = None if folder is None or is_new else folder.load()
    tls = None if certificate is None else _tls(*certificate)
    listener = _listener(host, port)
    scheme = "http" if tls is None else "https"
    port = listener.getsockname()[1]
    local = f"{scheme}://127.0.0.1:{port}"
    shown = address or f"{scheme}://{_name(host)}:{port}"
    if kept is not None:
        room.restore(kept)
    elif folder is not None:
        folder.forget_run()
    room.save()
    application, hall = web.application(room, shown.rstrip("/") + "/")
    server = HTTPServer(application, ssl_options=tls, max_buffer_size=2**22, max_body_size=2**16)
    server.add_sockets([listener])
    return RunningClass(room, hall, server, shown, local)


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS with the two files. Raises ``OSError`` with their names if they cannot be used."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        raise OSError(f"--certificate {certificate} --key {key}: {error}") from error
    return context


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ``OSError`` with the address if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise OSError(f"--host {host} --port {port}: {error.strerror or error}") from error
    listener.setblocking(False)
    return listener


def _name(host: str) -> str:
    """The address of this machine that others can open."""
    if host not in ("0.0.0.0", "::", ""):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it asks which address would be used
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
