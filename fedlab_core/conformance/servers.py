"""Optimisers on the server: FedAvgM, FedAdam, FedYogi; and q-FedAvg. Right, or with known mistakes.

The equations are those of the modules of the same names in ``fedlab_core.algorithms``, which cite the papers.
"""

from collections.abc import Iterator

import numpy as np

from fedlab_core.conformance.averaging import Answer
from fedlab_core.conformance.local import LAST, MEANS, TRAINING, Clients, Wrong, loss, mean
from fedlab_core.conformance.task import Task

NO_RATE = "the server rate η_g is missing"
NOT_KEPT = "the server's momentum is not kept from round to round"
DAMPENED = "the mean change enters the momentum with the factor 1 − β"
NOT_DAMPENED = "the mean change enters the momentum without the factor 1 − β₁"
NESTEROV = "the server's momentum is Nesterov's"
FIRST_UNDAMPED = "the velocity of round 1 is the mean change, and later ones have the factor 1 − β"
FEDAVGM = (*TRAINING, *MEANS, NO_RATE, NOT_KEPT, DAMPENED, NESTEROV, FIRST_UNDAMPED)


def fedavgm(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """v ← β v + Δ, w ← w + η_g v, Δ the mean change of the clients."""
    clients, w, velocity = Clients(task, wrong), task.start, np.zeros_like(task.start)
    beta, rate = task.parameters["beta"], 1.0 if NO_RATE in wrong else task.parameters["server_lr"]
    for number, cohort in enumerate(task.cohorts):
        change = mean(task, cohort, [clients.train(k, w) for k in cohort], w, wrong) - w
        dampened = DAMPENED in wrong or (FIRST_UNDAMPED in wrong and number > 0)
        velocity = (0.0 if NOT_KEPT in wrong else beta) * velocity + (1 - beta if dampened else 1) * change
        w = w + rate * (change + beta * velocity if NESTEROV in wrong else velocity)
        yield {"w": w}


V_ZERO = "v starts at 0, where the paper asks for at least τ²"
BIAS = "m and v are divided by 1 − βᵗ (Adam's bias correction), which the paper leaves out"
BIAS_LATE = "the step is multiplied by √(1 − β₂ᵗ⁺¹) / (1 − β₁ᵗ⁺¹), t = 1 in round 1; the paper leaves such a factor out"
INSIDE = "τ stands under the root: √(v + τ)"
SQUARE_INSIDE = "τ² stands under the root: √(v + τ²)"
ADAM_V = "v is Adam's, not Yogi's"
YOGI_SIGN = "the sign of Yogi's change of v is wrong"
TAU_START = "v starts at τ, not at τ²"
FEDADAM = (*TRAINING, *MEANS, NO_RATE, NOT_DAMPENED, V_ZERO, BIAS, BIAS_LATE, INSIDE, SQUARE_INSIDE, TAU_START)
FEDYOGI = (*FEDADAM, ADAM_V, YOGI_SIGN)


def fedadam(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """m ← β₁ m + (1 − β₁) Δ, v ← β₂ v + (1 − β₂) Δ² (or Yogi's v), w ← w + η_g m / (√v + τ)."""
    clients, w, settings = Clients(task, wrong), task.start, task.parameters
    beta1, beta2, tau = settings["beta1"], settings["beta2"], settings["tau"]
    rate = 1.0 if NO_RATE in wrong else settings["server_lr"]
    m, v = np.zeros_like(w), np.full_like(w, 0.0 if V_ZERO in wrong else tau if TAU_START in wrong else tau**2)
    for number, cohort in enumerate(task.cohorts, start=1):
        change = mean(task, cohort, [clients.train(k, w) for k in cohort], w, wrong) - w
        m = beta1 * m + (1.0 if NOT_DAMPENED in wrong else 1 - beta1) * change
        if task.algorithm == "FedAdam" or ADAM_V in wrong:
            v = beta2 * v + (1 - beta2) * change**2
        else:
            sign = np.sign(v - change**2) * (-1 if YOGI_SIGN in wrong else 1)
            v = v - (1 - beta2) * change**2 * sign
        right = (1 - beta1**number, 1 - beta2**number) if BIAS in wrong else (1.0, 1.0)
        late = (1 - beta2 ** (number + 1)) ** 0.5 / (1 - beta1 ** (number + 1)) if BIAS_LATE in wrong else 1.0
        inside = tau if INSIDE in wrong else tau**2 if SQUARE_INSIDE in wrong else 0.0
        root = np.sqrt(np.maximum(v / right[1], 0) + inside)
        w = w + late * rate * m / right[0] / (root if inside else root + tau)
        yield {"w": w}


LOSS_AFTER = "F_k is the loss of the trained model y_k, not of the w that was sent"
LOSS_SUM = (
    "F_k is the sum of the batch losses of the last epoch, at the moving model, not the loss of the w that was sent"
)
NO_SQUARE = "h_k has ‖d_k‖ where ‖d_k‖² is due"
UNIT_L = "L = 1 where L = 1/η is due"
NO_CURVATURE = "h_k is L F_k^q alone: the term q F_k^(q−1) ‖d_k‖² is missing"
WEIGHTED = "n_k weights are taken where the clients count alike"
NOT_Q = "the power of F_k is 1, whatever q"
QFEDAVG = (*TRAINING, LAST, LOSS_AFTER, LOSS_SUM, NO_SQUARE, UNIT_L, NO_CURVATURE, WEIGHTED, NOT_Q)


def qfedavg(task: Task, wrong: Wrong) -> Iterator[Answer]:
    """w ← w − Σ F_k^q d_k / Σ h_k, d_k = L (w − y_k), h_k = q F_k^(q−1) ‖d_k‖² + L F_k^q, L = 1/η."""
    clients, w, q = Clients(task, wrong), task.start, 1.0 if NOT_Q in wrong else task.parameters["q"]
    lipschitz = 1.0 if UNIT_L in wrong else 1 / task.lr
    for cohort in task.cohorts:
        steps, weights = np.zeros_like(w), 0.0
        for k in cohort[-1:] if LAST in wrong else cohort:
            y = clients.train(k, w)
            d, value = lipschitz * (w - y), loss(task, k, y if LOSS_AFTER in wrong else w)
            if LOSS_SUM in wrong:
                value = sum(loss(task, k, point) for point in clients.path[-(len(clients.path) // task.epochs) :])
            size = np.linalg.norm(d) ** (1 if NO_SQUARE in wrong else 2)
            share = task.sizes[k] if WEIGHTED in wrong else 1
            steps = steps + share * value**q * d
            weights += share * ((0 if NO_CURVATURE in wrong else q * value ** (q - 1) * size) + lipschitz * value**q)
        w = w - steps / weights
        yield {"w": w}
