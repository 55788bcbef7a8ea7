"""The commands ``data list``, ``data fetch`` and ``data verify``."""

import argparse

from fedlab_core.data.disk import store
from fedlab_core.data.disk.files import locate, search_roots
from fedlab_core.data.disk.sources import BUILT_IN, DATASETS, SOURCES
from fedlab_core.validation import choice


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the commands to ``parser``.

    Each sets ``run``, a function from the parsed arguments to the exit status.
    """
    commands = parser.add_subparsers(title="commands", required=True, metavar="list|fetch|verify")

    def add(name: str, summary: str, **defaults: object) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        where = "data folder (default: $FEDLAB_DATA, then the user cache)"
        command.add_argument("--root", metavar="FOLDER", help=where)
        command.set_defaults(**defaults)
        return command

    add("list", "Show every data set: its folder, size, terms and citation.", run=_list)
    continues = ". The same command keeps the files that have already arrived."
    summary = "Download a data set from its official mirrors."
    fetch = add("fetch", summary, run=_fetch, when_interrupted=continues)
    fetch.add_argument("name", metavar="NAME", help=", ".join(SOURCES))
    verify = add("verify", "Check the files of data sets against their checksums.", run=_verify)
    verify.add_argument(
        "names", nargs="*", metavar="NAME", help="default: every set that is on disk"
    )


def _list(arguments: argparse.Namespace) -> int:
    for name, about in BUILT_IN.items():
        print(f"{name}: {about}")
    for name, source in SOURCES.items():
        location = locate(source, search_roots(arguments.root))
        where = "not on disk"
        if location.files:
            where = (
                f"{', '.join(path.name for path in location.files.values())} in {location.folder}"
            )
            where += f"; {', '.join(location.missing)} missing" if location.missing else ""
        print(f"{name}: {where}\n    terms: {source.terms}\n    cite: {source.citation}")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    name = choice("name", arguments.name, DATASETS)
    root = arguments.root
    if name in BUILT_IN:
        print(f"{name} {BUILT_IN[name]}: there is nothing to fetch.")
    else:
        print(f"{name} is in {store.fetch(name, root)}")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    roots = search_roots(arguments.root)
    names = [choice("name", name, DATASETS) for name in arguments.names]
    names = names or [name for name, source in SOURCES.items() if locate(source, roots).files]
    if not names:
        raise ValueError(
            "no data set is on disk; fetch one with `python -m fedlab_core data fetch NAME`"
        )
    good = True
    for name in names:
        if name in BUILT_IN:
            print(f"{name}: {BUILT_IN[name]}")
            continue
        for file, state in store.verify(name, arguments.root).items():
            print(f"{name}: {file}: {state}")
            good &= state == "ok"
    return 0 if good else 1
