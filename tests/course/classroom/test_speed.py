"""What the server adds to a round, and what a stroke costs, in seconds of the processor."""

import asyncio
import multiprocessing
import time
from typing import Any

import numpy as np
import pytest
import torch

from fedlab_core.remote import Values
from fedlab_course.classroom.protocol import Packet
from fedlab_course.classroom.simulated import SimulatedPhone
from tests.course.classroom.hosting import Hosted
from tests.course.classroom.opening import in_own_loop, opened, ready, until

MOST_ADDED = 0.3  # seconds a round


class Timed(SimulatedPhone):
    """A phone that "trains" for a fixed time, at the same time as all others."""

    seconds = 0.2

    def take(self, packet: Packet) -> None:
        if packet.kind != "train":
            super().take(packet)
            return
        asyncio.get_running_loop().call_later(self.seconds, self.reply, packet.values, packet)

    def reply(self, values: Values, packet: Packet) -> None:
        y = torch.from_numpy(np.array(packet.vectors["w"]) + 1e-3 * self.number)
        self.send("answer", {"y": y}, question=values["question"], loss=1.0)


def everybody(address: str, code: str, number: int) -> None:
    torch.set_num_threads(1)

    async def run() -> None:
        await asyncio.gather(*(Timed(address, code, place).run() for place in range(number)))

    asyncio.run(run())


@pytest.mark.parametrize(("number", "algorithm"), [(40, "scaffold"), (100, "fedavg")])
def test_a_round_adds_little_to_the_training_of_the_phones(number: int, algorithm: str) -> None:
    """The wall clock of a busy machine says nothing: counted is the server's own time."""

    async def play() -> float:
        async with opened() as running:
            options = {"cohort": number, "rounds": 6, "mode": "two", "algorithm": algorithm}
            await running.room.order({"do": "set", "value": {**options, "deadline": 120}})
            spawn = multiprocessing.get_context("spawn")
            given = (running.local, running.room.code, number)
            process = spawn.Process(target=everybody, args=given, daemon=True)
            process.start()
            await until(lambda: ready(running) == number, "all phones are ready")
            started = time.process_time()
            await running.room.order({"do": "start"})
            await until(lambda: running.room.run is None, "the run ends")
            spent = time.process_time() - started
            assert len(running.room.board.clients) == number
            assert running.room.board.rounds[-1]["round"] == 6
            process.terminate()
            return spent / 6

    assert in_own_loop(play()) < MOST_ADDED


@pytest.mark.needs_browser
def test_a_stroke_is_drawn_well_within_a_frame_on_a_slow_phone(chromium: Any) -> None:
    """On a processor slowed four times, a move of the finger takes less than 16 ms to handle."""
    hosted = Hosted()
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"{hosted.running.local}/#{hosted.room.code}")
    page.click("#animals button")
    page.click("#join button.first")
    page.wait_for_selector("#draw:not([hidden])")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    spent = page.evaluate(
        """() => {
            const box = find("#pad").getBoundingClientRect();
            const event = (type, i) => new PointerEvent(type, {
                pointerId: 1, bubbles: true,
                clientX: box.left + box.width * (0.5 + 0.3 * Math.cos(i / 30)),
                clientY: box.top + box.height * (0.5 + 0.3 * Math.sin(i / 30)),
            });
            find("#pad").setPointerCapture = () => {};
            find("#pad").dispatchEvent(event("pointerdown", 0));
            const times = [];
            for (let i = 1; i < 300; i += 1) {
                const begin = performance.now();
                find("#pad").dispatchEvent(event("pointermove", i));
                times.push(performance.now() - begin);
            }
            find("#pad").dispatchEvent(event("pointerup", 300));
            const begin = performance.now();
            const image = pad.image();
            return { move: times.sort((a, b) => a - b)[150], image: performance.now() - begin };
        }"""
    )
    page.close()
    hosted.stop()
    assert spent["move"] < 8, spent
    assert spent["image"] < 1000, spent
