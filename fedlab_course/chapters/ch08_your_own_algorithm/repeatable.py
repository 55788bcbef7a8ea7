"""Three questions to an algorithm, on four quadratic clients: can others repeat its run?"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check import on_quadratics

_ = translator(__name__)

Make = Callable[[], fl.Algorithm]
CURVATURES = [1.0, 3.0, 0.5, 2.0]
MINIMA = [0.0, 1.0, -2.0, 0.5]


def engines_agree(make: Make) -> bool:
    """Whether the readable loop and the engine that trains a cohort at once give equal numbers."""
    readable, stacked = (
        on_quadratics.path(make, [], CURVATURES, MINIMA, {"engine": engine})
        for engine in ("reference", "stacked")
    )
    return np.allclose(readable, stacked)


def order_is_free(make: Make) -> bool:
    """Whether the numbers stay if the clients are counted backwards."""
    forwards = on_quadratics.path(make, [], CURVATURES, MINIMA)
    backwards = on_quadratics.path(make, [], CURVATURES[::-1], MINIMA[::-1])
    return np.allclose(forwards, backwards)


def survives_a_checkpoint(make: Make) -> bool:
    """Whether a run that a new instance resumes after round 3 of 6 ends like a whole run."""
    work: dict[str, Any] = {"rounds": 6, "clients_per_round": 2}
    whole = on_quadratics.path(make, [], CURVATURES, MINIMA, work)
    with TemporaryDirectory() as folder:
        work["checkpoint"] = Path(folder) / "run.npz"
        for record in on_quadratics.start(make(), CURVATURES, MINIMA, work):
            if record.round == 3:
                break
        rest: list[float] = on_quadratics.path(make, [], CURVATURES, MINIMA, work)
    return rest == whole[3:]


QUESTIONS = {
    _("engines agree"): engines_agree,
    _("order is free"): order_is_free,
    _("survives a checkpoint"): survives_a_checkpoint,
}


def answers(make: Make) -> dict[str, bool]:
    """Question → whether the algorithm that ``make()`` returns passes it."""
    return {name: asked(make) for name, asked in QUESTIONS.items()}
