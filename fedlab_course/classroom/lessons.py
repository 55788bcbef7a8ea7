"""The phases of the lesson: what each sets, and what the projector shows."""

from typing import Any, NamedTuple

from fedlab_core.language import translator

_ = translator(__name__)


class LessonPhase(NamedTuple):
    """A phase: its name, a question to the class, settings, and the view of the projector."""

    name: str
    question: str
    options: dict[str, Any]
    view: str


PHASES = (
    LessonPhase(
        _("Draw"),
        _("Join, and draw every digit twice. Your drawings stay on your phone."),
        {"mode": "all", "algorithm": "fedavg"},
        "join",
    ),
    LessonPhase(
        _("Alone"),
        _("One round, many epochs: how well does a phone do with its own drawings alone?"),
        {"mode": "all", "algorithm": "fedavg", "rounds": 1, "epochs": 40, "lr": 0.1},
        "class",
    ),
    LessonPhase(
        _("Together"),
        _("FedAvg, everybody has all labels. How many rounds to 80 %?"),
        {"mode": "all", "algorithm": "fedavg", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        _("One label each"),
        _("Now each phone has one label. What happens to the shared model?"),
        {"mode": "one", "algorithm": "fedavg", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        "SCAFFOLD",
        _("Each phone corrects its step by c − c_k. Does the curve still swing?"),
        {"mode": "one", "algorithm": "scaffold", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        _("Who is sampled?"),
        _("FedSSO finds clusters of similar phones. Who is in yours?"),
        {"mode": "two", "algorithm": "fedsso", "rounds": 20, "epochs": 5, "lr": 0.1},
        "clusters",
    ),
    LessonPhase(
        _("What does the server know?"),
        _("Look at your own phone: which labels can be read from what you sent?"),
        {"mode": "two", "algorithm": "fedavg", "rounds": 5, "epochs": 5, "lr": 0.1},
        "reveal",
    ),
)
