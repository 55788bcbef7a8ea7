"""Show labels, lengths, vocabulary and accounts of Sentiment140 as ``load_dataset`` prepares it;
nothing is written.

``python data_scripts/prepare.py``. The data folder is ``$FEDLAB_DATA``, then the user cache.
"""

import numpy as np

from fedlab_core.data import load_dataset
from fedlab_core.data.disk.text import LENGTH, PADDING, UNKNOWN

data = load_dataset("sentiment140")
for name, split in (("training", data.train), ("test", data.test)):
    lengths = (split.x != PADDING).sum(1).numpy()
    negative, positive = np.bincount(split.y, minlength=2)
    unknown = (split.x == UNKNOWN).sum().item() / lengths.sum()
    print(
        f"{name}: {len(split)} tweets, {negative} negative, {positive} positive; {unknown:.1%} "
        "unknown words;"
    )
    print(
        f"    median of {np.median(lengths):g} tokens, {(lengths == LENGTH).mean():.1%} with "
        f"{LENGTH} or more"
    )
print(f"vocabulary: {int(data.train.x.max()) + 1} ids, with those of padding and unknown words")
sizes = np.array([len(user) for user in data.users or ()])
print(
    f"accounts: {len(sizes)}, with {sizes.min()} to {sizes.max()} tweets, median "
    f"{np.median(sizes):g}"
)
for least in (5, 10, 20):
    print(
        f"    {(sizes >= least).sum()} have at least {least}, {sizes[sizes >= least].sum()} tweets "
        "together"
    )
