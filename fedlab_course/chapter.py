"""The beginning of a chapter: its data, its model and its setting in one call, and whether stored
verdicts apply.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.progress import watched
from fedlab_course import outline

_ = translator(__name__)

_differs: list[str] = []


def begin(
    number: str,
    given: Mapping[str, Any],
    *,
    rounds: tuple[int, int] = (50, 10),
    clients_per_round: tuple[int, int] = (20, 10),
    local_epochs: tuple[int, int] = (5, 2),
    trains: bool = True,
    **further: Any,
) -> tuple[fl.data.Dataset, Callable[..., torch.nn.Module], dict[str, Any]]:
    """Load the data of chapter ``number``, and say in a line or two what is used.

    Return the data set, the function that builds a model, and keywords of ``fl.simulate``.

    ``given``: the chapter's parameters by name, as ``globals()`` has them. They go before the pairs
    here: the value for the digits and full runs, and that for quick runs on large data. ``further``
    settings are passed on. A chapter that ``trains`` nothing says no model and no setting.
    Parameters that differ from their defaults are named here and beside
    each stored verdict.
    """
    defaults = outline.get(number).defaults
    now = {name: given[name] for name in defaults if name in given}
    data = fl.load_dataset(now["dataset"])
    full = now["profile"] == "full"
    build_model = fl.models.cnn_mnist if full else fl.models.mlp
    large = not full and data.name != "digits"
    pairs = {"rounds": rounds, "clients_per_round": clients_per_round, "local_epochs": local_epochs}
    setting = {name: now.get(name) or pair[large] for name, pair in pairs.items()}
    setting |= {"batch_size": 10, "lr": now.get("lr", 0.05), "progress": False} | further
    _differs.clear()
    for name, value in defaults.items():
        if name in now and now[name] != value:
            _differs.append(f"{name}={now[name]}")
    of_data = _("Data: {name}, {train} training and {test} test samples.")
    print(of_data.format(name=data.name, train=len(data.train), test=len(data.test)))
    shown = ", ".join(f"{name}={value}" for name, value in setting.items() if name != "progress")
    if trains:
        of_model = _("Model: {model}. Setting: {setting}.")
        print(of_model.format(model=build_model.__name__, setting=shown))
    if differs():
        changed = _("Changed: {settings}. The text and the stored verdicts speak of the defaults.")
        print(changed.format(settings=differs()))
    if watched():  # on a dark page the script of live charts turns plain figures dark too
        from IPython.display import HTML, display

        from fedlab_course.explore import live  # widgets, which a headless run does not need

        display(HTML(live.page()))
    return data, build_model, setting


def differs() -> str:
    """The parameters of the chapter that has begun which are not at their defaults, such as
    "dataset=mnist", or "".
    """
    # How many seeds are run here, and which row is run again, changes nothing that is stored.
    return ", ".join(setting for setting in _differs if not setting.startswith(("seed", "row=")))
