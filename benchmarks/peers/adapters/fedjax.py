"""FedJAX: ``fedjax.algorithms.fed_avg`` with its default backend, compiled by XLA.

FedJAX fills the last batch of a client from the next epoch, so that all batches have one size.
Where the batch size does not divide the epochs times the samples of a client, it takes fewer steps
and trains on a few samples more.

The convolutions have the layout that XLA is fastest with (channels last), and the pooling is a
reshape with a maximum.
"""

import time

import fedjax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.adapters import protocol

Params = list[tuple[jax.Array, jax.Array] | None]

jax.tree_map = jax.tree_util.tree_map  # its old name, which FedJAX uses


def images(x: np.ndarray) -> np.ndarray:
    """Images with the channels last."""
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def initial(work: protocol.Work) -> dict[str, dict[str, jax.Array]]:
    """The initial weights: a convolution [height, width, in, out], a linear layer [in, out]."""
    found = {}
    channels = None
    for place, (kind, *_) in enumerate(work.layers):
        if kind not in ("convolution", "linear"):
            continue
        weight = work.start[f"{place}.weight"]
        if kind == "convolution":
            channels = len(weight)
            weight = weight.transpose(2, 3, 1, 0)
        elif channels:
            side = int((weight.shape[1] // channels) ** 0.5)
            apart = weight.reshape(-1, channels, side, side)
            weight = apart.transpose(2, 3, 1, 0).reshape(weight.shape[::-1])
            channels = None
        else:
            weight = weight.T
        bias = jnp.array(work.start[f"{place}.bias"])
        found[str(place)] = {"weight": jnp.array(weight), "bias": bias}
    return found


def outputs(
    layers: list[list[object]], params: dict[str, dict[str, jax.Array]], x: jax.Array
) -> jax.Array:
    """The logits of a batch."""
    for place, (kind, *_) in enumerate(layers):
        own = params.get(str(place))
        if kind == "convolution":
            layout = ("NHWC", "HWIO", "NHWC")
            x = jax.lax.conv_general_dilated(
                x, own["weight"], (1, 1), "VALID", dimension_numbers=layout
            )
            x = x + own["bias"]
        elif kind == "linear":
            x = x @ own["weight"] + own["bias"]
        elif kind == "relu":
            x = jax.nn.relu(x)
        elif kind == "maxpool":
            n, height, width, channels = x.shape
            x = x.reshape(n, height // 2, 2, width // 2, 2, channels).max((2, 4))
        elif kind == "flatten":
            x = x.reshape(len(x), -1)
    return x


def run(work: protocol.Work, options: protocol.Options) -> protocol.Report:
    def loss(params: dict[str, dict[str, jax.Array]], batch: dict[str, jax.Array]) -> jax.Array:
        log_probabilities = jax.nn.log_softmax(outputs(work.layers, params, batch["x"]))
        return -jnp.take_along_axis(log_probabilities, batch["y"][:, None], axis=1).mean()

    gradient = jax.jit(jax.grad(loss))
    hyperparameters = fedjax.ShuffleRepeatBatchHParams(
        batch_size=work.batch_size, num_epochs=work.epochs
    )
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(
        lambda params, batch, key: gradient(params, batch),
        fedjax.optimizers.sgd(work.lr),
        fedjax.optimizers.sgd(1.0),
        hyperparameters,
    )
    pairs = [work.client(k) for k in range(len(work.parts))]
    data = [fedjax.ClientDataset({"x": images(x), "y": y.astype(np.int32)}) for x, y in pairs]
    state = algorithm.init(initial(work))
    seconds = []
    samples = 0
    for cohort in work.cohorts[: options.rounds + 1].tolist():
        began = time.perf_counter()
        state, _ = algorithm.apply(state, [(k, data[k], jax.random.PRNGKey(k)) for k in cohort])
        jax.block_until_ready(state.params)
        seconds.append(time.perf_counter() - began)
        samples += sum(
            len(batch["y"])
            for k in cohort
            for batch in data[k].shuffle_repeat_batch(hyperparameters)
        )
    predicted = outputs(work.layers, state.params, jnp.array(images(work.test_x))).argmax(1)
    accuracy = float((np.array(predicted) == work.test_y).mean())
    versions = protocol.versions("fedjax", "jax", "jaxlib", "numpy")
    return protocol.Report(seconds[1:], samples, accuracy, versions)


if __name__ == "__main__":
    protocol.main(run)
