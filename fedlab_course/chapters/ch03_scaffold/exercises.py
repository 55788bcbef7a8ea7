# mypy: allow-untyped-defs
"""Exercises of chapter 3: corrected local training, the control variate, and SCAFFOLD as a
class.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check import known_formulas
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.on_quadratics import (
    LR,
    ROUNDS,
    START,
    PathCase,
    by_parameter,
    numbers_sent,
    path,
    require_paths,
)
from fedlab_course.check.tools import close, require, run_with

_ = translator(__name__)


def local_update(w, k, gradient, eta, steps, c, c_k):
    """The parameters of client k after local steps of SCAFFOLD; gradient(k, y) is ∇F_k(y)."""
    y = w
    for _ in range(steps):
        ### BEGIN SOLUTION
        y = y - eta * (gradient(k, y) + c - c_k)
        ### END SOLUTION
    return y


def new_control(c_k, c, w, y, steps, eta):
    """The control variate c_k⁺ after local steps from w to y."""
    ### BEGIN SOLUTION
    return c_k - c + (w - y) / (steps * eta)
    ### END SOLUTION


class MyScaffold(fl.Algorithm):
    """SCAFFOLD with c_k⁺ = c_k − c + (w − y_k)/(τ η) and server rate 1."""

    def setup(self, server):
        server.state["c"] = torch.zeros_like(server.params)
        server.state["c_clients"] = server.client_table()  # zeros [N, P]

    def correction(self, server, client):
        """What is added to the gradient: weight ⊙ (y − anchor) + offset."""
        ### BEGIN SOLUTION
        return fl.Correction(offset=server.state["c"] - server.state["c_clients"][client])
        ### END SOLUTION

    def aggregate(self, server, updates):
        """The new w; the rows of updates.params are the y_k of the cohort."""
        before = server.state["c_clients"][updates.clients]  # c_k of the cohort [K, P]
        steps = updates.num_steps[:, None]
        ### BEGIN SOLUTION
        after = before - server.state["c"] + (server.params - updates.params) / (steps * server.lr)
        server.state["c"] = server.state["c"] + (after - before).sum(0) / server.num_clients
        ### END SOLUTION
        server.state["c_clients"][updates.clients] = after
        return updates.params.mean(0)

    def communication(self, server, cohort):
        """How many numbers the clients of the cohort receive, and how many they send back."""
        ### BEGIN SOLUTION
        numbers = 2 * len(cohort) * server.num_parameters
        return numbers, numbers
        ### END SOLUTION


_A = np.array([1.0, 3.0])
_B = np.array([0.0, 1.0])


def _slope(k, y):
    """The gradient of a_k/2 ‖y − (0, 1)‖²."""
    return _A[k] * (y - np.array([0.0, 1.0]))


def _expected(b, lr=LR, steps=(5, 5)):
    """The path of SCAFFOLD with two clients that both take part, step by step."""
    w = START
    c = 0.0
    controls = [0.0, 0.0]
    points = []
    for _ in range(ROUNDS):
        ends = [w, w]
        for k in (0, 1):
            for _ in range(steps[k]):
                ends[k] = ends[k] - lr * (_A[k] * (ends[k] - b[k]) + c - controls[k])
        controls = [controls[k] - c + (w - ends[k]) / (steps[k] * lr) for k in (0, 1)]
        w = (ends[0] + ends[1]) / 2
        c = (controls[0] + controls[1]) / 2
        points.append(w)
    return points


def check_class(answer):
    """Compare with the recursion, with the library where one of two clients takes part, and with
    the numbers that SCAFFOLD sends.
    """
    clients = [1.0, 3.0], [0.0, 1.0]
    both = _("Both clients take part. Round 1 is FedAvg, and then comes c − c_k.")
    one_client = {"clients_per_round": 1}
    alone = _(
        "One of two clients takes part. c_k⁺ must be its mean gradient, and c the mean of all "
        "c_k: divide by N."
    )
    pairs = [[0.0, 4.0], [1.0, -1.0]]
    unequal = _(
        "Two parameters. η is 0.2, and the clients make 2 and 6 steps: take these numbers from "
        "`server.lr` and `steps`."
    )
    work = {"lr": 0.2, "sizes": [1, 3], "batch_size": 1, "local_epochs": 2}
    steps = by_parameter(lambda b: _expected(b, 0.2, (2, 6)), pairs)
    cases = [
        PathCase(_expected(clients[1]), both, [], *clients),
        PathCase(path(fl.Scaffold, [], *clients, one_client), alone, [], *clients, one_client),
        PathCase(steps, unequal, [], clients[0], pairs, work),
    ]
    require_paths(answer, cases, known_formulas.SCAFFOLD)
    down, up = run_with(answer, numbers_sent, [], 4, {"clients_per_round": 3})
    hint = _(
        "A client receives w and c and sends two vectors, 2 P numbers each way. By your "
        "`communication` it receives {down:.3g} P and sends {up:.3g} P."
    )
    require(close([down, up], [2, 2]), hint.format(down=down, up=up))


_START = np.array([2.0, -1.0])
_W = np.array([1.0, 2.0])
_C = np.array([0.2, 0.3])
_OWN = np.array([-0.4, 0.7])
_NONE = np.zeros(2)
_END = np.array([0.8, 1.96])
_END_2 = np.array([0.56, 2.12])
_END_3 = np.array([-0.1, 2.3])

EXERCISES = (
    Exercise(
        id="03-local",
        solution=local_update,
        known=known_formulas.SCAFFOLD_LOCAL,
        cases=(
            Case(
                (_START, 0, _slope, 0.1, 1, _NONE, _NONE),
                [1.8, -0.8],
                _("All controls are zero: a step of FedAvg."),
            ),
            Case(
                (_START, 0, _slope, 0.1, 1, _OWN, _OWN),
                [1.8, -0.8],
                _("A client with c_k = c needs no correction."),
            ),
            Case(
                (_START, 0, _slope, 0.1, 1, _C, _OWN),
                [1.74, -0.76],
                _("The corrected gradient is (2.6, −2.4)."),
            ),
            Case(
                (_START, 0, _slope, 0.1, 2, _C, _OWN),
                [1.506, -0.544],
                _("Two steps with the same correction."),
            ),
            Case(
                (_START, 1, _slope, 0.2, 1, _C, _OWN),
                [0.68, 0.28],
                _(
                    "One step of the steeper client with η = 0.2. The corrected gradient is "
                    "(6.6, −6.4)."
                ),
            ),
        ),
        mistakes=(
            Mistake("c - c_k", "c_k - c", _("Which of the two controls is subtracted?")),
            Mistake(" + c - c_k", "", _("Your step does not depend on c and c_k.")),
            Mistake(" + c - c_k", " - c_k", _("Both controls belong into the step.")),
            Mistake(
                "eta * (gradient(k, y) + c - c_k)",
                "eta * gradient(k, y) - (c - c_k)",
                _("η must multiply both terms: the gradient and c − c_k."),
            ),
        ),
    ),
    Exercise(
        id="03-control",
        solution=new_control,
        known=known_formulas.CONTROL,
        cases=(
            Case(
                (_NONE, _NONE, _W, _END, 4, 0.1),
                [0.5, 0.1],
                _("The old controls are zero. Four gradients add up."),
            ),
            Case(
                (_OWN, _C, _W, _END_2, 4, 0.1),
                [0.5, 0.1],
                _("The same gradients; the move contains c − c_k too."),
            ),
            Case(
                (_OWN, _C, _W, _END_3, 2, 0.5),
                [0.5, 0.1],
                _("Two steps with η = 0.5 and the same mean gradient."),
            ),
        ),
        mistakes=(
            Mistake(
                "(w - y)",
                "(y - w)",
                _("A client moves against its gradients. In which direction does w − y point?"),
            ),
            Mistake(
                "(steps * eta)",
                "steps",
                _("Your control is η times too small. How long is a step?"),
            ),
            Mistake(
                "(steps * eta)",
                "eta",
                _("Your control is the sum of the four gradients, not their mean."),
            ),
            Mistake(
                "c_k - c + ",
                "",
                _("The move contains the correction c − c_k, and so does your control."),
            ),
            Mistake(
                "(steps * eta)", "steps * eta", _("Without parentheses the last factor multiplies.")
            ),
        ),
    ),
    Exercise(
        id="03-class",
        solution=MyScaffold,
        check=check_class,
        mistakes=(
            Mistake(
                '"c"] - server.state["c_clients"][client]',
                '"c_clients"][client] - server.state["c"]',
                "c − c_k",
            ),
            Mistake("before - server", "before + server", "its mean gradient"),
            Mistake("/ server.num_clients", "/ len(updates.clients)", "divide by N"),
            Mistake(" / server.num_clients", "", "c − c_k"),
            Mistake("(steps * server.lr)", "(5 * 0.1)", "from `server.lr` and `steps`"),
            Mistake("2 * len(cohort)", "len(cohort)", "it receives 1 P and sends 1 P"),
        ),
    ),
)
