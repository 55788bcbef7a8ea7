"""The guard around ``import torchvision``, each case in a process of its own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.core.data.small_sets import needs_torchvision

REPOSITORY = Path(__file__).resolve().parents[3]

# What the real package does when its compiled library is absent, and nothing else.
LIKE_TORCHVISION = """
import torch

@torch.library.register_fake("torchvision::nms")
def nms(dets, scores, iou_threshold):
    return dets

@torch.library.register_fake("torchvision::qnms")
def qnms(dets, scores, iou_threshold):
    return dets

loaded = True
"""
DECLARE_BOTH = """
import torch
library = torch.library.Library("torchvision", "FRAGMENT")
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""
# The module alone: the rest of the library takes seconds to import and has no part in this.
GUARD = REPOSITORY / "fedlab_core" / "data" / "disk" / "torchvision_guard.py"
IMPORT_GUARD = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("guard", {str(GUARD)!r})
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)
"""


def python(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (*folders, REPOSITORY)))
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def succeed(code: str, *folders: Path) -> None:
    result = python(IMPORT_GUARD + textwrap.dedent(code), *folders)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def imitation(tmp_path: Path) -> Path:
    """A folder with a package ``torchvision`` that needs the two operators declared."""
    package = tmp_path / "imitation" / "torchvision"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIKE_TORCHVISION)
    return package.parent


def test_operators_absent_without_guard_the_import_fails(imitation: Path) -> None:
    result = python("import torchvision", imitation)
    assert result.returncode != 0
    assert "operator torchvision::nms does not exist" in result.stderr


def test_operators_absent_the_guard_declares_both(imitation: Path) -> None:
    succeed(
        """
        import torch
        assert guard.import_torchvision().loaded
        assert hasattr(torch.ops.torchvision, "nms") and hasattr(torch.ops.torchvision, "qnms")
        assert guard.declare_missing_operators() == []
        """,
        imitation,
    )


def test_declared_operators_have_no_implementation(imitation: Path) -> None:
    succeed(
        """
        import torch
        guard.import_torchvision()
        try:
            torch.ops.torchvision.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
        except NotImplementedError:
            pass
        else:
            raise AssertionError("an operator that was only declared has returned something")
        """,
        imitation,
    )


def test_operators_present_nothing_is_declared(imitation: Path) -> None:
    succeed(
        DECLARE_BOTH
        + textwrap.dedent(
            """
            guard.declare_missing_operators = None  # calling it would fail
            assert guard.import_torchvision().loaded
            assert guard._libraries == []
            """
        ),
        imitation,
    )


def test_only_the_absent_operator_is_declared() -> None:
    succeed(
        """
        import torch
        library = torch.library.Library("torchvision", "FRAGMENT")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        assert guard.declare_missing_operators() == ["qnms"]
        """
    )


def test_another_error_of_the_package_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('something else')")
    succeed(
        """
        try:
            guard.import_torchvision()
        except RuntimeError as error:
            assert str(error) == "something else"
        else:
            raise AssertionError("the error was hidden")
        assert guard._libraries == []
        """,
        tmp_path,
    )


def test_a_package_that_torchvision_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "torchvision.py").write_text("import a_package_that_does_not_exist")
    result = python(IMPORT_GUARD + "guard.import_torchvision()", tmp_path)
    assert "ModuleNotFoundError: No module named 'a_package_that_does_not_exist'" in result.stderr


def test_not_installed_says_what_to_install() -> None:
    result = python(IMPORT_GUARD + "import sys; sys.modules['torchvision'] = None; guard.import_torchvision()")
    assert result.returncode != 0
    assert "ImportError: torchvision knows the mirrors of this data set, but is not installed" in result.stderr
    assert "pip install torchvision" in result.stderr


@needs_torchvision
@pytest.mark.parametrize("before", ["", DECLARE_BOTH], ids=["as installed", "operators declared before"])
def test_the_installed_torchvision_names_the_files_of_mnist(before: str) -> None:
    succeed(before + "\nassert len(guard.import_torchvision().datasets.MNIST.resources) == 4")


def test_the_library_and_digits_need_no_torchvision() -> None:
    result = python(
        """
import sys
import fedlab_core.cli.data
assert "torchvision" not in sys.modules
sys.modules["torchvision"] = None
assert len(fedlab_core.data.load_dataset("digits").train) > 0
"""
    )
    assert result.returncode == 0, result.stderr
