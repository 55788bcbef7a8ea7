# mypy: allow-untyped-defs
# ruff: noqa: B023
"""Plain loops of ten algorithms, written from the papers for a test that plants faults in them.

Nothing here comes from the suite but the numbers of a task.
"""

import numpy as np


def run(task):
    """The answer of an adapter."""
    if task.kind == "batchnorm" or task.algorithm not in RUNS:
        raise NotImplementedError(f"no {task.algorithm} with {task.kind}")
    task.loss_at(task.start, task.x[0], task.y[0])  # the task is asked for its problem
    return RUNS[task.algorithm](task)


def outputs(task, k, w, rows):
    x = task.x[k][rows]
    count = 3 if task.kind == "softmax" else 1
    bias = 0.0 if task.kind == "quadratic" else w[-count:]
    return x, x @ w[: count * x.shape[1]].reshape(count, -1).T + bias


def gradient(task, k, w, rows):
    x, output = outputs(task, k, w, rows)
    target = task.y[k][rows]
    if task.kind == "slope":
        outer = -target[:, None]
    elif task.kind == "softmax":
        outer = np.exp(output) / np.exp(output).sum(1, keepdims=True) - np.eye(3)[target]
    else:
        outer = output - target[:, None]
    parts = [(outer.T @ x).ravel() / len(rows)]
    if task.kind != "quadratic":
        parts.append(outer.mean(0))
    return np.concatenate(parts)


def loss(task, k, w):
    everything = np.arange(len(task.y[k]))
    _, output = outputs(task, k, w, everything)
    target = task.y[k]
    if task.kind == "softmax":
        logs = np.log(np.exp(output).sum(1))
        return (logs - output[everything, target]).mean()
    return ((output[:, 0] - target) ** 2).mean() / 2


def batches(task, k):
    samples = np.arange(len(task.y[k]))
    size = task.batch_size or len(samples)
    return [samples[first : first + size] for first in range(0, len(samples), size)]


def local(task, r, k, w, term=lambda y: 0.0):
    """y_k and the number of steps."""
    y = w.copy()
    v = np.zeros_like(w)
    steps = 0
    for _ in range(task.epochs_of(r, k)):
        for rows in batches(task, k):
            v = task.local_momentum * v + gradient(task, k, y, rows) + term(y)
            y = y - task.lr_of(r) * v
            steps += 1
    return y, steps


def weighted(task, cohort, models):
    sizes = np.array([task.sizes[k] for k in cohort], dtype=float)
    return sizes @ np.array(models) / sizes.sum()


def fedavg(task):
    w = task.start.astype(float)
    for r, cohort in enumerate(task.cohorts):
        models = [local(task, r, k, w)[0] for k in cohort]
        w = weighted(task, cohort, models)
        yield w


def fedprox(task):
    w = task.start.astype(float)
    mu = task.parameters["mu"]
    for r, cohort in enumerate(task.cohorts):
        received = w
        models = [local(task, r, k, w, lambda y: mu * (y - received))[0] for k in cohort]
        w = weighted(task, cohort, models)
        yield w


def scaffold(task):
    w = task.start.astype(float)
    c = np.zeros_like(w)
    c_clients = np.zeros((task.num_clients, len(w)))
    answers = {"w": [], "c": [], "c_clients": []}
    for r, cohort in enumerate(task.cohorts):
        change = np.zeros_like(w)
        control = np.zeros_like(w)
        for k in cohort:
            correction = c - c_clients[k]
            y, steps = local(task, r, k, w, lambda y: correction)
            if task.parameters["option"] == 1:
                new = gradient(task, k, w, np.arange(len(task.y[k])))
            else:
                new = c_clients[k] - c + (w - y) / (steps * task.lr_of(r))
            change += (y - w) / len(cohort)
            control += (new - c_clients[k]) / task.num_clients
            c_clients[k] = new
        w = w + task.parameters["server_lr"] * change
        c = c + control
        for name, value in (("w", w), ("c", c), ("c_clients", c_clients.copy())):
            answers[name].append(value)
    return answers


def fednova(task):
    w = task.start.astype(float)
    mu = task.parameters["mu"]
    rho = task.local_momentum
    for r, cohort in enumerate(task.cohorts):
        received = w
        p = np.array([task.sizes[k] for k in cohort]) / sum(task.sizes[k] for k in cohort)
        direction = np.zeros_like(w)
        effective = 0.0
        for share, k in zip(p, cohort, strict=True):
            y, tau = local(task, r, k, w, lambda y: mu * (y - received))
            norm = tau
            if mu:
                norm = (1 - (1 - task.lr_of(r) * mu) ** tau) / (task.lr_of(r) * mu)
            elif rho:
                norm = (tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho)
            direction += share * (w - y) / norm
            effective += share * (tau if mu else norm)
        w = w - effective * direction
        yield w


def fedavgm(task):
    w = task.start.astype(float)
    velocity = np.zeros_like(w)
    for r, cohort in enumerate(task.cohorts):
        change = weighted(task, cohort, [local(task, r, k, w)[0] for k in cohort]) - w
        velocity = task.parameters["beta"] * velocity + change
        w = w + task.parameters["server_lr"] * velocity
        yield w


def adaptive(task):
    w = task.start.astype(float)
    beta1 = task.parameters["beta1"]
    beta2 = task.parameters.get("beta2")
    tau = task.parameters["tau"]
    m = np.zeros_like(w)
    v = np.full_like(w, tau**2)
    for r, cohort in enumerate(task.cohorts):
        change = weighted(task, cohort, [local(task, r, k, w)[0] for k in cohort]) - w
        m = beta1 * m + (1 - beta1) * change
        square = change**2
        if task.algorithm == "FedAdagrad":
            v = v + square
        elif task.algorithm == "FedYogi":
            v = v - (1 - beta2) * square * np.sign(v - square)
        else:
            v = beta2 * v + (1 - beta2) * square
        w = w + task.parameters["server_lr"] * m / (np.sqrt(v) + tau)
        yield w


def feddyn(task):
    w = task.start.astype(float)
    mu = task.parameters["mu"]
    h = np.zeros_like(w)
    h_clients = np.zeros((task.num_clients, len(w)))
    for r, cohort in enumerate(task.cohorts):
        received = w
        models = []
        for k in cohort:
            linear = h_clients[k].copy()
            y, _ = local(task, r, k, w, lambda y: mu * (y - received) - linear)
            h_clients[k] -= mu * (y - w)
            models.append(y)
        h = h - mu * sum(y - w for y in models) / task.num_clients
        w = np.mean(models, axis=0) - h / mu
        yield w


def qfedavg(task):
    w = task.start.astype(float)
    q = task.parameters["q"]
    for r, cohort in enumerate(task.cohorts):
        rate = 1 / task.lr_of(r)
        steps = 0.0
        total = 0.0
        for k in cohort:
            y, _ = local(task, r, k, w)
            d = rate * (w - y)
            value = loss(task, k, w)
            steps = steps + value**q * d
            total += q * value ** (q - 1) * (d @ d) + rate * value**q
        w = w - steps / total
        yield w


RUNS = {
    "FedAvg": fedavg,
    "FedProx": fedprox,
    "Scaffold": scaffold,
    "FedNova": fednova,
    "FedAvgM": fedavgm,
    "FedAdam": adaptive,
    "FedYogi": adaptive,
    "FedAdagrad": adaptive,
    "FedDyn": feddyn,
    "QFedAvg": qfedavg,
}
