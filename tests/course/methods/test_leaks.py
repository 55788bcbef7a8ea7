"""What a move tells of labels: the theorem behind the rule, mixes read back, and noise."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.experiments.studies.sent import hidden
from fedlab_course.methods import leaks
from fedlab_course.methods.forgetful import Forgetful

DIGITS = fl.load_dataset("digits")


@pytest.fixture(scope="module")
def fed():
    parts = fl.partition.dirichlet(DIGITS.train.y, num_clients=30, alpha=0.3, seed=0)
    return fl.FederatedDataset(DIGITS, parts)


@pytest.mark.parametrize(("rule", "epochs", "lr"), [("bias", 2, 0.1), ("row", 1, 0.01)])
def test_a_label_that_rises_is_held(fed, rule, epochs, lr):
    model = fl.models.mlp(fed, (30,), seed=0)
    moves, _ = leaks.moves(fed, model, amount=epochs, lr=lr)
    scores = leaks.scores(moves, model, rule)
    held = leaks.label_mixes(fed) > 0
    assert (scores[~held] <= 0).all() and (scores[held] > 0).any()


def test_one_full_step_gives_the_mix_back_exactly(fed):
    """The gradient of the bias is the mean probability less the mix; softmax regression from zero
    gives 1/10 to all.
    """
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
    for parameters in model.parameters():
        torch.nn.init.zeros_(parameters)
    moves, steps = leaks.moves(fed, model, lr=0.1, batch_size=1000)
    assert steps.tolist() == [1.0] * 30
    told = leaks.mixes_from(leaks.scores(moves, model), np.full(10, 0.1), 0.1, steps)
    assert told == pytest.approx(leaks.label_mixes(fed), abs=1e-5)


def test_naming_is_counted_as_it_says():
    mixes = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    found = leaks.named(np.array([[1.0, 2.0, -1.0], [-0.5, 3.0, -1.0]]), mixes)
    assert (found.exact, found.precision, found.recall, found.main) == (0.5, 2 / 3, 2 / 3, 0.5)


def test_hidden_moves_are_clipped_and_noise_has_its_size():
    moves = torch.tensor([[3.0, 4.0], [0.3, 0.4]], dtype=torch.float64)
    clipped = hidden(moves, 1.0, 0.0, np.random.default_rng(0))
    assert clipped.tolist() == [pytest.approx([0.6, 0.8]), pytest.approx([0.3, 0.4])]
    noise = hidden(
        torch.zeros(1, 40_000, dtype=torch.float64) + 1e-12, 2.0, 0.5, np.random.default_rng(0)
    )
    assert float(noise.std()) == pytest.approx(1.0, abs=0.02)


def test_scores_add_the_weights_of_a_label_to_its_bias():
    moves = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    assert leaks.scores(moves, torch.nn.Linear(2, 2)).tolist() == [[5, 6]]
    assert leaks.scores(moves, torch.nn.Linear(2, 2), "row").tolist() == [[8, 13]]


def test_another_rule_and_a_layer_without_bias_are_refused():
    with pytest.raises(ValueError, match="rule"):
        leaks.scores(torch.zeros(1, 6), torch.nn.Linear(2, 2), "weights")


def test_without_memory_small_entries_are_never_sent():
    """Two clients agree on the second entry and cancel in the first, which is the larger: w stays
    where it is.
    """
    axes = np.sqrt(2) * np.eye(2)
    pairs = [(axes, axes @ np.array([[first], [1.0]])) for first in (3.0, -3.0)]
    toy = fl.FederatedDataset.from_clients(pairs, pairs[0])
    work = {
        "rounds": 20,
        "clients_per_round": 2,
        "local_steps": 1,
        "batch_size": None,
        "lr": 0.01,
        "eval_every": 20,
    }
    start = fl.models.linear(toy, bias=False)
    torch.nn.init.zeros_(next(start.parameters()))
    params = fl.simulate(
        toy, start, Forgetful(fl.FedAvg(), keep=0.5), **work, loss="squared_error", progress=False
    ).params
    assert params.abs().max() < 1e-12
