"""A race at a rate that may be too large for a method."""

from typing import Any

import fedlab_core as fl
from fedlab_core.language import translator

_ = translator(__name__)


def history(fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, **work: Any) -> fl.History:
    """The history of a run; of one that diverges, its rounds until then.

    ``work``: keywords of :func:`fedlab_core.simulate`.
    """
    try:
        return fl.simulate(fed, model, rule, **work)
    except fl.Diverged as stopped:
        words = _("{name} diverged in round {round} at η = {lr:g}.")
        print(words.format(name=stopped.algorithm, round=stopped.round, lr=stopped.lr))
        return stopped.history
