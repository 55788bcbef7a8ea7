"""The command ``fedlab-course classroom``."""

import argparse
import asyncio
import importlib.util
import multiprocessing
import signal
from pathlib import Path

from fedlab_course.classroom.keeping import KeptRoom
from fedlab_course.classroom.options import MOST_VIRTUAL

PORT = 8770
MOST_SIMULATED = 100


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="who can reach the class: 127.0.0.1 is this machine only (default), 0.0.0.0 is "
        "everybody in your network",
    )
    add("--port", type=int, default=PORT, metavar="N", help="default: %(default)s; 0: a free one")
    add("--certificate", type=Path, metavar="FILE", help="TLS: the certificate chain, PEM")
    add("--key", type=Path, metavar="FILE", help="TLS: the private key, PEM")
    add(
        "--address",
        metavar="URL",
        help="the address that phones open, if it is not the one of this machine",
    )
    add(
        "--out",
        type=Path,
        default=Path("build/classroom"),
        metavar="FOLDER",
        help="histories, and what is needed to go on after a crash (default: %(default)s)",
    )
    add("--new", action="store_true", help="a new room, also if FOLDER has one that can go on")
    add("--virtual", type=int, default=0, metavar="N", help="clients with parts of the digits")
    simulate = "simulated phones that join from this machine, to rehearse"
    add("--simulate", type=int, default=0, metavar="N", help=simulate)
    parser.set_defaults(run=_run, when_interrupted="; the same command goes on with the class")


def _run(options: argparse.Namespace) -> int:
    for name in ("segno", "tornado"):
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"{name} not installed: pip install '.[course]'")
    if (options.certificate is None) != (options.key is None):
        raise ValueError("--certificate and --key: give both, or none")
    for name, most in (("virtual", MOST_VIRTUAL), ("simulate", MOST_SIMULATED)):
        if not 0 <= getattr(options, name) <= most:
            raise ValueError(f"--{name} {getattr(options, name)}: must be from 0 to {most}")
    asyncio.run(_serve(options))
    return 0


async def _serve(options: argparse.Namespace) -> None:
    from fedlab_course.classroom import serving, simulated

    running = await serving.start(
        KeptRoom(options.out),
        host=options.host,
        port=options.port,
        certificate=(options.certificate, options.key) if options.certificate else None,
        address=options.address,
        is_new=options.new,
        virtual=options.virtual,
    )
    print(running.invitation(), flush=True)
    helpers = []
    if options.simulate:
        spawn = multiprocessing.get_context("spawn")
        given = (running.local, running.room.code, options.simulate)
        helpers.append(spawn.Process(target=simulated.rehearse, args=given, daemon=True))
        helpers[0].start()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, ended.set)
        except NotImplementedError:
            break  # Windows: Ctrl-C ends the loop
    try:
        await ended.wait()
    finally:
        for helper in helpers:
            helper.terminate()
        await running.stop()
