"""The import of torchvision, with and without its compiled operators. Small packages take its
place.
"""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from fedlab_core.data.disk.sources import SOURCES
from fedlab_core.data.disk.vision import import_torchvision

ROOT = Path(__file__).parents[3]
DESCRIBES = """
import torch

for name in ("nms", "qnms"):
    torch.library.register_fake(f"torchvision::{name}", lambda dets, scores, iou_threshold: dets)
"""
WITHOUT_OPERATORS = "loaded = False"
WITH_OPERATORS = """
import torch

operators = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
loaded = True
"""
TRY_BOTH = """
try:
    import torchvision
except RuntimeError as error:
    print("fails:", error)
else:
    print("imports")
from fedlab_core.data import import_torchvision

guarded = import_torchvision()
import torchvision

print(guarded is torchvision is import_torchvision(), torchvision.extension.loaded)
"""


def lines(folder: Path, extension: str) -> list[str]:
    """What TRY_BOTH prints next to a small torchvision in ``folder``, whose ``extension`` loads
    operators or not.
    """
    package = folder / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("from . import extension\nfrom . import descriptions\n")
    (package / "extension.py").write_text(extension)
    (package / "descriptions.py").write_text("import torchvision.extension\n" + DESCRIBES)
    start = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]\n"
    command = [sys.executable, "-c", start + TRY_BOTH]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_missing_operators_are_declared(tmp_path: Path) -> None:
    assert lines(tmp_path, WITHOUT_OPERATORS) == [
        "fails: operator torchvision::nms does not exist",
        "True False",
    ]


def test_existing_operators_stay_as_they_are(tmp_path: Path) -> None:
    assert lines(tmp_path, WITH_OPERATORS) == ["imports", "True True"]


def test_another_error_of_the_import_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in ('RuntimeError("another reason")', 'ModuleNotFoundError("no PIL", name="PIL")'):
        monkeypatch.delitem(sys.modules, "torchvision", raising=False)
        (tmp_path / "torchvision.py").write_text(f"raise {error}")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises((RuntimeError, ModuleNotFoundError), match=r"another reason|no PIL"):
            import_torchvision()


def test_a_missing_torchvision_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(ImportError, match=r"CIFAR-10 need torchvision: pip install torchvision"):
        import_torchvision()


def test_the_table_of_sources_agrees_with_torchvision(vision: ModuleType) -> None:
    cifar10 = vision.datasets.CIFAR10
    files = dict(map(tuple, [*cifar10.train_list, *cifar10.test_list]))
    files[cifar10.meta["filename"]] = cifar10.meta["md5"]
    layout = SOURCES["cifar10"].layouts[0]
    assert {member.name: member.md5 for member in layout.members} == files
    assert layout.folders == (cifar10.base_folder,)
    for name in ("mnist", "fashion-mnist"):
        dataset = getattr(vision.datasets, SOURCES[name].torchvision)
        published = [resource.removesuffix(".gz") for resource, _ in dataset.resources]
        assert [member.name for member in SOURCES[name].layouts[0].members] == published
        assert SOURCES[name].layouts[0].folders[0] == f"{dataset.__name__}/raw"
