"""Names for values whose keys are known, but whose Python types depend on the key."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

# Arguments by name, checked and in their final form, ready for a call with ``**``.
Keywords: TypeAlias = dict[str, Any]
# Arguments by name as a person gives them: values, or texts to be read.
Given: TypeAlias = Mapping[str, Any]
# The configuration of a run, or a part of it, as JSON has it.
Config: TypeAlias = dict[str, Any]
# ``server.state``: tensors [P] or [N], client tables [N, P], and values that JSON can hold.
AlgorithmState: TypeAlias = dict[str, Any]
# The state of a run: its configuration, counts, parameters and the algorithm's state.
RunState: TypeAlias = dict[str, Any]
# Labels, targets or indices, one for each sample.
Column: TypeAlias = torch.Tensor | np.ndarray | Sequence[Any]
