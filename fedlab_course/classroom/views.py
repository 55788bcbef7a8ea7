"""What the projector and the lecturer's page show, as JSON."""

import json
from typing import TYPE_CHECKING, Any

from fedlab_core.language import translator
from fedlab_course.classroom import troubles
from fedlab_course.classroom.lessons import PHASES
from fedlab_course.classroom.options import BOUNDS, CHOICES

if TYPE_CHECKING:
    from fedlab_course.classroom.room import Room

_ = translator(__name__)


def picture(room: "Room") -> dict[str, Any]:
    """The class as the projector shows it; it has no secret."""
    phase = PHASES[room.phase]
    in_run = room.board.seats
    tiles = []
    for seat in sorted(room.seats, key=lambda one: one.number):
        tile: dict[str, Any] = {
            "seat": seat.number,
            "name": seat.name,
            "state": seat.state if seat.is_awake else "asleep",
            "samples": seat.samples,
            "trouble": seat.trouble,
        }
        tiles.append(tile | room.board.clients.get(in_run.get(seat.number, -1), {}))
    members = set(in_run.values())
    for client, shown in sorted(room.board.clients.items()):
        if client not in members:
            number = client - len(members) + 1
            name = _("virtual {number}").format(number=number)
            tile = {"seat": None, "name": name, "state": "virtual"}
            tiles.append(tile | shown)
    return {
        "state": room.state,
        "address": room.address,
        "view": room.view,
        "phase": {"name": phase.name, "question": phase.question, "number": room.phase},
        "options": room.options.as_dict(),
        "run": room.run_number,
        "trouble": troubles.shown(room.trouble),
        "tiles": tiles,
        "rounds": room.board.rounds,
    }


def controls(room: "Room") -> dict[str, Any]:
    """The picture with what the lecturer may change."""
    return picture(room) | {
        "code": room.code,
        "bounds": BOUNDS,
        "choices": CHOICES,
        "phases": [asdict_phase(place) for place in range(len(PHASES))],
    }


def asdict_phase(place: int) -> dict[str, str]:
    """A phase of the lesson by its place."""
    return {"name": PHASES[place].name, "question": PHASES[place].question}


def as_json(shown: dict[str, Any]) -> str:
    """Text for a page; a number that is not finite raises ``ValueError``."""
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
