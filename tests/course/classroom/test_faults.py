"""Phones that sleep, reload, answer late or twice; a server that is killed."""

import asyncio
import contextlib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import torch
from tornado.websocket import websocket_connect

from fedlab_course.classroom.in_notebook import Classroom
from fedlab_course.classroom.protocol import Packet
from fedlab_course.classroom.seats import MOST_SEATS
from fedlab_course.classroom.simulated import SimulatedPhone
from tests.course.classroom.opening import in_own_loop, opened, phones, ready, trained, until

SETTINGS = {"rounds": 4, "epochs": 2, "cohort": 4, "mode": "two"}


class Sleepy(SimulatedPhone):
    """A phone that keeps its questions while it ``sleeps``."""

    sleeps = False

    def take(self, packet: Packet) -> None:
        if packet.kind == "train" and self.sleeps:
            self.kept = packet
            return
        super().take(packet)


@contextlib.asynccontextmanager
async def sleepy(running: Any, number: int) -> Any:
    """Another phone, which can sleep."""
    phone = Sleepy(running.local, running.room.code, number)
    task = asyncio.create_task(phone.run())
    await until(lambda: ready(running) == number + 1)
    yield phone
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def order(running: Any, do: str, value: object = None) -> None:
    await running.room.order({"do": do, "value": value})


def test_a_phone_that_sleeps_misses_the_round_and_comes_back_with_a_late_answer() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 3), sleepy(running, 3) as phone:
            await order(running, "set", {**SETTINGS, "rounds": 6, "deadline": 1.0})
            await until(lambda: ready(running) == 4)
            phone.sleeps = True
            await order(running, "start")
            board = running.room.board
            await until(lambda: len(board.rounds) >= 2)
            seat = running.room.seats.numbered(3)
            assert seat.state == "asleep" and not seat.is_awake
            assert [board.clients[k]["sampled"] for k in range(4)] == [True, True, True, False]
            await order(running, "pause")
            phone.sleeps = False
            phone.take(phone.kept)
            await until(lambda: seat.is_awake and phone.words)
            assert phone.words[-1] == "too late: the round has ended"
            await order(running, "start")
            await until(lambda: running.room.run is None)
            assert board.rounds[-1]["round"] == 6
            assert board.clients[3]["sampled"]

    in_own_loop(play())


def test_a_second_answer_is_refused_and_the_first_counts() -> None:
    class Twice(SimulatedPhone):
        def send(self, kind: str, vectors: Any = None, **values: Any) -> None:
            super().send(kind, vectors, **values)
            if kind == "answer":
                other = {"y": torch.zeros(2410, dtype=torch.float64)}
                super().send(kind, other, **values)

    async def play(kind: type[SimulatedPhone]) -> tuple[torch.Tensor, list[str]]:
        async with opened() as running:
            phone = kind(running.local, running.room.code, 0)
            task = asyncio.create_task(phone.run())
            await order(running, "set", {**SETTINGS, "rounds": 3})
            await until(lambda: ready(running) == 1)
            params = await trained(running, 3)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return params, phone.words

    once, words = in_own_loop(play(SimulatedPhone))
    twice, more = in_own_loop(play(Twice))
    assert words == []
    assert torch.equal(once, twice)
    assert len(more) >= 2 and set(more) == {"too late: the round has ended"}


def test_a_phone_that_reloads_in_a_round_gets_its_question_again() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 1), sleepy(running, 1) as phone:
            await order(running, "set", {**SETTINGS, "deadline": 60.0})
            await until(lambda: ready(running) == 2)
            phone.sleeps = True
            await order(running, "start")
            await until(lambda: hasattr(phone, "kept"))
            phone.sleeps = False
            phone.link.close()  # and it connects again by itself
            await until(lambda: running.room.run is None)
            assert running.room.board.rounds[-1]["round"] == 4
            assert running.room.trouble == ""

    in_own_loop(play())


def test_of_two_tabs_the_newer_one_counts() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 1) as (first,):
            second = SimulatedPhone(running.local, running.room.code, 0)
            task = asyncio.create_task(second.run())
            await until(lambda: first.words)
            assert first.words == ["this class is open in another tab"]
            assert len(running.room.seats) == 1
            await until(lambda: ready(running) == 1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    in_own_loop(play())


@pytest.mark.parametrize("algorithm", ["scaffold", "fedsso"])
def test_a_server_that_is_killed_in_a_round_goes_on(algorithm: str, tmp_path: Path) -> None:
    """The parameters are those of a run without interruption, and phones connect by themselves."""
    settings = {**SETTINGS, "algorithm": algorithm, "rounds": 6, "virtual": 2, "deadline": 60.0}

    async def undisturbed() -> torch.Tensor:
        async with opened() as running:
            await order(running, "set", settings)
            async with phones(running, 3):
                return await trained(running, 6)

    async def killed() -> torch.Tensor:
        async with opened(tmp_path) as running:
            port = running.server._sockets.copy().popitem()[1].getsockname()[1]
            await order(running, "set", settings)
            async with phones(running, 3):
                await order(running, "start")
                await until(lambda: running.room.run.simulation.round >= 2)
                # as after SIGKILL: nothing is written any more
                running.room.folder, folder = None, running.room.folder
                run = running.room.run
                run.phones.stopped.set()
                await running.stop()
                code = running.room.code
                async with opened(tmp_path, port=port) as again:
                    assert again.room.code == code and again.room.secret == running.room.secret
                    run = again.room.run
                    assert run is not None and 1 <= run.simulation.round < 6
                    await until(lambda: again.room.run is None)
                    assert [row["round"] for row in again.room.board.rounds] == [1, 2, 3, 4, 5, 6]
                    assert folder.checkpoint.exists() is False
                    assert (tmp_path / "room.json").stat().st_mode & 0o077 == 0
                    return run.simulation.params

    assert torch.equal(in_own_loop(undisturbed()), in_own_loop(killed()))


def test_nothing_on_disk_is_about_a_person(tmp_path: Path) -> None:
    async def play() -> list[SimulatedPhone]:
        async with opened(tmp_path) as running:
            await order(running, "set", SETTINGS)
            async with phones(running, 2) as made:
                await trained(running, 4)
                return made

    made = in_own_loop(play())
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) > 1000
    for phone in made:
        assert phone.name.encode() not in written and phone.token.encode() not in written


def test_a_phone_whose_training_diverges_is_left_out() -> None:
    class Diverging(SimulatedPhone):
        def take(self, packet: Packet) -> None:
            if packet.kind == "train":
                self.send("failed", question=packet.values["question"], why="diverged")
            else:
                super().take(packet)

    async def play() -> None:
        async with opened() as running, phones(running, 2):
            bad = Diverging(running.local, running.room.code, 2)
            task = asyncio.create_task(bad.run())
            await order(running, "set", SETTINGS)
            await until(lambda: ready(running) == 3)
            await trained(running, 4)
            seat = running.room.seats.numbered(2)
            assert seat.trouble == "diverged" and seat.is_awake
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    in_own_loop(play())


def test_if_no_phone_answers_the_run_rests_and_says_so() -> None:
    async def play() -> None:
        async with opened() as running, sleepy(running, 0) as phone:
            await order(running, "set", {**SETTINGS, "deadline": 1.0})
            await until(lambda: ready(running) == 1)
            phone.sleeps = True
            await order(running, "start")
            await until(lambda: "no client answered" in running.room.trouble)
            assert running.room.board.rounds == []
            phone.sleeps = False
            phone.take(phone.kept)
            await until(lambda: running.room.run is None)
            assert running.room.board.rounds[-1]["round"] == 4

    in_own_loop(play())


def test_a_removed_phone_ends_and_cannot_join_again() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 2) as made:
            await order(running, "remove", 1)
            await until(lambda: made[1].words)
            assert made[1].words == ["the lecturer has removed this phone"]
            assert [seat.number for seat in running.room.seats] == [0]
            again = SimulatedPhone(running.local, running.room.code, 1)
            await again.connect()
            packet = await again.link.read_message()
            assert b"has removed this phone" in packet
            with pytest.raises(ValueError, match="seat 1: is not in the class"):
                await order(running, "remove", 1)

    in_own_loop(play())


def test_virtual_clients_alone_are_a_class() -> None:
    async def play() -> None:
        async with opened(virtual=5) as running:
            await order(running, "set", {**SETTINGS, "algorithm": "fedsso"})
            await trained(running, 4)
            board = running.room.board
            assert len(board.clients) == 5
            assert all(0 <= tile["accuracy"] <= 1 for tile in board.clients.values())
            assert board.rounds[-1]["held"] == 5 * 4

    in_own_loop(play())


def test_counts_of_phones_are_summed_once() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 2) as made:
            await order(running, "set", {**SETTINGS, "rounds": 1})
            await until(lambda: ready(running) == 2)
            await trained(running, 1)
            row = running.room.board.rounds[0]
            await until(lambda: row["held"] == 8)
            score = {"run": 1, "round": 1, "hits": 4, "held": 4, "right": 1, "samples": 12}
            made[0].send("score", **score)
            made[0].send("score", **{**score, "hits": 5})
            await until(lambda: made[0].words)
            assert made[0].words == ["wrong count"]
            assert row["held"] == 8 and 0 <= row["hits"] <= 8

    in_own_loop(play())


def test_a_class_is_full() -> None:
    async def play() -> None:
        async with opened() as running:
            for place in range(MOST_SEATS):
                running.room.seats.join(f"{place:032x}", "fox")
            phone = SimulatedPhone(running.local, running.room.code, MOST_SEATS)
            await phone.connect()
            assert b"the class is full" in await phone.link.read_message()

    in_own_loop(play())


def fetched(address: str) -> tuple[int, str]:
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_without_code_and_secret_there_is_nothing() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 1):
            room = running.room
            for path, status in (
                ("/control/wrong/", 404),
                ("/control/", 404),
                ("/invite/WRONG.svg", 404),
                ("/room.json", 404),
                ("/../room.json", 404),
                (f"/control/{room.secret}/", 200),
                (f"/invite/{room.code}.svg", 200),
                ("/", 200),
            ):
                found = await asyncio.to_thread(fetched, running.local + path)
                assert found[0] == status, path
                assert room.secret not in found[1] and room.code not in found[1]
            socket = running.local.replace("http", "ws")
            with pytest.raises(Exception, match="404"):
                await websocket_connect(f"{socket}/control/wrong/socket")
            watcher = await websocket_connect(f"{socket}/projector/socket")
            for message in ('{"do": "reset"}', "x", "[]", '{"code": "WRONG"}', '{"code": 5}'):
                await watcher.write_message(message)
            assert await watcher.read_message() == '{"refused":"wrong room code"}'
            await watcher.write_message(f'{{"code": "{room.code}"}}')
            shown = await watcher.read_message()
            assert "fox 1" in shown and room.secret not in shown
            await watcher.write_message('{"do": "reset"}')
            assert len(room.seats) == 1

    in_own_loop(play())


def test_the_lecturer_cannot_set_what_is_not_offered() -> None:
    async def play() -> None:
        async with opened(virtual=2) as running:
            for value, message in (
                ({"lr": 5}, "lr: must be a number from 0.001 to 2"),
                ({"epochs": 1.5}, "epochs: must be a whole number"),
                ({"epochs": True}, "epochs: must be"),
                ({"algorithm": "x"}, "algorithm: must be one of fedavg"),
                ({"x": 1}, "x: is not a setting"),
                ([], "set: needs settings"),
            ):
                with pytest.raises(ValueError, match=message):
                    await order(running, "set", value)
            with pytest.raises(ValueError, match="does not know"):
                await order(running, "shout")
            await order(running, "set", {"virtual": 0})
            with pytest.raises(ValueError, match="nobody is ready"):
                await order(running, "start")

    in_own_loop(play())


def test_a_message_of_a_later_tab_does_not_come_from_the_earlier_one() -> None:
    """A link that lost its seat cannot speak for it."""

    async def play() -> None:
        async with opened() as running, phones(running, 1) as (first,):
            seat = running.room.seats.numbered(0)
            other = seat.link
            seat.link = None
            first.send("ready", task=0, samples=1, held=0)
            await until(lambda: first.words)
            assert first.words == ["join first"]
            seat.link = other

    in_own_loop(play())


def test_a_class_in_a_notebook_shows_its_addresses_and_stops() -> None:
    made = Classroom(virtual=2)
    shown = made._repr_mimebundle_()
    assert made.room.code in shown["text/html"] and made.running.control in shown["text/plain"]
    status, _ = fetched(made.running.local)
    assert status == 200
    made.stop()
    with pytest.raises(urllib.error.URLError):
        fetched(made.running.local)
    with pytest.raises(ValueError, match="virtual: must be"):
        Classroom(virtual=101)


def test_a_phone_that_joins_late_watches_and_is_in_the_next_run() -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 2):
            await order(running, "set", {**SETTINGS, "rounds": 30})
            await until(lambda: ready(running) == 2)
            await order(running, "start")
            await order(running, "pause")
            late = SimulatedPhone(running.local, running.room.code, 2)
            task = asyncio.create_task(late.run())
            await until(lambda: ready(running) == 3)
            assert late.received[0].values["member"] is False
            assert running.room.run.phones.num_clients == 2
            await order(running, "reset")
            await order(running, "set", {"rounds": 2})
            await trained(running, 2)
            assert len(running.room.board.clients) == 3
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    in_own_loop(play())
