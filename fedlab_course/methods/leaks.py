"""What the move y_k − w of a client tells about its labels, read off the last layer."""

from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn import metrics
from torch import nn

import fedlab_core as fl
from fedlab_core import validation
from fedlab_course.methods import probes


def moves(
    fed: fl.FederatedDataset, model: nn.Module, start: torch.Tensor | None = None, **work: Any
) -> tuple[torch.Tensor, np.ndarray]:
    """The moves y_k − w [N, P] of all clients, and the steps τ_k [N] that each took.

    They train from ``start`` [P], or from the weights of ``model``. ``work``: further arguments of
    :func:`probes.train`; without any this is the probe of FedSSO.
    """
    w = nn.utils.parameters_to_vector(model.parameters()).detach() if start is None else start
    updates = probes.train(fed, model, w, **work)
    return updates.params - w, updates.num_steps.double().numpy()


def scores(moves: torch.Tensor, model: nn.Module, rule: str = "bias") -> np.ndarray:
    """A number [N, C] for each client and label, from the ``moves`` y_k − w [N, P] of a classifier.

    ``rule`` "bias": how far the bias of a label has moved; "row": the sum of that and of the
    label's weights. After plain SGD on the cross-entropy, with inputs of the layer ≥ 0, both are at
    most 0 for a label that the client does not hold. The last layer must be linear, with a bias.
    Raises ``ValueError`` for another rule.
    """
    validation.choice("rule", rule, ("bias", "row"))
    *_, weight, bias = model.parameters()
    weights = moves[:, -len(bias) - weight.numel() : -len(bias)]
    moved = moves[:, -len(bias) :]
    if rule == "row":
        moved = moved + weights.reshape(len(moves), *weight.shape).sum(2)
    return moved.double().cpu().numpy()


def label_mixes(fed: fl.FederatedDataset) -> np.ndarray:
    """The true label mix p_k of each client, [N, C]."""
    counts = fed.heterogeneity().label_counts
    return counts / counts.sum(axis=1, keepdims=True)


class Named(NamedTuple):
    """How well labels were named: ``exact``, the share of clients whose set of labels is right to
    the last one.

    ``precision``: of the labels named, the share that is held; ``recall``: of the labels held, the
    share that is named; ``main``: the share of clients whose highest score is that of a label which
    it holds most of.
    """

    exact: float
    precision: float
    recall: float
    main: float


def named(found: np.ndarray, mixes: np.ndarray) -> Named:
    """Name the labels with a positive score in ``found`` [N, C], and compare with the true
    ``mixes`` [N, C].
    """
    said = found > 0
    held = mixes > 0
    best = np.take_along_axis(mixes, found.argmax(1)[:, None], axis=1)[:, 0]
    return Named(
        exact=metrics.accuracy_score(held, said),
        precision=metrics.precision_score(held, said, average="micro", zero_division=np.nan),
        recall=metrics.recall_score(held, said, average="micro"),
        main=float((best == mixes.max(1)).mean()),
    )


def mixes_from(
    bias_moves: np.ndarray, outputs: np.ndarray, lr: float, num_steps: np.ndarray
) -> np.ndarray:
    """The label mixes [N, C] that would explain ``bias_moves`` [N, C] after ``num_steps`` τ_k [N]
    of rate ``lr``.

    A step moves the bias of label c by η (share of c in the batch − mean probability that the model
    gives c), so that p_k(c) is about move/(η τ_k) plus that probability; ``outputs`` [C] is the
    server's guess of it, such as the mean over samples of its own. Clipped at 0, and made to sum to
    1.
    """
    mixes = np.clip(bias_moves / (lr * num_steps[:, None]) + outputs, 0, None)
    return mixes / mixes.sum(axis=1, keepdims=True)
