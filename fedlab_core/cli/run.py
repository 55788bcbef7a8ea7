"""The command ``run``: one experiment, from a data set and a partition to a history file."""

import argparse
from pathlib import Path

from fedlab_core import files, models, settings, validation
from fedlab_core.algorithms import ALGORITHMS
from fedlab_core.data import load_dataset, partition
from fedlab_core.history import History
from fedlab_core.reproduce import recipes
from fedlab_core.simulation import Diverged, simulate

_LAW_OPTIONS = (
    "num_clients",
    "alpha",
    "by",
    "shards_per_client",
    "labels_per_client",
    "min_size",
    "min_samples",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``run`` to ``parser``, and the function that runs it.

    The function takes the parsed arguments and returns the exit status.
    """
    _add_data(parser)
    _add_algorithm(parser)
    _add_settings(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/history.npz"),
        metavar="FILE.npz",
        help="default: build/history.npz",
    )
    parser.set_defaults(run=_run)


def _add_data(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--dataset", default="digits", metavar="NAME", help="default: digits; `data list` shows all"
    )
    add(
        "--partition",
        default="dirichlet",
        metavar="LAW",
        help=f"{', '.join(partition.LAWS)} (default: dirichlet)",
    )
    add("--num-clients", type=int, metavar="N", help="default: 100")
    add(
        "--alpha",
        type=float,
        help="concentration of dirichlet and quantity (default for dirichlet: 0.3)",
    )
    add("--by", help="which Dirichlet law: client or class")
    add("--shards-per-client", type=int, metavar="S")
    add("--labels-per-client", type=int, metavar="C")
    add("--min-size", type=int, metavar="n", help="smallest client of dirichlet")
    add("--min-samples", type=int, metavar="n", help="smallest account of by_user")


def _add_algorithm(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", default="mlp", metavar="NAME", help=f"{', '.join(models.MODELS)} (default: mlp)")
    add(
        "--algorithm",
        default="fedavg",
        metavar="NAME",
        help=f"{', '.join(ALGORITHMS)} (default: fedavg)",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the algorithm, such as mu=0.1",
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """An option for each setting; of the two amounts of local work only one can be given."""
    local_work = parser.add_mutually_exclusive_group()
    for name, declared in recipes.textual_settings().items():
        default = recipes.DEFAULT_SETTINGS.get(name, declared.default)
        shown = recipes.DEFAULT_EPOCHS if name == "local_epochs" else default
        meaning = settings.meaning(name)
        if shown is not None:
            meaning += f" (default: {shown})"
        group = local_work if name.startswith("local_") else parser
        option = "--" + name.replace("_", "-")
        group.add_argument(option, default=default, metavar="VALUE", help=meaning)
    parser.add_argument(
        "--lr-schedule",
        choices=("constant", "inverse-time"),
        default="constant",
        help="default: constant",
    )


def _run(options: argparse.Namespace) -> int:
    if options.out.suffix != ".npz":
        raise ValueError(
            f"--out {options.out}: must end in .npz; the table goes beside it, ending in .csv"
        )
    checkpoint = options.checkpoint
    if checkpoint is not None and Path(checkpoint).resolve() == options.out.resolve():
        raise ValueError(f"--out {options.out}: is the checkpoint too; name another file")
    files.check_writable(options.out)
    given = {name: getattr(options, name) for name in recipes.textual_settings()}
    if options.lr_schedule == "inverse-time":
        given["lr"] = {"schedule": "InverseTime", "lr0": validation.typed("lr", given["lr"], float)}
    given = recipes.run_settings(given)  # refused before any data are read
    algorithm = recipes.algorithm(options.algorithm, validation.parse_assignments(options.set))
    arguments = {name: getattr(options, name) for name in _LAW_OPTIONS}
    chosen = {name: value for name, value in arguments.items() if value is not None}
    deal = recipes.deal_of(options.partition, chosen)
    seed = given["seed"]
    validation.choice("model", options.model, models.MODELS)
    fed = recipes.federation(load_dataset(options.dataset), deal, seed)
    model = recipes.model(options.model, {}, fed, seed)
    try:
        history = simulate(fed, model, algorithm, **given)
    except Diverged as error:
        _save(error.history, options.out)
        raise
    _save(history, options.out)
    return 0


def _save(history: History, path: Path) -> None:
    history.save(path)
    table = path.with_suffix(".csv")
    history.frame.to_csv(table, index=False)
    last = history.frame.dropna(subset=["test_loss"]).tail(1)
    if len(last):
        row = last.iloc[0]
        print(
            f"round {row['round']:.0f}: test accuracy {row['test_accuracy']:.4f}, test loss "
            f"{row['test_loss']:.4f}"
        )
    print(f"history: {path}\ntable: {table}")
