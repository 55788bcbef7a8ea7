# mypy: allow-untyped-defs
"""Exercises of chapter 14: a memory for what was not sent, bytes, labels read off a bias, and why that works."""

import numpy as np

from fedlab_course.exercises.base import Exercise, Mistake, Proof
from fedlab_course.exercises.tools import array, call, close, number, require, shown


def send(move, residual, count):
    """What a client sends, only `count` entries of it not zero, and what it keeps for its next round."""
    ### BEGIN SOLUTION
    wanted = move + residual
    sent = np.zeros_like(wanted)
    places = np.argsort(-np.abs(wanted))[:count]
    sent[places] = wanted[places]
    return sent, wanted - sent
    ### END SOLUTION


def check_send(answer):
    def found(move, residual, count):
        result = call(answer, np.array(move), np.array(residual), count)
        require(isinstance(result, tuple) and len(result) == 2, "Return two things: what is sent, and what is kept.")
        return array(result[0], (len(move),), "what is sent"), array(result[1], (len(move),), "what is kept")

    sent, kept = found([1.0, -4.0, 2.0], [0.0, 0.0, 0.0], 1)
    require(close(sent, [0, -4, 0]), f"The largest entry in absolute value is −4. Yours sends {shown(sent)}.")
    require(not close(kept, 0), "Nothing is kept of what was not sent: the next round cannot make up for it.")
    require(close(kept, [1, 0, 2]), f"Sent and kept together must be all that was wanted. Yours keeps {shown(kept)}.")
    sent, kept = found([1.0, 0.0, 3.0], [2.5, 0.0, 0.0], 1)
    require(
        close(sent, [3.5, 0, 0]),
        f"What was kept counts from now on: 1 + 2.5 is more than 3. Yours sends {shown(sent)}.",
    )
    require(close(kept, [0, 0, 3]), f"Once an entry is sent, nothing of it is kept. Yours keeps {shown(kept)}.")


_LATE = Proof(
    id="14-late",
    title="Late, but not lost",
    task=r"""All clients take part in each round with equal weights, and FedAvg runs with error feedback. Let
$\bar e^t$ be the mean of what the clients keep after round $t$. Show that $w^t + \bar e^t$ is where the moves of
rounds 1 to $t$ would have led if all of each had been sent, and that $\bar e^t$ alone separates the two.""",
    solution=r"""Client $k$ wants to send $\Delta_k^t + e_k^{t-1}$, sends a part of it and keeps the rest, so what it
sends is $\Delta_k^t + e_k^{t-1} - e_k^t$. The server adds the mean: $w^t = w^{t-1} + \bar\Delta^t + \bar e^{t-1} -
\bar e^t$. Hence $w^t + \bar e^t = (w^{t-1} + \bar e^{t-1}) + \bar\Delta^t$. From $\bar e^0 = 0$ we add up to $w^t +
\bar e^t = w^0 + \sum_{j \le t} \bar\Delta^j$.

Note what this does not say. The moves $\Delta_k^j$ are those computed at the models that were really sent, so
the sum is not the path of FedAvg without compression. What is delayed acts on later moves.""",
)


def upload_bytes(num_parameters, keep=1.0, bits=32):
    """Bytes that a client sends up: entries of `bits` bits, indices of 4 bytes, a scale of 4 bytes."""
    ### BEGIN SOLUTION
    count = max(1, round(keep * num_parameters))
    values = -(-count * bits // 8)
    indices = 4 * count if count < num_parameters else 0
    scale = 4 if bits < 32 else 0
    return values + indices + scale
    ### END SOLUTION


def check_upload_bytes(answer):
    def found(*given):
        return number(call(answer, *given), "the number of bytes")

    plain = found(1000)
    require(close(plain, 4000), f"1000 numbers of 32 bits are 4000 bytes. Yours: {shown(plain)}.")
    eighth = found(1000, 1.0, 8)
    require(
        not close(eighth, 1000),
        "The server must know what the largest level means: one scale of 4 bytes goes with numbers of few bits.",
    )
    require(close(eighth, 1004), f"1000 numbers of 8 bits and a scale are 1004 bytes. Yours: {shown(eighth)}.")
    tenth = found(1000, 0.1)
    require(not close(tenth, 400), "Which 100 of the 1000 are they? Each value needs its index.")
    require(close(tenth, 800), f"100 values and 100 indices of 4 bytes are 800 bytes. Yours: {shown(tenth)}.")
    odd = found(10, 1.0, 3)
    require(close(odd, 8), f"Ten numbers of 3 bits are 30 bits: 4 whole bytes, and the scale. Yours: {shown(odd)}.")


def labels_seen(bias_before, bias_after):
    """The labels, in increasing order, that the client holds for sure, from the last bias before and after."""
    ### BEGIN SOLUTION
    return np.flatnonzero(bias_after > bias_before)
    ### END SOLUTION


def check_labels_seen(answer):
    def found(before, after):
        return call(answer, np.array(before), np.array(after))

    two = found([0.0, 0.0, 0.0, 0.0], [-0.1, 0.3, -0.1, 0.2])
    require(len(np.atleast_1d(two)) == 2, "Two of the four biases rise here, so two labels are held for sure.")
    require(
        close(np.sort(two), [1, 3]), f"A label that is not held can only fall: look for those that rise. Yours:
{two}."
    )
    moved = found([0.5, -0.5, 0.2], [0.4, -0.1, 0.1])
    require(
        close(np.atleast_1d(moved), [1]),
        "It is the move that tells, not where the bias stands: compare with the model that was sent.",
    )


_FALLS = Proof(
    id="14-falls",
    title="A label that is not held",
    task=r"""A classifier ends in a linear layer with bias and is trained by plain SGD on the cross-entropy. Show
that the
bias of a label that the client does not hold falls in every local step, whatever the batch, the rate and the
layers below. Conclude what a bias that has risen tells. Why does the converse fail?""",
    solution=r"""For one sample with label $y$ the derivative of the cross-entropy with respect to the logit of
label $c$
is $p_c(x) - [y = c]$, where $p_c(x) > 0$ is the probability that the model gives $c$. The bias is added to the logit,
so the gradient of the bias on a batch is the mean of that. If the client holds no sample of $c$, the bracket is
always
0, the gradient is the mean of the $p_c(x)$, which is positive, and the step lowers the bias. This holds step by step,
for whatever model the client has reached by then, and thus for a whole round.

So a bias that has risen belongs to a label that the client holds, for sure. The converse fails: the bias of a
label that
it does hold falls too, if the model expects that label more often than the batches show it.""",
)


EXERCISES = (
    Exercise(
        id="14-send",
        title="A memory for what was not sent",
        task=r"""Write what a client does with error feedback. It adds what it kept to its move, sends the `count`
largest
entries in absolute value, and keeps the rest. What must the sum of the two results be?""",
        missing="what is sent and what is kept",
        solution=send,
        check=check_send,
        points=2,
        mistakes=(
            Mistake("wanted = move + residual", "wanted = move", "What was kept counts"),
            Mistake("np.argsort(-np.abs(wanted))", "np.argsort(-wanted)", "absolute value"),
            Mistake("np.argsort(-np.abs(wanted))", "np.argsort(np.abs(wanted))", "absolute value"),
            Mistake("return sent, wanted - sent", "return sent, np.zeros_like(sent)", "Nothing is kept"),
            Mistake("return sent, wanted - sent", "return sent, wanted", "together must be all"),
        ),
        discussion="The sum is the move and what was kept before: nothing is lost, some of it is late.",
    ),
    _LATE,
    Exercise(
        id="14-bytes",
        title="Count the bytes",
        task=r"""Write how many bytes a client sends up if it keeps a share `keep` of its entries, each in `bits`
bits. A
value needs its index unless all are sent, and numbers of fewer than 32 bits need one scale. From which share
on does it cost more to send the entries with their indices than all of them without?""",
        missing="the number of bytes",
        solution=upload_bytes,
        check=check_upload_bytes,
        mistakes=(
            Mistake("indices = 4 * count if count < num_parameters else 0", "indices = 0", "needs its index"),
            Mistake("scale = 4 if bits < 32 else 0", "scale = 0", "what the largest level means"),
            Mistake("if count < num_parameters else 0", "", "4000 bytes"),
            Mistake("-(-count * bits // 8)", "count * bits // 8", "whole bytes"),
        ),
        discussion=(
            "With values of 4 bytes each entry costs 8 with its index, so a half is as dear as all. With 8 bits an "
            "entry costs 1 byte and its index 4, and only a fifth breaks even: the finer the values are cut, the more the "
            "indices weigh."
        ),
    ),
    Exercise(
        id="14-labels",
        title="Read the labels",
        task=r"""You are the server. You sent a model and got one back. Write which labels the client holds for sure,
from the biases of the last layer alone.""",
        missing="the labels",
        solution=labels_seen,
        check=check_labels_seen,
        mistakes=(
            Mistake("bias_after > bias_before", "bias_after < bias_before", "look for those that rise"),
            Mistake("bias_after > bias_before", "bias_after > 0", "It is the move that tells"),
            Mistake("np.flatnonzero(bias_after > bias_before)", "np.argmax(bias_after)", "Two of the four"),
        ),
        discussion="One comparison for each label: no optimisation, no second model, and nothing that the client
sees.",
    ),
    _FALLS,
)
