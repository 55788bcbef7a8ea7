"""FedJAX (PyPI 0.0.17 with jax 0.10.2): ``fedjax.algorithms.fed_avg`` with the optimisers of
``fedjax.optimizers``.

The server's optimiser makes FedAvg (SGD of rate 1), FedAvgM (SGD with momentum), FedAdam and
FedYogi of it; the start of v cannot be set. Local training and aggregation are FedJAX's own.

Requirements: fedjax 0.0.17 with all its dependencies, and jax 0.10.2.
"""

import functools

import fedjax
import jax
import jax.numpy as jnp
import numpy as np

REQUIRES = ["fedjax==0.0.17", "jax==0.10.2"]
SHUFFLES = "FedJAX draws the order of the samples"
CHANGES = {
    "batch size": "where the task has none, the batch size is the number of samples",
    "model": "the loss is written in jax, as FedJAX asks",
}
jax.config.update("jax_enable_x64", True)
jax.tree_map = jax.tree_util.tree_map  # its old name, which FedJAX uses


@functools.cache
def gradient(kind, outputs, features):
    """The gradient of the task's loss, by jax; one for all tasks
    of a kind, so that it is compiled once.
    """

    def loss(w, batch):
        output = batch["x"] @ w[: outputs * features].reshape(outputs, features).T
        output = output if kind == "quadratic" else output + w[outputs * features :]
        if kind != "softmax":
            return ((output[:, 0] - batch["y"]) ** 2).mean() / 2
        return -jnp.take_along_axis(jax.nn.log_softmax(output), batch["y"][:, None], axis=1).mean()

    return lambda w, batch, rng: jax.grad(loss)(w, batch)


def run(task):
    if len(set(task.sizes)) > 1 and task.batch_size is None:
        raise NotImplementedError("all clients have one batch size")
    outputs = 3 if task.kind == "softmax" else 1
    settings = task.parameters
    sgd = functools.partial(fedjax.optimizers.sgd, momentum=task.local_momentum or None)
    rate = settings.get("server_lr", 1.0)
    adaptive = {}
    if task.algorithm in ("FedAdam", "FedYogi"):
        adaptive = {"b1": settings["beta1"], "b2": settings["beta2"], "eps": settings["tau"]}
    if task.algorithm == "FedAvg":
        server = fedjax.optimizers.sgd(1.0)
    elif task.algorithm == "FedAvgM":
        server = fedjax.optimizers.sgd(rate, momentum=settings["beta"])
    elif task.algorithm == "FedAdam":
        server = fedjax.optimizers.adam(rate, **adaptive)
    elif task.algorithm == "FedYogi":
        server = fedjax.optimizers.yogi(rate, **adaptive)
    else:
        raise NotImplementedError(f"FedJAX has no {task.algorithm}")
    work = fedjax.ShuffleRepeatBatchHParams(
        batch_size=task.batch_size or task.sizes[0], num_epochs=task.epochs
    )
    grad_fn = gradient(task.kind, outputs, task.x[0].shape[1])
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(grad_fn, sgd(task.lr), server, work)
    state = algorithm.init(jnp.array(task.start))
    after = []
    data = [fedjax.ClientDataset({"x": x, "y": y}) for x, y in zip(task.x, task.y, strict=True)]
    for cohort in task.cohorts:
        state, _ = algorithm.apply(state, [(k, data[k], jax.random.PRNGKey(0)) for k in cohort])
        after.append(np.array(state.params))
    return after
