"""A class over TLS: its addresses, phones that join by it, and files that are no certificate."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedlab_course.classroom import serving
from tests.course.classroom.hosting import Hosted
from tests.course.classroom.opening import in_own_loop, opened, phones, trained

Pair = tuple[Path, Path]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A certificate for "localhost" and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and it is not installed")
    folder = tmp_path_factory.mktemp("tls")
    pair = folder / "class.pem", folder / "class.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-out", str(pair[0]), "-keyout", str(pair[1]), "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    return pair


async def handshake(port: int, trusted: Path) -> str | None:
    """Connect as a browser that trusts only this certificate; returns the version of TLS."""
    context = ssl.create_default_context(cafile=str(trusted))
    _, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    made = writer.get_extra_info("ssl_object").version()
    writer.close()
    return made


def test_phones_train_over_tls_and_all_pages_have_the_name_of_the_certificate(
    certificate: Pair,
) -> None:
    async def play() -> None:
        address = "https://localhost"
        async with opened(certificate=certificate, address=address) as running:
            assert running.control.startswith("https://localhost/control/")
            assert running.projector.startswith("https://localhost/projector.html#")
            assert "could read the traffic" not in running.invitation()
            port = int(running.local.rsplit(":", 1)[1])
            assert await handshake(port, certificate[0]) in ("TLSv1.2", "TLSv1.3")
            async with phones(running, 2):
                await running.room.order({"do": "set", "value": {"rounds": 2, "epochs": 1}})
                await trained(running, 2)

    in_own_loop(play())


@pytest.mark.needs_browser
def test_a_browser_joins_over_tls(chromium: Any, certificate: Pair) -> None:
    hosted = Hosted(certificate=certificate)
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.goto(f"{hosted.running.local}/#{hosted.room.code}")
    page.fill("#name", "fox")
    page.click("#join button.first")
    page.wait_for_selector("#draw:not([hidden])")
    assert [seat.name for seat in hosted.room.seats] == ["fox"]
    assert faults == []
    context.close()
    hosted.stop()


@pytest.fixture(params=["missing", "other", "text"])
def useless(request: pytest.FixtureRequest, certificate: Pair, tmp_path: Path) -> Iterator[Pair]:
    """Files that are no certificate with its key."""
    wrong = tmp_path / "wrong.pem"
    if request.param == "other":
        wrong.write_bytes(certificate[0].read_bytes())  # a certificate in place of a key
    if request.param == "text":
        wrong.write_text("no key", encoding="utf-8")
    yield certificate[0], wrong


def test_a_file_that_is_no_key_is_named(useless: Pair) -> None:
    async def play() -> None:
        with pytest.raises(OSError, match=r"--certificate \S+class.pem --key \S+wrong.pem: "):
            await serving.start(None, certificate=useless)

    in_own_loop(play())
