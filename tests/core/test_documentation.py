"""The code in docs/algorithms.md runs, and does what the page says; docs/sources.md names every data set."""

import re
from pathlib import Path

import pytest
import torch

import fedlab_core as fl
from fedlab_core.data import DATASETS
from fedlab_core.data.disk.sources import SOURCES
from tests.support import blobs

PAGE = (Path(__file__).parents[2] / "docs" / "algorithms.md").read_text(encoding="utf-8")
WORK = {"rounds": 3, "clients_per_round": 3, "local_epochs": 1, "batch_size": 4, "lr": 0.1, "progress": False}


@pytest.fixture(scope="module")
def page() -> dict:
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
    return names


def run(algorithm: fl.Algorithm, **changes) -> fl.History:
    fed = blobs((9, 5, 12, 7, 3))
    return fl.simulate(fed, fl.models.mlp(fed, (4,), seed=1), algorithm, **{**WORK, **changes})


def test_every_field_of_a_correction_and_every_method_is_named() -> None:
    missing = {name for name in vars(fl.Correction()) if f"`{name}`" not in PAGE}
    own = {name for name in vars(fl.Algorithm) if not name.startswith("_") and callable(getattr(fl.Algorithm, name))}
    missing |= {name for name in own if not re.search(rf"\b{name}\b", PAGE)} - {"describe", "after_aggregation"}
    assert not missing


def test_only_the_head_learns(page) -> None:
    before = run(page["HeadOnly"](), lr=1e-12).params
    changed = ((run(page["HeadOnly"]()).params - before).abs() > 1e-6).nonzero().flatten()
    assert changed.min() == 4 * 4 + 4
    assert changed.max() == len(before) - 1


def test_momentum_of_zero_is_fedavg_and_more_is_not(page) -> None:
    plain = run(fl.FedAvg()).params
    torch.testing.assert_close(run(page["ServerMomentum"](0.0)).params, plain, rtol=0, atol=1e-12)
    assert (run(page["ServerMomentum"](0.9)).params - plain).abs().max() > 1e-3


def test_the_neediest_of_all_are_those_with_the_largest_loss(page) -> None:
    asked, seen = [], []

    class Watched(page["Neediest"]):
        def correction(self, server, client):
            if not asked or asked[-1][0] != server.round:
                losses = server.losses(range(5))
                asked.append((server.round, set(losses.argsort(descending=True)[:3].tolist())))
            seen.append((server.round, client))
            return super().correction(server, client)

    history = run(Watched(5))
    for round, expected in asked:
        assert {client for r, client in seen if r == round} == expected
    size = 8 * len(history.params)
    assert history.records[-1].bytes_down == 3 * (5 + 3) * size
    assert history.records[-1].bytes_up == 3 * (5 * 8 + 3 * size)


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_named_with_its_terms_and_what_to_cite(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    if name in SOURCES:
        assert row == f"| `{name}` | {SOURCES[name].citation} | {SOURCES[name].terms} |"
