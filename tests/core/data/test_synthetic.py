"""The made-up federations: the laws they are drawn from and the optima they are known for."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.data.synthetic import quadratic_optimum, quadratics, synthetic


def test_synthetic_has_the_published_shape_and_natural_clients():
    data = synthetic(seed=0)
    assert data.train.x.shape[1:] == (60,) and data.train.x.dtype == torch.float32
    assert data.num_classes == 10 and data.train.y.dtype == torch.int64 and len(data.users) == 30
    assert np.array_equal(np.concatenate(data.users), np.arange(len(data.train)))
    assert min(len(user) for user in data.users) >= 45
    assert len(data.test) == pytest.approx((len(data.train) + len(data.test)) / 10, abs=30)


def test_synthetic_features_have_the_published_spread():
    """Within a client Var(x_j) = j^−1.2; the mean of v_k over 60 features is N(0, β + 1/60), β a
    variance.
    """
    beta = 4.0
    data = synthetic(1.0, beta, num_clients=400, seed=0)
    x = data.train.x.double().numpy()
    largest = max(data.users, key=len)
    expected = np.arange(1, 61) ** -1.2
    assert x[largest].var(0) / expected == pytest.approx(
        np.ones(60), abs=5 * np.sqrt(2 / len(largest))
    )
    # log(n − 50) ~ N(4, 2²), at the median
    sizes = np.array([len(user) for user in data.users]) / 0.9
    assert np.log(np.median(sizes) - 50) == pytest.approx(4, abs=4 * 2 * 1.2533 / np.sqrt(400))
    centres = np.array([x[user].mean() for user in data.users])
    assert centres.var() == pytest.approx(beta + 1 / 60, rel=4 * np.sqrt(2 / 400))


def test_synthetic_clients_do_not_depend_on_how_many_there_are():
    few = synthetic(num_clients=3, seed=5)
    many = synthetic(num_clients=6, seed=5)
    assert torch.equal(few.train.x, many.train.x[: len(few.train)])
    assert torch.equal(few.train.y, many.train.y[: len(few.train)])
    assert not torch.equal(few.train.x[:40], synthetic(num_clients=3, seed=6).train.x[:40])


def test_alpha_shifts_all_logits_alike_and_changes_no_label():
    assert torch.equal(synthetic(0.0, 1.0, seed=2).train.y, synthetic(9.0, 1.0, seed=2).train.y)


def test_iid_synthetic_has_one_labeller_and_one_feature_law():
    """All clients share W and b, so one linear classifier labels the data of every client."""
    data = synthetic(num_clients=6, seed=0, iid=True)
    x = data.train.x.double()
    y = data.train.y
    assert x.mean(0).abs().max() < 5 / np.sqrt(len(x))
    fitted = LogisticRegression(C=1e4, max_iter=300).fit(x, y)
    assert fitted.score(x, y) > 0.98
    even = FederatedDataset(data, data.users).heterogeneity().totals["js"]
    uneven = synthetic(num_clients=6, seed=0)
    assert even < 0.5 * FederatedDataset(uneven, uneven.users).heterogeneity().totals["js"]


def test_quadratics_are_the_functions_they_say():
    a = (1.0, 3.0, 0.5)
    b = (0.0, 1.0, -2.0)
    sizes = (1, 4, 2)
    fed = quadratics(a, b, sizes)
    assert (
        fed.dtype == torch.float64 and fed.num_classes is None and fed.sizes.tolist() == [1, 4, 2]
    )
    for k in range(3):
        x, y = fed.client(k)
        for w in (-1.0, 0.0, 2.5):
            assert float(0.5 * (x * w - y).square().mean()) == pytest.approx(
                a[k] / 2 * (w - b[k]) ** 2
            )
    w = quadratic_optimum(a, b, sizes)
    gradient = sum(n / 7 * a_i * (w - b_i) for n, a_i, b_i in zip(sizes, a, b, strict=True))
    assert gradient == pytest.approx(0, abs=1e-12)
    risk = 0.5 * (fed.test.x * w - fed.test.y).square().mean()
    expected = sum(
        n / 7 * a_i / 2 * (w - b_i) ** 2 for n, a_i, b_i in zip(sizes, a, b, strict=True)
    )
    assert float(risk) == pytest.approx(expected)


def test_quadratics_of_different_lengths_are_named():
    with pytest.raises(ValueError, match="one entry per client, got 1, 2 and 1"):
        quadratics([1.0], [0.0, 1.0])
