"""Compare two algorithms as fairly as one machine can in a minute: ``compare(mine, baseline)``.

Each algorithm gets its own learning rate, the best of seven. The rates are chosen on validation
samples, which are taken from the training samples and are not used for the verdict. Then both run
on the same five seeds: a pair of runs has the same split, start, cohorts and batches, unless an
algorithm changes them. What counts is the difference of each pair.

To choose among ideas, measure these runs on validation samples too (``on="validation"``). The
verdict on the chosen idea comes from the test samples, with all training samples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from sklearn.model_selection import train_test_split

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.compare import Interval, t_interval
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.language import translator
from fedlab_course import comparison_figures as figures
from fedlab_course.evidence.judging import NAMES, judge

_ = translator(__name__)

RATES = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SEEDS = (0, 1, 2, 3, 4)
CHOOSING = (100,)  # the seeds that choose a rate
MARGIN = 0.01
SAMPLES = {"test": _("test"), "validation": _("validation")}  # that measure the seeds
VALIDATION = 0.2  # of the training samples
_SEVERAL = {"lr": "rates", "seed": "seeds"}
Divide = Callable[[Dataset, int], fl.FederatedDataset]
Build = Callable[..., torch.nn.Module]


def two_labels(data: Dataset, seed: int) -> fl.FederatedDataset:
    """100 clients with two labels each."""
    law: dict[str, Any] = {"num_clients": 100, "labels_per_client": 2, "seed": seed}
    return fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, **law))


def held_out(data: Dataset, seed: int, share: float = VALIDATION) -> Dataset:
    """``data`` with a ``share`` of the training samples of each label as its test samples.

    The test samples of ``data`` are in neither part.
    """
    validation.real("share", share, minimum=0, below=1, exclusive=True)
    labels = data.train.y.numpy()
    kept, held = train_test_split(
        np.arange(len(labels)), test_size=share, random_state=seed, stratify=labels
    )
    train, test = (Split(data.train.x[part], data.train.y[part]) for part in (kept, held))
    return Dataset(data.name, train, test, data.num_classes)


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    ``mine`` and ``baseline``: the names of the algorithms. ``validated``: accuracy on validation
    samples, [rates × names]; NaN for a rate at which a run diverged. ``rates``: name → the best
    one. ``ends``: accuracy after the last round, [seeds × names]. ``margin``: δ. ``on``: the
    samples of ``ends``, "test" or "validation".
    """

    mine: str
    baseline: str
    validated: pd.DataFrame
    rates: Mapping[str, float]
    ends: pd.DataFrame
    margin: float
    on: str = "test"

    @property
    def differences(self) -> np.ndarray:
        """``mine`` less ``baseline``, seed by seed [n]."""
        found: np.ndarray = (self.ends[self.mine] - self.ends[self.baseline]).to_numpy()
        return found

    @property
    def interval(self) -> Interval:
        """The mean difference and its 95 % t-interval."""
        return t_interval(self.differences)

    @property
    def verdict(self) -> str:
        """The word for it: holds, opposite, equivalent, higher, lower or undecided."""
        numbers = list(self.differences)
        found = judge("mine", numbers, self.margin, expect="positive", planned=len(numbers))
        return found.verdict

    def edges(self) -> list[str]:
        """The algorithms whose best rate is the smallest or the largest of those tried."""
        ends = {self.validated.index.min(), self.validated.index.max()}
        return [name for name, rate in self.rates.items() if rate in ends]

    def words(self) -> str:
        """The result in three sentences, or four if a best rate lies at the edge."""
        points = self.interval
        rate_of = _("{name} at η = {rate}")
        rates = [rate_of.format(name=name, rate=f"{rate:g}") for name, rate in self.rates.items()]
        text = _(
            "Best rates by validation: {rates}. {mine} less {baseline} on {samples} samples, over "
            "{count} paired seeds: {mean} points [{low}, {high}]. “{mine} ends higher”, with "
            "δ = {margin}: {verdict}."
        ).format(
            rates=_(" and ").join(rates),
            mine=self.mine,
            baseline=self.baseline,
            samples=SAMPLES[self.on],
            count=points.runs,
            mean=f"{100 * points.mean:+.1f}",
            low=f"{100 * points.low:+.1f}",
            high=f"{100 * points.high:+.1f}",
            margin=f"{100 * self.margin:g}",
            verdict=NAMES[self.verdict],
        )
        at_edge = self.edges()
        if not at_edge:
            return text
        more = _("{text} The best rate of {names} lies at the edge: try more rates.")
        return more.format(text=text, names=_(" and ").join(at_edge))

    def over_rates(self) -> go.Figure:
        """Validation accuracy against the learning rate, a curve for each algorithm."""
        lines = {name: self.validated[name].dropna() for name in self.validated}
        return figures.over_rates(lines, title=_("Which rate suits which? (validation)"))

    def figure(self) -> go.Figure:
        """The paired differences as dots, with their interval and ±δ."""
        name = f"{self.mine} − {self.baseline}"
        title = _("Seed by seed, on {samples} samples").format(samples=SAMPLES[self.on])
        return figures.differences({name: self.differences}, margin=self.margin, title=title)


def compare(
    mine: fl.Algorithm,
    baseline: fl.Algorithm,
    *,
    data: Dataset,
    model: Build,
    split: Divide = two_labels,
    rates: Sequence[float] = RATES,
    seeds: Sequence[int] = SEEDS,
    choosing: Sequence[int] = CHOOSING,
    margin: float = MARGIN,
    on: str = "test",
    **setting: Any,
) -> Comparison:
    """Judge ``mine`` against ``baseline``, each at the best of the ``rates``.

    ``data``: a data set. ``model``: a function of a federation and a ``seed``, such as
    ``fl.models.mlp``. ``split``: a function of a data set and a seed that returns a federation, by
    default 100 clients with two labels each. ``seeds``: those that judge; ``choosing``: those that
    choose the rates on validation samples, and are not used for the verdict. ``margin``: δ, a
    share. ``on``: the samples that measure the judging seeds, "test" or, while ideas are chosen,
    "validation": then the test samples of ``data`` are not used. ``setting``: the other arguments
    of :func:`fedlab_core.simulate`, such as ``rounds``.

    With the defaults 2 × 7 runs choose and 2 × 5 judge. A rate at which a run diverges is not
    chosen. Raises ``ValueError`` for two algorithms with one name, fewer than two seeds, a seed in
    both lists, unknown samples, ``lr`` or ``seed`` in the setting, and if an algorithm diverges at
    every rate.
    """
    names = [_name(mine), _name(baseline)]
    _check(names, rates, seeds, choosing, margin, setting)
    validation.choice("on", on, SAMPLES)
    rules = dict(zip(names, (mine, baseline), strict=True))
    work = {"progress": False, **setting}
    parts = {seed: split(held_out(data, seed), seed) for seed in choosing}
    validated = _validated(rules, rates, parts, model, work)
    best = {name: float(validated[name].idxmax()) for name in names}
    ends = pd.DataFrame(index=pd.Index(seeds, name="seed"), columns=names, dtype=float)
    for seed in seeds:
        fed = split(data if on == "test" else held_out(data, seed), seed)
        for name, rule in rules.items():
            ends.loc[seed, name] = _end(fed, model, rule, best[name], seed, work)
    for name in names:
        if ends[name].isna().any():
            raise ValueError(
                f"{name}: diverged at its best rate {best[name]:g} under a seed that judges; give "
                "rates below it"
            )
    return Comparison(names[0], names[1], validated, best, ends, margin, on)


def _validated(
    rules: Mapping[str, fl.Algorithm],
    rates: Sequence[float],
    parts: Mapping[int, fl.FederatedDataset],
    model: Build,
    work: Mapping[str, Any],
) -> pd.DataFrame:
    """Accuracy on validation samples, [rates × names], the mean over the seeds of ``parts``."""
    table = pd.DataFrame(index=pd.Index(rates, name="lr"), columns=list(rules), dtype=float)
    for name, rule in rules.items():
        for rate in rates:
            ends = [_end(fed, model, rule, rate, seed, work) for seed, fed in parts.items()]
            table.loc[rate, name] = np.mean(ends)
        if table[name].isna().all():
            raise ValueError(
                f"rates={list(rates)}: {name} diverged at every rate; give smaller ones"
            )
    return table


def _name(algorithm: fl.Algorithm) -> str:
    if not isinstance(algorithm, fl.Algorithm):
        raise ValueError(
            f"{algorithm!r}: must be an algorithm, for example Mine() with its brackets"
        )
    return str(algorithm).removesuffix("()")


def _check(
    names: Sequence[str],
    rates: Sequence[float],
    seeds: Sequence[int],
    choosing: Sequence[int],
    margin: float,
    setting: Mapping[str, Any],
) -> None:
    """Refuse what cannot be compared, before anything is trained."""
    if names[0] == names[1]:
        raise ValueError(f"mine and baseline: both are called {names[0]}; rename one class")
    if not len(rates) or len(set(rates)) < len(rates):
        raise ValueError(f"rates={list(rates)}: must be one or more different learning rates")
    for rate in rates:
        validation.real("rates", rate, minimum=0, exclusive=True)
    if len(set(seeds)) < 2 or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds={list(seeds)}: must be two or more different seeds")
    if not len(choosing) or set(choosing) & set(seeds):
        raise ValueError(
            f"choosing={list(choosing)}: must be one or more seeds that are not in "
            f"seeds={list(seeds)}, because a seed that chose a rate must not judge it"
        )
    validation.real("margin", margin, minimum=0)
    for name in ("lr", "seed"):
        if name in setting:
            raise ValueError(
                f"{name}={setting[name]!r}: compare sets it; give {_SEVERAL[name]} in its place"
            )


def _end(
    fed: fl.FederatedDataset,
    model: Build,
    rule: fl.Algorithm,
    rate: float,
    seed: int,
    work: Mapping[str, Any],
) -> float:
    """The accuracy after the last round; NaN if the run diverges."""
    try:
        history = fl.simulate(fed, model(fed, seed=seed), rule, lr=rate, seed=seed, **work)
    except fl.Diverged:
        return float("nan")
    return float(history.frame["test_accuracy"].iloc[-1])
