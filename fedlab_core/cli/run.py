"""The command ``run``: one experiment, from a data set and a partition to a history file."""

import argparse
import dataclasses
import inspect
import typing
from pathlib import Path
from typing import Any

from fedlab_core import arguments, models, validation
from fedlab_core.algorithms import ALGORITHMS, Algorithm
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.engines import ENGINES
from fedlab_core.history import History
from fedlab_core.schedules import InverseTime, Schedule
from fedlab_core.simulation import Diverged, simulate

MODELS = ("softmax_regression", "mlp", "cnn_mnist", "cnn_cifar")
PARTITIONS = ("iid", "shards", "labels_per_client", "dirichlet", "quantity", "by_user")
_LAW_OPTIONS = ("num_clients", "alpha", "by", "shards_per_client", "labels_per_client", "min_size", "min_samples")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``run`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    add = parser.add_argument
    add("--dataset", default="digits", metavar="NAME", help="default: digits; `data list` shows all")
    add("--partition", default="dirichlet", metavar="LAW", help=f"{', '.join(PARTITIONS)} (default: dirichlet)")
    add("--num-clients", type=int, metavar="N", help="default: 100")
    add("--alpha", type=float, help="concentration of dirichlet and quantity (default for dirichlet: 0.3)")
    add("--by", help="which Dirichlet law: client or class")
    add("--shards-per-client", type=int, metavar="S")
    add("--labels-per-client", type=int, metavar="C")
    add("--min-size", type=int, metavar="n", help="smallest client of dirichlet")
    add("--min-samples", type=int, metavar="n", help="smallest account of by_user")
    add("--model", default="mlp", metavar="NAME", help=f"{', '.join(MODELS)} (default: mlp)")
    add("--algorithm", default="fedavg", metavar="NAME", help=f"{', '.join(ALGORITHMS)} (default: fedavg)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the algorithm, such as mu=0.1")
    add("--rounds", type=int, default=50, metavar="T", help="default: 50")
    add("--clients-per-round", type=_number, default=0.2, metavar="K", help="a number or a fraction (default: 0.2)")
    work = parser.add_mutually_exclusive_group()
    work.add_argument("--local-epochs", type=int, metavar="E", help="default: 5")
    work.add_argument("--local-steps", type=int, metavar="STEPS")
    add("--batch-size", type=_size, default=10, metavar="B", help="a number or `full` (default: 10)")
    add("--lr", type=float, default=0.05, help="default: 0.05")
    add("--lr-schedule", choices=("constant", "inverse-time"), default="constant", help="default: constant")
    add("--stragglers", type=float, default=0.0, metavar="FRACTION", help="clients that do only part of their work")
    add("--seed", type=int, default=0, help="of every random stream (default: 0)")
    add("--engine", default="auto", metavar="NAME", help=f"{', '.join(ENGINES)} (default: auto)")
    add("--device", default="cpu", help="default: cpu")
    add("--eval-every", type=int, default=1, metavar="T", help="evaluate after every T rounds (default: 1)")
    add("--checkpoint", type=Path, metavar="FILE", help="write the state as rounds end, and resume from it")
    add("--out", type=Path, default=Path("build/history.npz"), metavar="FILE.npz", help="default: build/history.npz")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.out.suffix != ".npz":
        raise ValueError(f"--out {options.out}: must end in .npz; the table goes beside it, ending in .csv")
    validation.seed(options.seed)
    algorithm = build_algorithm(options.algorithm, arguments.parse_assignments(options.set))
    build_model = getattr(models, validation.choice("model", options.model, MODELS))
    fed = _federation(options)
    try:
        history = simulate(
            fed,
            build_model(fed, seed=options.seed),
            algorithm,
            rounds=options.rounds,
            clients_per_round=options.clients_per_round,
            local_epochs=5 if options.local_steps is options.local_epochs is None else options.local_epochs,
            local_steps=options.local_steps,
            batch_size=options.batch_size,
            lr=_schedule(options),
            seed=options.seed,
            engine=options.engine,
            device=options.device,
            eval_every=options.eval_every,
            checkpoint=options.checkpoint,
            stragglers=options.stragglers,
        )
    except Diverged as error:
        _save(error.history, options.out)
        raise
    _save(history, options.out)
    return 0


def build_algorithm(name: str, settings: dict[str, str]) -> Algorithm:
    """An algorithm from its name and the texts of its parameters; ``ValueError`` for a bad name or value."""
    kind = ALGORITHMS[validation.choice("algorithm", name.lower(), ALGORITHMS)]
    declared: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    fields = {field.name: field for field in declared}
    for parameter in settings:
        if parameter not in fields:
            raise arguments.unknown(f"parameter of {name}", parameter, fields)
    missing = [key for key, field in fields.items() if key not in settings and field.default is dataclasses.MISSING]
    if missing:
        raise ValueError(f"algorithm {name} needs a value: --set {missing[0]}=…")
    kinds = typing.get_type_hints(kind)
    return kind(**{key: arguments.from_text(key, text, kinds[key]) for key, text in settings.items()})


def _federation(options: argparse.Namespace) -> FederatedDataset:
    law = getattr(partition, validation.choice("partition", options.partition, PARTITIONS))
    accepted = inspect.signature(law).parameters
    defaults = {"num_clients": 100} | ({"alpha": 0.3} if options.partition == "dirichlet" else {})
    given = {name: getattr(options, name) for name in _LAW_OPTIONS if getattr(options, name) is not None}
    for name in given:
        if name not in accepted:
            raise ValueError(f"--{name.replace('_', '-')} has no meaning for --partition {options.partition}")
    chosen: dict[str, Any] = {name: value for name, value in defaults.items() if name in accepted} | given
    for name, parameter in accepted.items():
        if name in _LAW_OPTIONS and name not in chosen and parameter.default is parameter.empty:
            raise ValueError(f"--partition {options.partition} needs --{name.replace('_', '-')}")
    dataset = load_dataset(options.dataset)
    if options.partition == "by_user":
        if dataset.users is None:
            raise ValueError(f"--partition by_user: the data set {dataset.name} has no users")
        return FederatedDataset(dataset, law(dataset.users, **chosen))
    return FederatedDataset(dataset, law(dataset.train.y, seed=options.seed, **chosen))


def _schedule(options: argparse.Namespace) -> float | Schedule:
    return InverseTime(options.lr) if options.lr_schedule == "inverse-time" else options.lr


def _save(history: History, path: Path) -> None:
    history.save(path)
    table = path.with_suffix(".csv")
    history.frame.to_csv(table, index=False)
    last = history.frame.dropna(subset=["test_loss"]).tail(1)
    if len(last):
        row = last.iloc[0]
        print(f"round {row['round']:.0f}: test accuracy {row['test_accuracy']:.4f}, test loss {row['test_loss']:.4f}")
    print(f"history: {path}\ntable: {table}")


def _number(text: str) -> float:
    """An integer stays one: 1 is one client, 1.0 is all of them."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _size(text: str) -> int | None:
    return None if text == "full" else int(text)
