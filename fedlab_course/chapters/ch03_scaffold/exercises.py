# mypy: allow-untyped-defs
"""Exercises of chapter 3: the corrected step, where it comes to rest, the control variate, and the server."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Mistake


def scaffold_step(y, gradient, c, c_k, lr):
    """The local parameters after one step of SCAFFOLD from y."""
    ### BEGIN SOLUTION
    return y - lr * (gradient + c - c_k)
    ### END SOLUTION


def renewed_control(c_k, c, w, y, num_steps, lr):
    """The control variate c_k⁺ of option 2, after num_steps steps from w to y."""
    ### BEGIN SOLUTION
    return c_k - c + (w - y) / (num_steps * lr)
    ### END SOLUTION


def server_update(w, c, local, before, after, num_clients):
    """The new w [P] and the new c [P].

    Of the cohort: local [K, P], and the controls before and after the round, [K, P].
    """
    ### BEGIN SOLUTION
    new_w = w + (local - w).mean(axis=0)
    new_c = c + (after - before).sum(axis=0) / num_clients
    return new_w, new_c
    ### END SOLUTION


_Y, _W, _SLOPE = np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([0.3, -0.2])
_C, _OWN, _NONE = np.array([0.2, 0.3]), np.array([-0.4, 0.7]), np.zeros(2)
_END, _END_2 = np.array([0.8, 1.96]), np.array([0.56, 2.12])
_LOCAL, _MEAN = np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([0.3, 0.4])
_BEFORE, _AFTER = np.array([[0.4, 1.0], [-0.8, 0.6]]), np.array([[2.0, 1.0], [0.5, -1.0]])
_ROUND = (_W, _MEAN, _LOCAL, _BEFORE)

EXERCISES = (
    Exercise(
        id="03-step",
        solution=scaffold_step,
        cases=(
            Case((_Y, _SLOPE, _NONE, _NONE, 0.1), [0.97, 2.02], "All controls are zero: a step of FedAvg."),
            Case((_Y, _SLOPE, _OWN, _OWN, 0.1), [0.97, 2.02], "A client with c_k = c needs no correction."),
            Case((_Y, _SLOPE, _C, _OWN, 0.1), [0.91, 2.06], "The corrected gradient is (0.9, −0.6), and η is 0.1."),
        ),
        mistakes=(
            Mistake("c - c_k", "c_k - c", "Which of the two controls is subtracted?"),
            Mistake(" + c - c_k", "", "Your step does not depend on c and c_k."),
            Mistake(" + c - c_k", " - c_k", "Do both controls enter?"),
            Mistake("lr * (gradient + c - c_k)", "lr * gradient - (c - c_k)", "Does η multiply the correction too?"),
        ),
    ),
    Exercise(
        id="03-control",
        solution=renewed_control,
        cases=(
            Case((_NONE, _NONE, _W, _END, 4, 0.1), [0.5, 0.1], "The old controls are zero. Four gradients add up."),
            Case((_OWN, _C, _W, _END_2, 4, 0.1), [0.5, 0.1], "The same gradients; the move contains c and c_k too."),
        ),
        mistakes=(
            Mistake("(w - y)", "(y - w)", "A client moves against its gradients. In which direction does w − y point?"),
            Mistake("(num_steps * lr)", "num_steps", "Your control is η times too small. How long is a step?"),
            Mistake("(num_steps * lr)", "lr", "Your control is the sum of the four gradients, not their mean."),
            Mistake("c_k - c + ", "", "The move contains the correction c − c_k, and so does your control."),
            Mistake("(num_steps * lr)", "num_steps * lr", "Without parentheses the last factor multiplies."),
        ),
    ),
    Exercise(
        id="03-server",
        solution=server_update,
        cases=(
            Case((*_ROUND, _BEFORE, 5), ([1.5, 0.5], [0.3, 0.4]), "No control has changed, so c stays (0.3, 0.4)."),
            Case((*_ROUND, _AFTER, 5), ([1.5, 0.5], [0.88, 0.08]), "Then c must be the mean of all five c_k again."),
        ),
        mistakes=(
            Mistake("/ num_clients", "/ len(local)", "You divide by the size of the cohort. Whose mean is c?"),
            Mistake(" / num_clients", "", "You add the sum of all changes. How does a mean over N clients change?"),
            Mistake("c + (after - before)", "(after - before)", "Your new c does not contain the old one."),
            Mistake("w + (local - w)", "(local - w)", "Your new w is the mean move. Where does the move start?"),
        ),
    ),
)
