"""Import BlazeFL on Python 3.11, although it asks for Python 3.14.

Two of its functions are written ``def name[T](…)``, which Python reads from 3.12 on. Its
annotations name classes that are defined later, which Python 3.14 allows. Neither does anything
when the code runs.
"""

import __future__

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

PACKAGE = "blazefl"
TYPE_PARAMETER = re.compile(r"^(\s*def \w+)\[\w+\]\(", re.MULTILINE)


def without_type_parameters(source: str) -> str:
    """The source with ``def name(…)`` in place of ``def name[T](…)``."""
    return TYPE_PARAMETER.sub(r"\1(", source)


class Loader(SourceFileLoader):
    """Load a module from a source without type parameters; its annotations are not evaluated."""

    def get_code(self, fullname: str) -> CodeType:
        source = without_type_parameters(self.get_data(self.path).decode())
        flags = __future__.annotations.compiler_flag
        return compile(source, self.path, "exec", flags, dont_inherit=True)


class Finder(MetaPathFinder):
    """Find the modules of BlazeFL."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != PACKAGE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Use the finder from now on, where Python needs it."""
    if sys.version_info < (3, 12):
        sys.meta_path.insert(0, Finder())
