"""SCAFFOLD's control variates under sampling, with ragged clients and mini-batches."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.engines.work import Work, plan_batches
from tests import support
from tests.support import blobs

SIZES = (3, 17, 8, 30, 1, 12)


def simulation(**changes) -> fl.Simulation:
    fed = blobs(SIZES)
    arguments = {
        "algorithm": fl.Scaffold(),
        "rounds": 8,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    arguments |= changes
    return fl.Simulation(
        fed, fl.models.softmax_regression(fed, seed=2), arguments.pop("algorithm"), **arguments
    )


def replay(
    run: fl.Simulation, start: torch.Tensor, offset: torch.Tensor, client: int
) -> torch.Tensor:
    """The mean raw mini-batch gradient along client's corrected path, written out with autograd
    alone.
    """
    fed = run.fed
    s = run.settings
    amount = np.array([run._server._amount(client)])
    work = Work(np.array([client]), amount, s.unit, s.batch_size, s.rates[0], run.round, s.seed)
    (plan,) = plan_batches(work, [len(fed.parts[client])])
    x, y = fed.client(client)
    local = start
    total = torch.zeros_like(start)
    for step in range(plan.num_steps):
        weight = local[: x.shape[1] * 3].view(3, -1).clone().requires_grad_()
        bias = local[x.shape[1] * 3 :].clone().requires_grad_()
        batch = plan.batch(step)
        loss = torch.nn.functional.cross_entropy(x[batch] @ weight.T + bias, y[batch])
        gradient = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, (weight, bias))])
        total = total + gradient
        local = local - 0.1 * (gradient + offset)
    return total / plan.num_steps


@pytest.mark.parametrize(
    "changes",
    [{}, {"local_epochs": None, "local_steps": 7}, {"stragglers": 0.6, "local_epochs": 4}],
)
def test_option_two_control_is_the_mean_raw_gradient_of_the_steps_really_taken(changes) -> None:
    run = simulation(**changes)
    next(run)
    before = run.state_dict()
    next(run)
    after = run.state_dict()
    changed = [
        k
        for k in range(len(SIZES))
        if not torch.equal(before["algorithm"]["c_clients"][k], after["algorithm"]["c_clients"][k])
    ]
    assert len(changed) == 3
    for client in changed:
        c = before["algorithm"]["c"]
        c_k = before["algorithm"]["c_clients"][client]
        mean = replay(run, before["params"], c - c_k, client)
        torch.testing.assert_close(
            after["algorithm"]["c_clients"][client], mean, rtol=0, atol=1e-12
        )


def test_momentum_needs_option_1_and_fednova_without_mu() -> None:
    with pytest.raises(ValueError, match=r"option=2: with local_momentum=0\.5"):
        simulation(local_momentum=0.5)
    with pytest.raises(ValueError, match=r"mu=0\.1: must be 0 with local_momentum=0\.5"):
        simulation(algorithm=fl.FedNova(0.1), local_momentum=0.5)
    simulation(algorithm=fl.Scaffold(option=1), local_momentum=0.5).run()


def test_control_update_of_the_seed_is_scaled_by_n_over_s() -> None:
    fed = support.quadratics(np.linspace(0.5, 2, 10), np.linspace(-1, 1, 10))
    for control_update, factor in (("all", 1.0), ("cohort", 10 / 3)):
        work = {"rounds": 12, "clients_per_round": 3, "local_steps": 4, "lr": 0.05}
        sim = support.simulation(
            fed, support.scalar_model(), fl.Scaffold(control_update=control_update), **work
        )
        for _ in sim:
            state = sim.state_dict()["algorithm"]
            torch.testing.assert_close(
                state["c"], factor * state["c_clients"].mean(0), rtol=0, atol=1e-12
            )
        assert state["c"].abs().item() > 1e-3
