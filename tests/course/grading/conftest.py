"""One kernel for all answers that are judged one after another."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fedlab_course.check.exercises import Exercise
from fedlab_course.grading import judging, room
from fedlab_course.grading.judging import Finding
from fedlab_course.grading.kernel import Kernel
from fedlab_course.grading.limits import Limits

IMPORTS = "import math\nimport numpy as np\nimport torch\nimport fedlab_core as fl\nfrom fedlab_course import clinic"
BENCH = "from fedlab_course.chapters.ch09_bug_clinic.bench import draw, end, same, start"

JudgeSource = Callable[..., Finding]


@pytest.fixture(scope="session")
def house() -> Iterator[Path]:
    with room.house() as folder:
        yield folder


@pytest.fixture(scope="session")
def kernel_and_folder(house: Path) -> Iterator[tuple[Kernel, Path]]:
    place = room.Room(house, None)
    kernel = Kernel(place, Limits(total=3600))
    try:
        kernel.begin()
        assert kernel.run(f"{IMPORTS}\n{BENCH}") == ""
        yield kernel, place.path
    finally:
        kernel.kill()
        place.leave()


@pytest.fixture(scope="session")
def judge(kernel_and_folder: tuple[Kernel, Path]) -> JudgeSource:
    """Judge the source of an answer in the shared kernel."""
    kernel, folder = kernel_and_folder
    lock = threading.Lock()

    def judged(exercise: Exercise, source: str, allow_errors: bool = False) -> Finding:
        with lock:
            error = kernel.run(source)
            assert allow_errors or error == "", error
            return judging.judge(exercise, kernel, folder, 60)

    return judged
