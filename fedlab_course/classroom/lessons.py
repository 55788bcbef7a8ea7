"""The phases of the lesson: what each sets, and what the projector shows."""

from typing import Any, NamedTuple


class LessonPhase(NamedTuple):
    """A phase: its name, a question to the class, settings, and the view of the projector."""

    name: str
    question: str
    options: dict[str, Any]
    view: str


PHASES = (
    LessonPhase(
        "Draw",
        "Join, and draw every digit twice. Your drawings stay on your phone.",
        {"mode": "all", "algorithm": "fedavg"},
        "join",
    ),
    LessonPhase(
        "Alone",
        "One round, many epochs: how well does a phone do with its own drawings alone?",
        {"mode": "all", "algorithm": "fedavg", "rounds": 1, "epochs": 40, "lr": 0.1},
        "class",
    ),
    LessonPhase(
        "Together",
        "FedAvg, everybody has all labels. How many rounds to 80 %?",
        {"mode": "all", "algorithm": "fedavg", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        "One label each",
        "Now each phone has one label. What happens to the shared model?",
        {"mode": "one", "algorithm": "fedavg", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        "SCAFFOLD",
        "Each phone corrects its step by c − c_k. Does the curve still swing?",
        {"mode": "one", "algorithm": "scaffold", "rounds": 20, "epochs": 5, "lr": 0.1},
        "rounds",
    ),
    LessonPhase(
        "Who is sampled?",
        "FedSSO finds clusters of similar phones. Who is in yours?",
        {"mode": "two", "algorithm": "fedsso", "rounds": 20, "epochs": 5, "lr": 0.1},
        "clusters",
    ),
    LessonPhase(
        "What does the server know?",
        "Look at your own phone: which labels can be read from what you sent?",
        {"mode": "two", "algorithm": "fedavg", "rounds": 5, "epochs": 5, "lr": 0.1},
        "reveal",
    ),
)
