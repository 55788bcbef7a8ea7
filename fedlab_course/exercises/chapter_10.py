# mypy: allow-untyped-defs
"""Exercises of chapter 10: an algorithm with a state of its own, and a rule that says who trains."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.exercises.base import Exercise, Mistake
from fedlab_course.exercises.tools import array, call, close, require, shown


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


_A, _B, _SIZES = np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([1, 3])
_START, _STEPS = 2.0, 5


def _path(algorithm, rounds=3):
    """The simulation of two quadratics with unequal sizes, and w after each round; five local steps, η = 0.1."""
    fed = fl.synthetic.quadratics(_A.tolist(), _B.tolist(), _SIZES.tolist())
    model = fl.models.linear(fed, bias=False)
    torch.nn.init.constant_(next(model.parameters()), _START)
    work = {"rounds": rounds, "clients_per_round": 2, "local_steps": _STEPS, "batch_size": None, "lr": 0.1}
    simulation = fl.Simulation(fed, model, algorithm, **work, loss="squared_error", progress=False)
    return simulation, np.array([simulation.state_dict()["params"].item() for _ in simulation])


def _expected(beta, weights, rounds=3):
    """The same path from the definition: a local run shrinks the distance of client k to b_k by (1 − η a_k)^5."""
    w, velocity, path = _START, 0.0, []
    for _ in range(rounds):
        local = _B + (1 - 0.1 * _A) ** _STEPS * (w - _B)
        velocity = beta * velocity + weights @ local - w
        w += velocity
        path.append(w)
    return np.array(path)


def check_fedavgm(answer):
    weights = _SIZES / _SIZES.sum()
    plain = _expected(0.0, weights)
    _check_without_momentum(_path(answer(0.0))[1], plain)
    simulation, path = _path(answer(0.5))
    _check_with_momentum(path, plain, _expected(0.5, weights))
    require(
        simulation.state_dict()["algorithm"],
        "The numbers are right, but `server.state` is empty. What you keep elsewhere is lost when a run is resumed.",
    )


def _check_without_momentum(path, plain):
    require(
        not close(path, _expected(0.0, np.array([0.5, 0.5]))),
        "With β = 0 yours is FedAvg with a plain mean. A client counts by its samples: `updates.weighted_mean()`.",
    )
    require(
        not close(path[0], 2 * _START - plain[0]),
        "With β = 0 your model moves by the right amount in the wrong direction: towards the clients is mean − w.",
    )
    require(
        not close(path[0], plain[0] - _START),
        "With β = 0 you return the step, not the new parameters. It must be added to `server.params`.",
    )
    require(
        close(path, plain), f"With β = 0 it must be FedAvg, w = {shown(plain)} in three rounds. Yours is {shown(path)}."
    )


def _check_with_momentum(path, plain, full):
    require(
        not close(path[0], _START + 0.5 * (plain[0] - _START)),
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
        ),
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
    ),
)
