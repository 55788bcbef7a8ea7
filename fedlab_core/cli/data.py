"""The commands ``data list``, ``data fetch`` and ``data verify``."""

import argparse
from collections.abc import Callable

from fedlab_core.data.disk import store
from fedlab_core.data.disk.files import Location, locate, search_roots
from fedlab_core.data.disk.sources import BUILT_IN, DATASETS, SOURCES, Source
from fedlab_core.validation import choice

Command = Callable[[argparse.Namespace], int]
_GOES_ON = ". The same command goes on from what has already arrived."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the commands to ``parser``; each sets ``run``, a function from the parsed arguments to the exit status."""
    commands = parser.add_subparsers(title="commands", required=True, metavar="|".join(_COMMANDS))
    for name, (summary, add_arguments, run) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        add_arguments(command)
        command.set_defaults(run=run, when_interrupted=_GOES_ON if name == "fetch" else "")


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="FOLDER", help="data folder (default: $FEDLAB_DATA, then the user cache)")


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=", ".join(SOURCES))
    parser.add_argument("--from", dest="folder", metavar="FOLDER", help="import files that are already in FOLDER")
    _add_root(parser)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: every set that is on disk")
    _add_root(parser)


def _list(arguments: argparse.Namespace) -> int:
    for name in DATASETS:
        if name in BUILT_IN:
            print(f"{name}: {BUILT_IN[name]}")
        else:
            source = SOURCES[name]
            print(f"{name}: {_where(locate(source, search_roots(arguments.root)))}")
            print(f"    terms: {source.terms}\n    cite: {source.citation}")
    return 0


def _where(location: Location | None) -> str:
    if location is None:
        return "not on disk"
    if location.missing:
        return f"incomplete in {location.folder}, lacks {', '.join(location.missing)}"
    size = sum(path.stat().st_size for path in location.files.values())
    return f"{location.folder} ({size / 1e6:.0f} MB)"


def _fetch(arguments: argparse.Namespace) -> int:
    name = choice("name", arguments.name, DATASETS)
    if name in BUILT_IN:
        print(f"{name} {BUILT_IN[name]}: there is nothing to fetch.")
    elif arguments.folder is None:
        print(f"{name} is in {store.fetch(name, arguments.root)}")
    else:
        print(f"{name} is in {store.import_from(name, arguments.folder, arguments.root)}")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    on_disk = [name for name, source in SOURCES.items() if _is_on_disk(source, arguments.root)]
    names = [choice("name", name, DATASETS) for name in arguments.names] or on_disk
    if not names:
        raise ValueError("there is no data set on disk to verify")
    good = True
    for name in names:
        if name in BUILT_IN:
            print(f"{name}: {BUILT_IN[name]}")
            continue
        for report in store.verify(name, arguments.root):
            print(f"{name}: {report.path or report.name}: {report.state}")
            good &= report.state == "ok"
    return 0 if good else 1


def _is_on_disk(source: Source, root: str | None) -> bool:
    return locate(source, search_roots(root)) is not None


_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Command]] = {
    "list": ("Show every data set: where it is, its size, its terms, what to cite.", _add_root, _list),
    "fetch": ("Download a data set from its official mirrors, or import it from a folder.", _add_fetch, _fetch),
    "verify": ("Check the files of data sets against their checksums.", _add_verify, _verify),
}
