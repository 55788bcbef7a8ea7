"""A race at a rate that may be too large for a method."""

from typing import Any

import fedlab_core as fl


def history(fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, **work: Any) -> fl.History:
    """The history of a run; of one that diverges, its rounds until then.

    ``work``: keywords of :func:`fedlab_core.simulate`.
    """
    try:
        return fl.simulate(fed, model, rule, **work)
    except fl.Diverged as stopped:
        print(f"{stopped.algorithm} diverged in round {stopped.round} at η = {stopped.lr:g}.")
        return stopped.history
