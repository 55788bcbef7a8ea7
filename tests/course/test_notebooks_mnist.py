"""The real notebooks on real MNIST."""

from pathlib import Path

import pytest

from fedlab_course import folders
from fedlab_course.harness import run


@pytest.mark.needs_data("mnist")
@pytest.mark.parametrize("path", sorted(folders.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_it_runs_on_mnist(path: Path, tmp_path: Path) -> None:
    (result,) = run.run_course(
        only=[path.stem], dataset="mnist", settings={"seeds": "[0, 1]"}, out=tmp_path, timeout=1200
    )
    assert result.error is None
