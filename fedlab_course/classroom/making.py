"""Making a run out of a room: its phones, its virtual clients and its files."""

import asyncio
from typing import TYPE_CHECKING

from fedlab_core.remote import Client
from fedlab_course.classroom import assignment, virtual
from fedlab_course.classroom.phones import Phones
from fedlab_course.classroom.rounds import ClassRun, Reports
from fedlab_course.classroom.seats import Seat, Seats

if TYPE_CHECKING:
    from fedlab_course.classroom.room import Room

FIRST_VIRTUAL = 3  # the seat of the first virtual client, after those of a few students


def members_of(seats: Seats, task: int) -> list[Seat]:
    """The phones that are ready for a run, in the order of their seats."""
    ready = [seat for seat in seats if seat.is_awake and seat.task == task and seat.samples]
    return sorted(ready, key=lambda seat: seat.number)


def make_run(
    room: "Room", members: list[Seat], sizes: list[int] | None, reports: Reports
) -> ClassRun:
    """A run with ``members`` and the virtual clients of the options.

    ``sizes``: those of the run that goes on, or None. Raises ``ValueError`` if nobody is ready, or
    if the algorithm cannot train so few.
    """
    options = room.options
    data = []
    for place in range(options.virtual):
        number = FIRST_VIRTUAL + place
        x, y = virtual.part(options.mode, number, options.seed)
        num_labels = assignment.MODES[options.mode][0]
        data.append(virtual.divided(x, y, num_labels, number))
    if sizes is None:
        sizes = [seat.samples for seat in members] + [len(train[1]) for train, _ in data]
    if not sizes:
        raise ValueError("nobody is ready: wait for drawings, or add virtual clients")
    model = virtual.model(options.seed)
    clients = [
        Client(number, train, model, "cross_entropy")
        for number, (train, _) in enumerate(data, start=len(members))
    ]
    loop = asyncio.get_running_loop()
    phones = Phones(loop, room.seats, members, clients, sizes, options.deadline, room.run_number)
    held = [own for _, own in data]
    folder = room.folder
    checkpoint = None if folder is None else folder.checkpoint
    history = None if folder is None else folder.history(room.run_number, options.algorithm)
    return ClassRun(phones, options, held, reports, checkpoint, history)
