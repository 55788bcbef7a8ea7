"""Frozen layers stay as they are: what is trained, sent, corrected and stored is the rest."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.simulation import Simulation

SIZES = (3, 17, 8, 30, 2)
WORK = {
    "rounds": 2,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 5,
    "lr": 0.1,
    "progress": False,
}
ENGINES = ("reference", "stacked")


def images(sizes: tuple[int, ...] = SIZES, *, side: int = 8, test: int = 20) -> fl.FederatedDataset:
    """Random images of three classes, each with its own mean; some clients lack a class."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(3, 1, side, side, generator=generator, dtype=torch.float64)

    def draw(n: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.randint(0, 2 + k % 2, (n,), generator=generator)
        return centres[y] + torch.randn(
            n, 1, side, side, generator=generator, dtype=torch.float64
        ), y

    return fl.FederatedDataset.from_clients(
        [draw(n, k) for k, n in enumerate(sizes)], test=draw(test, 1)
    )


def seeded(build: Callable[[], nn.Module]) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return build().double()


def dense() -> nn.Sequential:
    """Its linear layers are 1, 3 and 5."""
    layers = [
        nn.Flatten(),
        nn.Linear(64, 9),
        nn.ReLU(),
        nn.Linear(9, 7),
        nn.Tanh(),
        nn.Linear(7, 3),
    ]
    return nn.Sequential(*layers)


def convolutional() -> nn.Sequential:
    """Its layers with parameters are 0, 3 and 6."""
    first = [nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, nn.Conv2d(4, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(20, 3))


class Residual(nn.Module):
    """A block as in a ResNet: convolutions with batch normalisation, and the input added."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm_one = nn.BatchNorm2d(4)
        self.two = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.norm_two = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm_one(self.one(x)))
        return torch.relu(self.norm_two(self.two(y)) + y).mean((2, 3))


def pretrained() -> nn.Sequential:
    """A backbone whose batch normalisations have seen data, and a new head."""
    backbone = Residual()
    for _ in range(3):
        backbone(2 + 3 * torch.randn(16, 1, 8, 8))
    return nn.Sequential(backbone, nn.Linear(4, 3))


def frozen(build: Callable[[], nn.Module], *names: str) -> nn.Module:
    """The model with the parameters frozen whose names begin so."""
    model = seeded(build)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(names))
    return model


def with_norms(*names: str) -> nn.Module:
    """The pre-trained model with all its normalisations constant, and the parameters of these
    ``names`` frozen.
    """
    model = frozen(pretrained, "0.norm", *names)
    model[0].norm_one.eval()
    model[0].norm_two.eval()
    return model


MODELS = {
    "mlp, first two": (lambda: frozen(dense, "1.", "3."), "layers"),
    "mlp, middle": (lambda: frozen(dense, "3."), "vmap"),
    "mlp, biases": (lambda: frozen(dense, "1.bias", "3.bias", "5.bias"), "vmap"),
    "cnn, both convolutions": (lambda: frozen(convolutional, "0.", "3."), "layers"),
    "backbone with batch normalisation": (lambda: with_norms("0."), "layers"),
    "batch normalisation alone": (lambda: with_norms(), "vmap"),
}


def simulate(
    model: nn.Module, algorithm: fl.Algorithm | None = None, fed=None, **changes
) -> Simulation:
    sim = fl.Simulation(fed or images(), model, algorithm or fl.FedAvg(), **(WORK | changes))
    sim.run()
    return sim


def kept(model: nn.Module) -> dict[str, torch.Tensor]:
    """What must not change: frozen parameters and buffers."""
    found = {name: value for name, value in model.named_parameters() if not value.requires_grad}
    return {
        name: value.detach().clone()
        for name, value in (found | dict(model.named_buffers())).items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_engines_agree_and_what_is_frozen_stays(name: str) -> None:
    build, form = MODELS[name]
    runs = []
    for engine in ENGINES:
        model = build()
        before = kept(model)
        modes = {key: layer.training for key, layer in model.named_modules()}
        whole = copy.deepcopy(model.state_dict())
        runs.append(sim := simulate(model, engine=engine))
        for found in (sim.model, sim.history.model):
            assert all(torch.equal(value, before[key]) for key, value in kept(found).items())
            assert kept(found).keys() == before.keys() and torch.equal(
                start_of(found), sim.history.params
            )
        assert all(torch.equal(value, whole[key]) for key, value in model.state_dict().items())
        assert {key: layer.training for key, layer in model.named_modules()} == modes
    assert runs[1].history.config["engine_form"] == form
    slow, fast = (run.history for run in runs)
    trained = sum(value.numel() for value in build().parameters() if value.requires_grad)
    assert slow.params.shape == (trained,) and not torch.equal(slow.params, start_of(build()))
    torch.testing.assert_close(fast.params, slow.params, rtol=0, atol=1e-9)


def start_of(model: nn.Module) -> torch.Tensor:
    return torch.cat(
        [value.detach().flatten() for value in model.parameters() if value.requires_grad]
    )


@pytest.mark.parametrize(
    ("name", "algorithm", "engine"),
    [
        ("mlp, first two", fl.FedAvg(), "reference"),
        ("mlp, first two", fl.FedCurv(0.05), "stacked"),
        ("backbone with batch normalisation", fl.Scaffold(), "stacked"),
    ],
    ids=str,
)
def test_a_frozen_prefix_is_the_head_on_its_features(
    name: str, algorithm: fl.Algorithm, engine: str
) -> None:
    model = MODELS[name][0]()
    fed = images()
    body = model[:-1]
    head = model[-1]
    modes = [(layer, layer.training) for layer in body.modules()]
    body.eval()
    with torch.no_grad():
        clients = [(body(x), y) for x, y in map(fed.client, range(fed.num_clients))]
        features = fl.FederatedDataset.from_clients(clients, test=(body(fed.test.x), fed.test.y))
    for layer, mode in modes:
        layer.training = mode
    whole = simulate(model, algorithm, fed, engine=engine)
    alone = simulate(head, algorithm, features, engine=engine)
    torch.testing.assert_close(whole.history.params, alone.history.params, rtol=0, atol=1e-9)
    rows, others = (sim.history.frame.drop(columns="seconds") for sim in (whole, alone))
    assert abs(rows - others).to_numpy().max() < 1e-9


def test_a_checkpoint_goes_on_and_knows_the_frozen_part(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    model = with_norms("0.")
    whole = simulate(model).history
    first = fl.Simulation(images(), model, fl.FedAvg(), **(WORK | {"checkpoint": path}))
    for record in first:
        if record.round == 1:
            break
    resumed = simulate(model, checkpoint=path).history
    assert torch.equal(resumed.params, whole.params)
    for change in (lambda m: m[0].one.weight, lambda m: m[0].norm_one.running_mean):
        other = copy.deepcopy(model)
        with torch.no_grad():
            change(other).add_(1e-3)
        with pytest.raises(ValueError, match=r"belongs to another run, with model: "):
            simulate(other, checkpoint=path)


def test_a_history_is_loaded_and_run_again_with_its_frozen_part(tmp_path: Path) -> None:
    model = with_norms("0.")
    path = tmp_path / "history.npz"
    history = simulate(model).history
    history.save(path)
    with pytest.raises(ValueError, match=r"use History\.load"):
        _ = fl.History.load(path).model
    loaded = fl.History.load(path, model=model)
    x = images().test.x
    assert torch.equal(loaded.model.eval()(x), history.model.eval()(x))
    other = copy.deepcopy(model)
    other[0].norm_one.running_var.mul_(2)
    with pytest.raises(ValueError, match=r"frozen parameters or buffers are not those of the run"):
        fl.History.load(path, model=other)
    again = fl.rerun(history.config, fed=images(), model=model, progress=False)
    assert torch.equal(again.params, history.params)
    with pytest.raises(ValueError, match=r"its weights have the digest"):
        fl.rerun(history.config, fed=images(), model=other, progress=False)


@pytest.mark.parametrize("change", ["trained", "in training mode", "without averages"])
def test_batch_normalisation_that_could_change_is_refused(change: str) -> None:
    model = with_norms("0.")
    if change == "trained":
        model[0].norm_two.bias.requires_grad_(True)
    elif change == "in training mode":
        model.train()
    else:
        model[0].norm_one = (
            nn.BatchNorm2d(4, track_running_stats=False).double().requires_grad_(False).eval()
        )
    with pytest.raises(
        ValueError,
        match=r"'0.norm_\w+' is BatchNorm2d.*GroupNorm.*requires_grad_\(False\).eval\(\)",
    ):
        simulate(model)
