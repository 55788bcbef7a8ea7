# mypy: allow-untyped-defs
"""Exercises of chapter 14: a memory for what was not sent, labels read off a bias, and why that works."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, call, close, pair, require, shown


def send(move, residual, count):
    """What a client sends, with `count` entries that are not zero, and what it keeps."""
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
        sent, kept = pair(result, "Return two things: what is sent, and what is kept.")
        return array(sent, (len(move),), "what is sent"), array(kept, (len(move),), "what is kept")

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


def labels_seen(bias_before, bias_after):
    """The labels that the client holds for sure, in increasing order."""
    ### BEGIN SOLUTION
    return np.flatnonzero(bias_after > bias_before)
    ### END SOLUTION


def check_labels_seen(answer):
    def found(before, after):
        return call(answer, np.array(before), np.array(after))

    two = found([0.0, 0.0, 0.0, 0.0], [-0.1, 0.3, -0.1, 0.2])
    require(len(np.atleast_1d(two)) == 2, "Two of the four biases rise here, so two labels are held for sure.")
    require(
        close(np.sort(two), [1, 3]), f"A label that is not held can only fall: look for those that rise. Yours: {two}."
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
        discussion="One comparison for each label: no optimisation, no second model, and nothing that the client sees.",
    ),
    _FALLS,
)
