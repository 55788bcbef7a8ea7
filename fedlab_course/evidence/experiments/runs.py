"""One run of the library inside an experiment, measured as the runs of a sweep are."""

from typing import Any

import pandas as pd
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.simulation import Diverged
from fedlab_course.evidence import measures
from fedlab_course.evidence.experiments.base import Row


def measured(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **settings: Any
) -> tuple[Row, pd.DataFrame]:
    """The measures of a run and its curve, see :func:`fedlab_course.evidence.measures.tables`, and ``diverged``."""
    simulation = fl.Simulation(fed, model, algorithm, **settings, progress=False)
    try:
        history, diverged = simulation.run(), False
    except Diverged as error:
        history, diverged = error.history, True
    curve = measures.curve(history, history.config)
    found = measures.measured(history, curve, history.config)
    del found["seconds"], found["rounds_to_target"]
    return found | {"diverged": diverged}, curve


def parameters(simulation: fl.Simulation) -> torch.Tensor:
    """The global parameters [P] after the latest round, of which there has to be one."""
    found = simulation.history.params
    assert found is not None
    return found
