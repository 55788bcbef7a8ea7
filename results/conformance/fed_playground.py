"""fed-playground (PyPI 0.2.1).

Driven: ``Environment.run_round`` with its orchestrator, parties, MeanAggregation and
LinearRegressionModel. Replaced: the data of ``setup``, the start of w, and the orchestrator's
parties, which are the cohort of the round. The framework has FedAvg alone, linear models with a
bias, and full batches. A step of the whole data set is a step of a batch where all samples of a
client are equal; so each client gets its number of steps as ``epochs``. The loss is the mean of
(f(x) − y)², twice the task's, so the learning rate is half.

Requirements: matplotlib. Minutes to write: 6.
"""

import numpy as np
from fed_playground.src.environment import Environment
from fed_playground.src.models import LinearRegressionModel
from fed_playground.src.party import Party

REQUIRES = ["fed-playground==0.2.1", "numpy", "matplotlib"]
CHANGES = {
    "data": "setup's samples are those of the task",
    "cohorts": "the orchestrator's parties are the cohort of the round",
    "loss factor": "the framework has (f − y)²; the rate is divided by 2",
    "epochs": "a client gets its number of steps: every step of the framework is a full batch",
}


def run(task):
    if task.algorithm != "FedAvg" or task.local_momentum:
        raise NotImplementedError("FedAvg without local momentum only")
    if task.kind != "linear":
        raise NotImplementedError("linear models with a bias only")
    if any(len(np.unique(x, axis=0)) > 1 for x in task.x) and task.batch_size is not None:
        raise NotImplementedError("full batches only")
    environment = Environment(
        n_parties=task.num_clients, n_features=task.x[0].shape[1], n_samples=10 * task.num_clients
    )
    environment.setup()
    parties = [party_of(task, k, environment.encryption_scheme) for k in range(task.num_clients)]
    environment.orchestrator.global_model_params = task.start.copy()
    after = []
    for cohort in task.cohorts:
        environment.parties = environment.orchestrator.parties = [parties[k] for k in cohort]
        environment.run_round()
        after.append(environment.orchestrator.global_model_params.copy())
    return after


def party_of(task, client, scheme):
    model = LinearRegressionModel(
        task.x[client].shape[1], learning_rate=task.lr / 2, epochs=task.steps[client]
    )
    return Party(client, model, (task.x[client], task.y[client]), scheme)
