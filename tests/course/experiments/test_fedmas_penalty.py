"""What the study of FedMas' penalty notes, on the digits: MNIST need not be there."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.server import Server
from fedlab_course.experiments.studies import fedmas_penalty


def noted(algorithm: fl.FedMas) -> tuple[Server, list[dict[str, float]], fl.Simulation]:
    """The server after two rounds, and what ``layers`` says of them."""
    data = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=20, labels_per_client=1, seed=0
    )
    fed = fl.FederatedDataset(data, parts)
    model = fl.models.mlp(fed, (8,), seed=0)
    seen: list[Server] = []
    simulation = fl.Simulation(
        fed,
        model,
        algorithm,
        rounds=2,
        lr=0.1,
        local_epochs=1,
        batch_size=10,
        clients_per_round=10,
        progress=False,
        on_round=lambda record, server: seen.append(server),
    )
    simulation.run()
    return seen[-1], list(fedmas_penalty.layers(model, algorithm, seen[-1])), simulation


def test_the_layers_share_the_parameters_and_the_stiffness_is_that_of_the_step() -> None:
    algorithm = fl.FedMas(0.03, tiers=[k % 2 for k in range(20)], penalty_step="implicit")
    server, rows, simulation = noted(algorithm)
    assert len(rows) == 2
    assert np.linalg.norm([row["norm"] for row in rows]) == pytest.approx(
        float(server.params.norm()), rel=1e-6
    )
    importance = server.state["importance"]
    assert max(row["largest"] for row in rows) == float(importance.max())
    for row in rows:
        assert row["stiffness"] == pytest.approx(0.1 * 2 * 0.03 * row["largest"])
    x = server.fed.test.x[: fedmas_penalty.IMAGES]
    with torch.no_grad():
        logits = simulation.model(x)
    assert rows[0]["outputs"] == pytest.approx(float(logits.square().mean().sqrt()), rel=1e-6)


def test_a_client_of_the_cohort_can_measure() -> None:
    """All clients but those of the cohort are asked never."""
    asked: list[tuple[int, list[int]]] = []

    class Watched(fedmas_penalty.MeasuredByCohort):
        def measuring_client(self, server, updates):
            client = super().measuring_client(server, updates)
            asked.append((client, updates.clients.tolist()))
            return client

    noted(Watched(0.03, tiers=[k % 2 for k in range(20)], penalty_step="implicit"))
    assert len(asked) == 4
    assert all(client in cohort for client, cohort in asked)
