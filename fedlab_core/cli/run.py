"""The command ``run``: one experiment, from a data set and a partition to a history file."""

import argparse
import dataclasses
import functools
import inspect
import operator
import typing
from pathlib import Path
from typing import Any

from fedlab_core import archive, arguments, models, settings, validation
from fedlab_core.algorithms import ALGORITHMS, Algorithm
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.history import History
from fedlab_core.schedules import InverseTime
from fedlab_core.simulation import Diverged, simulate

_LAW_OPTIONS = ("num_clients", "alpha", "by", "shards_per_client", "labels_per_client", "min_size", "min_samples")
# What a person would have to give otherwise; every other setting has its own default.
_DEFAULTS = {"rounds": 50, "clients_per_round": 0.2, "batch_size": 10, "lr": 0.05}
_DEFAULT_EPOCHS = 5
_NOT_IN_TEXT = ("availability", "progress")
_TEXTUAL = (bool, int, float, str, type(None))


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``run`` to ``parser``; ``run`` is a function from parsed arguments to the exit status."""
    add = parser.add_argument
    add("--dataset", default="digits", metavar="NAME", help="default: digits; `data list` shows all")
    add("--partition", default="dirichlet", metavar="LAW", help=f"{', '.join(partition.LAWS)} (default: dirichlet)")
    add("--num-clients", type=int, metavar="N", help="default: 100")
    add("--alpha", type=float, help="concentration of dirichlet and quantity (default for dirichlet: 0.3)")
    add("--by", help="which Dirichlet law: client or class")
    add("--shards-per-client", type=int, metavar="S")
    add("--labels-per-client", type=int, metavar="C")
    add("--min-size", type=int, metavar="n", help="smallest client of dirichlet")
    add("--min-samples", type=int, metavar="n", help="smallest account of by_user")
    add("--model", default="mlp", metavar="NAME", help=f"{', '.join(models.MODELS)} (default: mlp)")
    add("--algorithm", default="fedavg", metavar="NAME", help=f"{', '.join(ALGORITHMS)} (default: fedavg)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the algorithm, such as mu=0.1")
    work = parser.add_mutually_exclusive_group()
    for name, declared in _settings().items():
        default = _DEFAULTS.get(name, declared.default)
        shown = _DEFAULT_EPOCHS if name == "local_epochs" else default
        said = "" if shown is None else f" (default: {shown})"
        group: Any = work if name.startswith("local_") else parser
        option = "--" + name.replace("_", "-")
        group.add_argument(option, default=default, metavar="…", help=settings.meaning(name) + said)
    add("--lr-schedule", choices=("constant", "inverse-time"), default="constant", help="default: constant")
    add("--out", type=Path, default=Path("build/history.npz"), metavar="FILE.npz", help="default: build/history.npz")
    parser.set_defaults(run=_run)


def _settings() -> dict[str, dataclasses.Field[Any]]:
    """The settings of a run that can be given as text."""
    return {name: declared for name, declared in settings.declarations().items() if name not in _NOT_IN_TEXT}


def _value(name: str, kind: Any, text: Any) -> Any:
    """``text`` as one of those members of the union ``kind`` that can be written as text; a default stays as it is."""
    members = [member for member in typing.get_args(kind) or (kind,) if member in _TEXTUAL]
    return arguments.from_text(name, text, functools.reduce(operator.or_, members)) if isinstance(text, str) else text


def _run(options: argparse.Namespace) -> int:
    if options.out.suffix != ".npz":
        raise ValueError(f"--out {options.out}: must end in .npz; the table goes beside it, ending in .csv")
    if options.checkpoint is not None and Path(options.checkpoint).resolve() == options.out.resolve():
        raise ValueError(f"--out {options.out}: is the checkpoint too; name another file")
    archive.check_writable(options.out)
    given = {name: _value(name, declared.type, getattr(options, name)) for name, declared in _settings().items()}
    if given["local_epochs"] is given["local_steps"] is None:
        given["local_epochs"] = _DEFAULT_EPOCHS
    if options.lr_schedule == "inverse-time":
        given["lr"] = InverseTime(given["lr"])
    settings.Settings(**given)  # refused before any data are read
    algorithm = build_algorithm(options.algorithm, arguments.parse_assignments(options.set))
    build_model = models.MODELS[validation.choice("model", options.model, models.MODELS)]
    fed = _federation(options, given["seed"])
    try:
        history = simulate(fed, build_model(fed, seed=given["seed"]), algorithm, **given)
    except Diverged as error:
        _save(error.history, options.out)
        raise
    _save(history, options.out)
    return 0


def build_algorithm(name: str, texts: dict[str, str]) -> Algorithm:
    """An algorithm from its name and the texts of its parameters; ``ValueError`` for a bad name or value."""
    kind = ALGORITHMS[validation.choice("algorithm", name.lower(), ALGORITHMS)]
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for parameter in texts:
        validation.choice(f"parameter of {name}", parameter, fields)
    no_default = dataclasses.MISSING
    for key, field in fields.items():
        if key not in texts and field.default is no_default and field.default_factory is no_default:
            raise ValueError(f"algorithm {name} needs a value: --set {key}=…")
    kinds = typing.get_type_hints(kind)
    return kind(**{key: arguments.from_text(key, text, kinds[key]) for key, text in texts.items()})


def _federation(options: argparse.Namespace, seed: int) -> FederatedDataset:
    law = partition.LAWS[validation.choice("partition", options.partition, partition.LAWS)]
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
    return FederatedDataset(dataset, law(dataset.train.y, seed=seed, **chosen))


def _save(history: History, path: Path) -> None:
    history.save(path)
    table = path.with_suffix(".csv")
    history.frame.to_csv(table, index=False)
    last = history.frame.dropna(subset=["test_loss"]).tail(1)
    if len(last):
        row = last.iloc[0]
        print(f"round {row['round']:.0f}: test accuracy {row['test_accuracy']:.4f}, test loss {row['test_loss']:.4f}")
    print(f"history: {path}\ntable: {table}")
