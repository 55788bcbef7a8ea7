# mypy: allow-untyped-defs
"""Exercises of chapter 10: the halves of FedDyn, an algorithm with a state of its own, and a rule for who trains."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch10_your_own_algorithm.bench import ROUNDS, SIZES, START, STEPS, A, B, run
from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, beside, call, close, require, shown


class FedAvgM(fl.Algorithm):
    """FedAvg with momentum at the server."""

    def __init__(self, beta):
        self.beta = beta

    def setup(self, server):
        """Before round 1."""
        ### BEGIN SOLUTION
        server.state["velocity"] = torch.zeros_like(server.params)
        ### END SOLUTION

    def aggregate(self, server, updates):
        """The next global parameters."""
        ### BEGIN SOLUTION
        move = updates.weighted_mean() - server.params
        velocity = self.beta * server.state["velocity"] + move
        server.state["velocity"] = velocity
        return server.params + velocity
        ### END SOLUTION


def _expected(beta, weights):
    """Return the same by definition: a local run shrinks the distance of client k to b_k by (1 − η a_k)^5."""
    w, velocity, path = START, 0.0, []
    for _ in range(ROUNDS):
        local = B + (1 - 0.1 * A) ** STEPS * (w - B)
        velocity = beta * velocity + weights @ local - w
        w += velocity
        path.append(w)
    return np.array(path)


def _run(answer, beta, resume=False):
    path, kept = beside(answer, run, beta, resume)
    return array(path, (ROUNDS,)), kept


def check_fedavgm(answer):
    weights = SIZES / SIZES.sum()
    plain = _expected(0.0, weights)
    _check_without_momentum(_run(answer, 0.0)[0], plain)
    path, kept = _run(answer, 0.5)
    _check_with_momentum(path, plain, _expected(0.5, weights))
    require(
        kept,
        "The numbers are right, but `server.state` is empty. What you keep elsewhere is lost when a run is resumed.",
    )
    resumed = _run(answer, 0.5, True)[0][1:]
    require(
        close(resumed, _expected(0.5, weights)[1:]),
        f"The numbers are right in one go. Left after round 1 and resumed by a new instance, your run goes to "
        f"{shown(resumed)} instead of {shown(_expected(0.5, weights)[1:])}: a checkpoint holds `server.state`, and not "
        "what an instance keeps for itself.",
    )


def _check_without_momentum(path, plain):
    require(
        not close(path, _expected(0.0, np.array([0.5, 0.5]))),
        "With β = 0 yours is FedAvg with a plain mean. A client counts by its samples: `updates.weighted_mean()`.",
    )
    require(
        not close(path[0], 2 * START - plain[0]),
        "With β = 0 your model moves by the right amount in the wrong direction: towards the clients is mean − w.",
    )
    require(
        not close(path[0], plain[0] - START),
        "With β = 0 you return the step, not the new parameters. It must be added to `server.params`.",
    )
    require(
        close(path, plain), f"With β = 0 it must be FedAvg, w = {shown(plain)} in three rounds. Yours is {shown(path)}."
    )


def _check_with_momentum(path, plain, full):
    require(
        not close(path[0], START + 0.5 * (plain[0] - START)),
        "In round 1 the velocity is zero, and the step must be FedAvg's. Yours is (1 − β) of it: the move counts in "
        "full here.",
    )
    require(close(path[0], plain[0]), "In round 1 the velocity is zero, so for any β the step must be FedAvg's.")
    require(
        not close(path, plain),
        "With β = 0.5 yours is still FedAvg. The velocity must be kept from one round to the next.",
    )
    require(
        close(path, full),
        f"With β = 0.5 the model goes to w = {shown(full)} in three rounds, and yours to {shown(path)}. After the "
        "first round the velocity is β times the *old velocity* plus the move.",
    )


def longest_waiting(last_asked, available, clients_per_round):
    """The K available clients that have waited longest, an array; all if fewer are there.

    last_asked: the round in which each client was asked last, 0 for never [N].
    available: the numbers of the clients that are there.
    """
    ### BEGIN SOLUTION
    order = np.argsort(last_asked[available])
    return available[order[:clients_per_round]]
    ### END SOLUTION


def check_longest_waiting(answer):
    def found(last_asked, available, clients_per_round):
        cohort = call(answer, np.array(last_asked), np.array(available), clients_per_round)
        size = min(clients_per_round, len(available))
        require(
            np.ndim(cohort) == 1 and len(cohort) == size,
            f"With clients {available} there and {clients_per_round} to be asked, the cohort has {size}. "
            f"Yours is {cohort}.",
        )
        return sorted(array(cohort, (size,)).astype(int).tolist())

    everybody = found([3, 1, 2, 5, 4], [0, 1, 2, 3, 4], 2)
    require(
        everybody != [3, 4],
        "Clients 3 and 4 were asked last in rounds 5 and 4, the latest of all. You ask them again: the longest wait "
        "belongs to the *smallest* number in `last_asked`.",
    )
    require(
        everybody == [1, 2],
        f"All five are there, and were asked last in rounds 3, 1, 2, 5 and 4. Clients 1 and 2 have waited longest, and "
        f"yours are {everybody}.",
    )
    some = found([3, 1, 2, 5, 4, 6], [0, 3, 4, 5], 2)
    require(some != [1, 2], "You ask clients 1 and 2, and only 0, 3, 4 and 5 are there.")
    require(
        some != [0, 2],
        "You return places in `available`, 0 and 2, not the clients that stand there, 0 and 4.",
    )
    require(
        some == [0, 4],
        f"Clients 0, 3, 4 and 5 are there, and were asked last in rounds 3, 5, 4 and 6. The longest wait have 0 and 4, "
        f"and yours are {some}.",
    )
    new = found([1, 0, 2, 0, 3], [0, 2, 3, 4], 1)
    require(new == [3], f"Client 3 is there and was never asked, so it comes first. Yours is {new}.")
    found([1, 2, 3], [2], 2)


_KEPT_IN_STATE = """\
        self.beta = beta

    def setup(self, server):
        \"""Before round 1.\"""
        server.state["velocity"] = torch.zeros_like(server.params)

    def aggregate(self, server, updates):
        \"""The next global parameters.\"""
        move = updates.weighted_mean() - server.params
        velocity = self.beta * server.state["velocity"] + move
        server.state["velocity"] = velocity
"""
# The library looks into the algorithm for state that it should not have, and not into the server.
_KEPT_BESIDE_STATE = _KEPT_IN_STATE.replace(
    'server.state["velocity"] + move', 'getattr(server, "velocity", 0.0) + move'
).replace('server.state["velocity"] = velocity', "server.velocity = velocity")

EXERCISES = (
    Exercise(
        id="10-momentum",
        title="Momentum at the server",
        task=r"""Write FedAvgM (Hsu, Qi and Brown 2019). The server keeps a velocity $v$, zero at the start, and in
each round

$$v \leftarrow \beta\, v + \Big(\frac{\sum_S n_k y_k}{\sum_S n_k} - w\Big), \qquad w \leftarrow w + v.$$

Which $\beta$ makes it FedAvg? And where must $v$ be kept, so that it survives a checkpoint?""",
        missing="the new parameters, and remembers the velocity",
        solution=FedAvgM,
        check=check_fedavgm,
        points=2,
        mistakes=(
            Mistake("updates.weighted_mean()", "updates.params.mean(0)", "plain mean"),
            Mistake(
                "updates.weighted_mean() - server.params", "server.params - updates.weighted_mean()", "wrong direction"
            ),
            Mistake("return server.params + velocity", "return velocity", "not the new parameters"),
            Mistake('["velocity"] + move', '["velocity"] + (1 - self.beta) * move', "counts in full"),
            Mistake('        server.state["velocity"] = velocity\n', "", "from one round to the next"),
            Mistake('server.state["velocity"] = velocity', 'server.state["velocity"] = move', "old velocity"),
            Mistake('server.state["velocity"]', "self.velocity", "keep state in server.state"),
            Mistake(_KEPT_IN_STATE, _KEPT_BESIDE_STATE, "resumed by a new instance"),
        ),
        discussion=r"""With $\beta = 0$ it is FedAvg. The velocity is what the algorithm remembers from round to round,
so it belongs in `server.state`: each run begins with its own, of zeros, and a checkpoint holds it. In the instance
it would be lost when a run is resumed, and a second run of the same instance would begin with the velocity of the
first.

We observe that a velocity of the *server* is one vector that lives as long as the run. Momentum in the *local* steps
is another thing: one velocity for each client, from zero in each round (the setting `local_momentum`).""",
    ),
    Proof(
        id="10-halves",
        title="Half an algorithm",
        task=r"""FedDyn changes the clients and the server. Take one half away at a time. Let all clients take part,
with full batches and an $\eta$ so small that a client which ends where it began has not moved at all (exercise 3.2).

1. *The server's half*: clients train as in FedAvg, and the server sets $w \leftarrow \frac{1}{N} \sum_k y_k + u$, where
   $u$ is $\frac{1}{N}$ times the sum of all moves $y_k - w$ of all clients and rounds so far. Where does it rest?
2. *The clients' half*: clients keep their $h_k$, and the server takes the plain mean,
   $w \leftarrow \frac{1}{N} \sum_k y_k$. Show that it can rest only where $\nabla F(w) = -\mu (w - w_0)$, with $w_0$
   the parameters at the start.""",
        solution=r"""1. At rest $u$ does not change, so the moves of the round add up to zero:
$\frac{1}{N} \sum_k y_k = w$. That is the condition for FedAvg to rest, so the server's half **rests where FedAvg
rests** (and there $u = 0$, as $w = w + u$ says). The server's memory changes how it gets there and not where.

2. At rest no $h_k$ changes, so $y_k = w$ for all, nobody moves, and $h_k = \nabla F_k(w)$. In each round the mean of
the $h_k$ changes by $-\mu$ times the mean move. The mean move is what $w$ moves by, since the server takes the plain
mean. From zero on the mean of the $h_k$ is therefore $-\mu (w - w_0)$ all the time, and at rest it is $\nabla F(w)$.
It is the minimum of $F(w) + \frac{\mu}{2} \lVert w - w_0 \rVert^2$: **a spring to the start**.

We observe that neither half rests at the optimum, and that both together do. Whether one of them has to, on images and
in fifty rounds, is another question, which the boxes above answer.""",
    ),
    Exercise(
        id="10-waiting",
        title="Who is there, and who has waited",
        task=r"""A rule that asks clients in the order of their numbers stops where one of them is not there. Write a
better one: of the clients that are available, ask those $K$ that have waited longest, or all of them if fewer are
there. Those who have waited equally long may come in any order. What does your rule do if everybody is always there?
And where must a `cohorts` that uses it keep `last_asked`?""",
        missing="the cohort, an array of client numbers",
        solution=longest_waiting,
        check=check_longest_waiting,
        mistakes=(
            Mistake("np.argsort(last_asked[available])", "np.argsort(-last_asked[available])", "*smallest* number"),
            Mistake("available[order[:clients_per_round]]", "order[:clients_per_round]", "places in `available`"),
            Mistake(
                "order = np.argsort(last_asked[available])\n    return available[order[:clients_per_round]]",
                "return np.argsort(last_asked)[:clients_per_round]",
                "only 0, 3, 4 and 5 are there",
            ),
            Mistake("available[order[:clients_per_round]]", "available[:clients_per_round]", "have waited longest"),
            Mistake("[order[:clients_per_round]]", "[order]", "the cohort has 2"),
            Mistake("last_asked[available]", "np.where(last_asked == 0, 99, last_asked)[available]", "was never asked"),
            Mistake(
                "available[order[:clients_per_round]]",
                "available[order[np.arange(clients_per_round) % len(order)]]",
                "the cohort has 1",
            ),
        ),
        discussion=r"""If everybody is always there, the rule makes laps: nobody is asked twice before all were asked
once. `last_asked` changes from round to round, so a `cohorts` that uses it keeps it in `server.state`, and there it
sets the entries of the cohort to `server.round`.

We observe that a rule like this is no random draw: clients that are seldom there are asked each time that they are.""",
    ),
)
