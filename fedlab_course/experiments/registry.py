"""All experiments by name, from the files in ``studies``."""

from importlib import import_module
from pkgutil import iter_modules

from fedlab_course.experiments import studies
from fedlab_course.experiments.base import Experiment

_MODULES = [import_module(f"{studies.__name__}.{found.name}") for found in iter_modules(studies.__path__)]
_FOUND = [one for module in _MODULES for one in vars(module).values() if isinstance(one, Experiment)]
EXPERIMENTS = {one.name: one for one in _FOUND}
