# mypy: allow-untyped-defs
"""Exercises of chapter 8: an algorithm with a state of its own, and a rule that says who trains."""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.course.exercises.base import Exercise, Mistake
from fedlab_core.course.exercises.tools import array, call, close, require, shown


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
    simulation, path = _path(answer(0.0))
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
    simulation, path = _path(answer(0.5))
    full = _expected(0.5, weights)
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
    require(
        simulation.state_dict()["algorithm"],
        "The numbers are right, but `server.state` is empty. What you keep elsewhere is lost when a run is resumed.",
    )


def in_turn(round, num_clients, clients_per_round):
    """The clients of round 1, 2, …, an array of length K: one after another, then again."""
    ### BEGIN SOLUTION
    first = (round - 1) * clients_per_round
    return np.arange(first, first + clients_per_round) % num_clients
    ### END SOLUTION


def check_in_turn(answer):
    def found(round, num_clients, clients_per_round):
        result = call(answer, round, num_clients, clients_per_round)
        require(
            np.ndim(result) == 1 and len(result) == clients_per_round,
            f"Round {round} must have {clients_per_round} of the {num_clients} clients, and yours is {result}. "
            "Near the end of the list the cohort goes on at its start.",
        )
        return array(result, (clients_per_round,)).astype(int).tolist()

    first, second = found(1, 6, 2), found(2, 6, 2)
    require(first == [0, 1], f"Rounds are counted from 1, clients from 0: round 1 asks clients 0 and 1, yours {first}.")
    require(
        not set(first) & set(second),
        f"Round 1 asks {first} and round 2 {second}. Nobody is asked again before everybody was.",
    )
    everybody = sorted(first + second + found(3, 6, 2))
    require(
        everybody == list(range(6)), f"Three rounds with two of six clients must ask each once. Yours ask {everybody}."
    )
    require(
        found(4, 6, 2) == [0, 1],
        f"After three rounds everybody was asked, and round 4 begins again with 0 and 1. Yours: {found(4, 6, 2)}.",
    )
    require(
        found(2, 5, 3) == [3, 4, 0],
        f"With 3 of 5 clients round 2 asks 3, 4 and then 0. Yours: {found(2, 5, 3)}.",
    )
    require(found(3, 5, 3) == [1, 2, 3], f"With 3 of 5 clients round 3 asks 1, 2, 3. Yours: {found(3, 5, 3)}.")


EXERCISES = (
    Exercise(
        id="08-momentum",
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
            Mistake('server.state["velocity"]', "self.velocity", "is lost"),
        ),
    ),
    Exercise(
        id="08-in-turn",
        title="Who trains",
        task=r"""Write the rule of the section on cohorts for any $N$ and $K$, also where $K$ does not divide $N$:
clients are asked in the order of their numbers, and after the last comes the first. Whom does round 2 ask with 3
of 5 clients?""",
        missing="the cohort, an array of client numbers",
        solution=in_turn,
        check=check_in_turn,
        mistakes=(
            Mistake("(round - 1)", "round", "Rounds are counted from 1"),
            Mistake(" * clients_per_round", "", "Nobody is asked again"),
            Mistake(" % num_clients", "", "begins again"),
            Mistake("np.arange(first, first + clients_per_round)", "np.arange(first, clients_per_round)", "must have"),
            Mistake(
                "np.arange(first, first + clients_per_round) % num_clients",
                "np.arange(first % num_clients, min(first % num_clients + clients_per_round, num_clients))",
                "goes on at its start",
            ),
        ),
    ),
)
