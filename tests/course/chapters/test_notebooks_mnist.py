"""The real notebooks on real MNIST, with little work: that they run is proved, their results are
not.
"""

from pathlib import Path

import pytest

from fedlab_course import folders
from fedlab_course.harness import course_plan, course_run, notebook_parameters
from tests.course.light import light_grids

LITTLE = {
    "seeds": "[0]",
    "rounds": "3",
    "local_epochs": "1",
    "alphas": "[0.1, 10.0]",
    "epochs_compared": "[1, 2]",
    "more_mu": "[1.0]",
    "more_strengths": "[2.0]",
}


@pytest.mark.slow
@pytest.mark.needs_data("mnist")
@pytest.mark.parametrize(
    "path", sorted(folders.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem
)
def test_it_runs_on_mnist(path: Path, tmp_path: Path, trained: Path) -> None:
    settings = {
        name: LITTLE[name] for name in notebook_parameters.declared(path).keys() & LITTLE.keys()
    }
    with light_grids(tmp_path, trained):
        asked = course_plan.Options(
            only=[path.stem], dataset="mnist", settings=settings, out=tmp_path, timeout=1200
        )
        (result,) = course_run.run_course(asked)
    assert result.error is None
    assert result.parameters.get("rounds", 3) == 3  # a chapter without a race has none
