"""One model or several: groups with names of their own, models per cluster, and how clients are
served.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Ditto
from fedlab_course.methods import several

DIGITS = fl.load_dataset("digits")
WORK = {
    "rounds": 2,
    "clients_per_round": 6,
    "local_epochs": 1,
    "batch_size": 10,
    "lr": 0.05,
    "progress": False,
}


def test_groups_name_the_same_pictures_differently():
    made = several.concepts(DIGITS, num_clients=6, num_groups=3, seed=1)
    assert made.ids.tolist() == [0, 1, 2, 0, 1, 2]
    for k, group in enumerate(made.ids):
        assert torch.equal(made.tests[k].y, (DIGITS.test.y + group) % 10)
    plain = fl.partition.iid(DIGITS.train.y, num_clients=6, seed=1)
    x, y = made.fed.client(4)
    assert torch.equal(x, DIGITS.train.x[plain[4]]) and torch.equal(
        y, (DIGITS.train.y[plain[4]] + 1) % 10
    )


def test_more_groups_than_labels_are_refused():
    with pytest.raises(ValueError, match="num_groups"):
        several.concepts(DIGITS, num_clients=6, num_groups=11)


def test_no_model_is_right_for_more_than_one_group():
    made = several.concepts(DIGITS, num_clients=6, num_groups=3)
    served = several.serve(
        made.fed, fl.models.mlp(made.fed, (20,), seed=0), fl.FedAvg(), made.tests, **WORK
    )
    assert served.whole.mean() <= 1 / 3 + 1e-6
    assert set(served.models.tolist()) == {0}
    with torch.no_grad():
        outputs = [served.history.model(part.x).argmax(1) == part.y for part in made.tests]
    shares = [float(right.float().mean()) for right in outputs]
    assert served.whole == pytest.approx(shares)  # of the models after the last round


def test_models_of_ones_own_are_as_many_as_clients():
    fed = fl.FederatedDataset(DIGITS, fl.partition.iid(DIGITS.train.y, num_clients=6, seed=0))
    served = several.serve(fed, fl.models.mlp(fed, (20,), seed=0), Ditto(0.0), **WORK)
    assert sorted(served.models.tolist()) == list(range(6))
    assert served.own.shape == served.whole.shape == (6,)
    assert np.array_equal(served.own, served.history.clients.accuracy)


def test_a_cluster_of_its_own_learns_from_its_members_alone():
    """With one label a client, the model of a cluster has seen one label, and answers with nothing
    else.
    """
    parts = fl.partition.labels_per_client(
        DIGITS.train.y, num_clients=20, labels_per_client=1, seed=0
    )
    fed = fl.FederatedDataset(DIGITS, parts)
    given = WORK | {"rounds": 20, "clients_per_round": 20}
    served = several.serve(
        fed, fl.models.mlp(fed, (20,), seed=0), several.PerCluster(noise="nearest"), **given
    )
    assert served.own.mean() == 1.0
    shares = np.bincount(DIGITS.test.y.numpy(), minlength=10) / len(DIGITS.test.y)
    held = [int(fed.client(k)[1][0]) for k in range(20)]
    assert served.whole == pytest.approx(shares[held])


def test_where_there_is_no_cluster_everybody_is_in_one():
    fed = fl.FederatedDataset(DIGITS, fl.partition.iid(DIGITS.train.y, num_clients=6, seed=0))
    run = fl.Simulation(
        fed, fl.models.mlp(fed, (20,), seed=0), several.PerCluster(eps=1e-9), **WORK
    )
    next(run)
    assert run.state_dict()["algorithm"]["clusters"].tolist() == [0] * 6
