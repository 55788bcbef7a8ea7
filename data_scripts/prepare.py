"""Prepare Sentiment140 and show what comes of it: ``python data_scripts/prepare.py [--root FOLDER]``.

The preparation itself, from the text of a tweet to token ids, is in ``fedlab_core/data/disk/text.py``, because
``load_dataset("sentiment140")`` does the same. Nothing is written.
"""

import argparse

import numpy as np

from fedlab_core.data import Split, load_dataset
from fedlab_core.data.disk.text import LENGTH, PADDING, UNKNOWN, VOCABULARY


def main() -> None:
    """Show labels, lengths, vocabulary and accounts."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--root", metavar="FOLDER", help="data folder (default: $FEDLAB_DATA, then the user cache)")
    data = load_dataset("sentiment140", parser.parse_args().root)
    print(f"training: {_about(data.train)}\ntest: {_about(data.test)}")
    print(
        f"vocabulary: {int(data.train.x.max()) + 1} ids of at most {VOCABULARY}, those of padding and unknown words too"
    )
    sizes = np.array([len(user) for user in data.users or ()])
    print(f"accounts: {len(sizes)}, with {sizes.min()} to {sizes.max()} tweets, {np.median(sizes):g} in the median")
    for least in (5, 10, 20):
        print(f"    {(sizes >= least).sum()} have at least {least}, {sizes[sizes >= least].sum()} tweets together")


def _about(split: Split) -> str:
    lengths = (split.x != PADDING).sum(1).numpy()
    negative, positive = np.bincount(split.y, minlength=2)
    tokens = (
        f"{np.median(lengths):g} tokens in the median, {(lengths == LENGTH).mean():.1%} with the {LENGTH} that count"
    )
    unknown = (split.x == UNKNOWN).sum().item() / lengths.sum()
    return f"{len(split)} tweets, {negative} negative, {positive} positive; {tokens}; {unknown:.1%} unknown words"


if __name__ == "__main__":
    main()
