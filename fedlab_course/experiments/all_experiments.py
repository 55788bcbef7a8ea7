"""All experiments by name, from the files in ``studies``."""

from importlib import import_module
from pkgutil import iter_modules

from fedlab_course.experiments import studies
from fedlab_course.experiments.base import Experiment

_MODULES = [
    import_module(f"{studies.__name__}.{module.name}") for module in iter_modules(studies.__path__)
]
_VALUES = [value for module in _MODULES for value in vars(module).values()]
EXPERIMENTS = {value.name: value for value in _VALUES if isinstance(value, Experiment)}
