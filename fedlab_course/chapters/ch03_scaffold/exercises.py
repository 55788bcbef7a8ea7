# mypy: allow-untyped-defs
"""Exercises of chapter 3: the corrected step, where it comes to rest, the control variate, and the server."""

import numpy as np

from fedlab_course.check.base import Exercise, Hint, Mistake
from fedlab_course.check.tools import array, call, close, require, shown


def scaffold_step(y, gradient, c, c_k, lr):
    """The local parameters after one step of SCAFFOLD from y."""
    ### BEGIN SOLUTION
    return y - lr * (gradient + c - c_k)
    ### END SOLUTION


def check_scaffold_step(answer):
    y, slope = np.array([1.0, 2.0]), np.array([0.3, -0.2])
    c, own, none = np.array([0.5, 0.1]), np.array([-0.4, 0.7]), np.zeros(2)

    def found(gradient, c, c_k):
        return array(call(answer, y, gradient, c, c_k, 0.1), (2,))

    require(
        close(found(slope, none, none), y - 0.1 * slope),
        "In round 1 all controls are zero, and a step must be that of FedAvg, y − η g. Yours is not.",
    )
    result = found(slope, c, own)
    require(
        not close(result, y - 0.1 * slope),
        "Your step is that of FedAvg whatever c and c_k are: the correction is never applied.",
    )
    require(
        not close(result, y - 0.1 * slope - (c - own)),
        "The correction is part of the gradient, so it is multiplied by η as well.",
    )
    require(
        not close(result, y - 0.1 * slope + (c - own)),
        "Your correction is added after the step, and not multiplied by η. Which parentheses does the formula have?",
    )
    require(
        close(found(slope, own, own), y - 0.1 * slope),
        "For c_k = c the client is like everybody and needs no correction: the step must be y − η g. Yours is not. "
        "Do both controls enter, and with opposite signs?",
    )
    require(
        close(found(own, none, own), y),
        "At the optimum a client's gradient is c_k, and c is zero. Then it must stay where it is. "
        "Yours moves: which of the two controls is subtracted?",
    )
    require(
        close(result, y - 0.1 * (slope + c - own)),
        f"The corrected gradient is {shown(slope + c - own)} here, and all of it is multiplied by η.",
    )


def renewed_control(c_k, c, w, y, num_steps, lr):
    """The control variate c_k⁺ of option 2, after num_steps steps from w to y."""
    ### BEGIN SOLUTION
    return c_k - c + (w - y) / (num_steps * lr)
    ### END SOLUTION


def check_renewed_control(answer):
    raw = np.array([[0.3, -0.2], [0.6, 0.2], [0.9, 0.6], [0.2, -0.2]])  # the gradients met on the way
    mean, w, none = raw.mean(0), np.array([1.0, 2.0]), np.zeros(2)

    def found(c_k, c, gradients=raw):
        y = w - 0.1 * (gradients + c - c_k).sum(0)
        return array(call(answer, c_k, c, w, y, len(gradients), 0.1), (2,))

    first = found(none, none)
    require(
        not close(first, -mean),
        f"The gradients of this client have the mean {shown(mean)}, and your control is its negative. "
        "A client walks against its gradients: which way is w − y?",
    )
    require(
        not close(first, 0.1 * mean),
        "Your control is η times too small. The move is η times the sum of the gradients, so divide by η as well.",
    )
    require(
        not close(first, 4 * mean),
        "Your control is the sum of the four gradients, not their mean. Divide by the steps that the client "
        "really took.",
    )
    require(
        close(first, mean),
        f"With zero controls the new c_k must be the mean {shown(mean)} of the gradients on the way. Yours is "
        f"{shown(first)}.",
    )
    c, own = np.array([0.5, 0.1]), np.array([-0.4, 0.7])
    result = found(own, c)
    require(
        not close(result, mean + c - own),
        "With c and c_k not zero the move also holds the correction c − c_k. You leave it in: subtract c, and add c_k.",
    )
    require(
        close(result, mean),
        f"Right while controls are zero. Otherwise the new c_k is still the mean {shown(mean)} of the raw gradients, "
        f"and yours is {shown(result)}: are the signs of c and of c_k the right way round?",
    )


def server_update(w, c, local, before, after, num_clients):
    """The new w [P] and the new c [P].

    Of the cohort: local [K, P], and the controls before and after the round, [K, P].
    """
    ### BEGIN SOLUTION
    new_w = w + (local - w).mean(axis=0)
    new_c = c + (after - before).sum(axis=0) / num_clients
    return new_w, new_c
    ### END SOLUTION


def check_server_update(answer):
    clients = np.array([[0.4, 1.0], [-0.8, 0.6], [0.2, -0.4], [1.0, 2.0], [0.7, -1.2]])  # all N = 5 controls
    w, local, fresh = np.array([1.0, 2.0]), np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([[2.0, 1.0], [0.5, -1.0]])

    def found(before, after, c):
        result = call(answer, w, c, local, before, after, len(clients))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise Hint("Return two arrays, the new w and the new c: `return new_w, new_c`.")
        return array(result[0], (2,), "the new w"), array(result[1], (2,), "the new c")

    c = clients.mean(0)
    new_w, same = found(clients[:2], clients[:2], c)
    require(
        close(new_w, local.mean(0)),
        f"The new w must be the plain mean {shown(local.mean(0))} of the y_k, and yours is {shown(new_w)}.",
    )
    require(
        close(same, c),
        f"No client of the cohort changed its control, so c must stay {shown(c)}. Yours is {shown(same)}: "
        "add what has changed to the old c.",
    )
    new_c = found(clients[:2], fresh, c)[1]
    change = (fresh - clients[:2]).sum(0)
    mean = (fresh.sum(0) + clients[2:].sum(0)) / len(clients)
    invariant = f"Before the round c was the mean of all five c_k. After it the mean is {shown(mean)}, and your c is "
    require(not close(new_c, c), "The controls of two clients have changed, and your c stays what it was.")
    require(
        not close(new_c, c - change / 5), "Your c moves by the right amount in the wrong direction: after − before."
    )
    require(
        not close(new_c, c + change / 2),
        f"{invariant}{shown(new_c)}. You divide by the cohort |S|; the clients that were not asked count too.",
    )
    require(
        not close(new_c, c + change),
        f"{invariant}{shown(new_c)}. You add the sum of all changes: a mean over N clients changes by an Nth of it.",
    )
    require(close(new_c, mean), f"{invariant}{shown(new_c)}.")


EXERCISES = (
    Exercise(
        id="03-step",
        solution=scaffold_step,
        check=check_scaffold_step,
        mistakes=(
            Mistake("c - c_k", "c_k - c", "which of the two controls is subtracted"),
            Mistake(" + c - c_k", "", "never applied"),
            Mistake(" + c - c_k", " - c_k", "Do both controls enter"),
            Mistake("lr * (gradient + c - c_k)", "lr * gradient - (c - c_k)", "multiplied by η as well"),
            Mistake("lr * (gradient + c - c_k)", "lr * gradient + c - c_k", "Which parentheses"),
            Mistake("lr * (", "(", "In round 1"),
        ),
    ),
    Exercise(
        id="03-control",
        solution=renewed_control,
        check=check_renewed_control,
        mistakes=(
            Mistake("(w - y)", "(y - w)", "its negative"),
            Mistake("(num_steps * lr)", "num_steps", "divide by η as well"),
            Mistake("(num_steps * lr)", "lr", "really took"),
            Mistake("c_k - c + ", "", "You leave it in"),
            Mistake("c_k - c + ", "c - c_k + ", "the right way round"),
            Mistake("(num_steps * lr)", "num_steps * lr", "With zero controls"),
        ),
    ),
    Exercise(
        id="03-server",
        solution=server_update,
        check=check_server_update,
        mistakes=(
            Mistake("/ num_clients", "/ len(local)", "divide by the cohort"),
            Mistake(" / num_clients", "", "the sum of all changes"),
            Mistake("c + (after - before)", "(after - before)", "add what has changed"),
            Mistake("(after - before)", "(before - after)", "wrong direction"),
            Mistake("(after - before)", "(after - after)", "stays what it was"),
            Mistake("w + (local - w)", "(local - w)", "The new w must be"),
            Mistake("return new_w, new_c", "return new_w", "Return two arrays"),
        ),
    ),
)
