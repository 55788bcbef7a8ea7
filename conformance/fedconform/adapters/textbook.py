# mypy: allow-untyped-defs
"""FedAvg in plain PyTorch, an example of an adapter: put your code in place of the loop."""

import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def run(task):
    if task.algorithm != "FedAvg" or task.local_momentum:
        raise NotImplementedError("the textbook has FedAvg only")
    w = torch.tensor(task.start)
    after = []
    for number, cohort in enumerate(task.cohorts):
        sizes = [task.sizes[client] for client in cohort]
        local = [train(task, number, client, w) for client in cohort]
        w = sum(n / sum(sizes) * y for n, y in zip(sizes, local, strict=True))
        after.append(w.numpy())
    return after


def train(task, number, client, w):
    model, (x, y) = task.model(), task.data(client)
    vector_to_parameters(w.clone(), model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=task.lr_of(number))
    for _ in range(task.epochs_of(number, client)):
        for rows in torch.arange(len(x)).split(task.batch_size or len(x)):
            optimizer.zero_grad()
            task.loss(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return parameters_to_vector(model.parameters()).detach()
