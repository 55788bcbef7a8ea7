"""Run the runs or experiments behind a statement again, for a seed or two, and compare with what is
stored.
"""

import json
import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fedlab_core import validation
from fedlab_core.language import translator
from fedlab_core.reproduce.rerun import dataset_name, prepared
from fedlab_core.sweep import plan
from fedlab_course import display
from fedlab_course.evidence import configs, judging, shown, tables
from fedlab_course.experiments import all_experiments, measured_runs, measures, sweeps

_ = translator(__name__)

_WIDTH = 2  # standard deviations over seeds
# of the largest number in a contrast: tables keep six digits,
# and processors differ in the last bits
_ROUNDING = 1e-4


def again(row: str, seeds: Sequence[int] = (0,)) -> dict[int, float]:
    """Compute the number of a statement from runs made now: seed → number.

    Raises ``ValueError`` for an unknown row and a seed that its grid does not have.
    """
    every = judging.stored()
    statement = every[validation.choice("row", row, every)].statement
    numbers = {}
    for seed in seeds:
        sides = [
            sign * _measured(table, wanted, statement.measure, seed)
            for sign, table, wanted in statement.rows()
        ]
        numbers[seed] = sum(sides) - statement.constant
    return numbers


def show(row: str, seeds: Sequence[int] = (0,)) -> None:
    """Run a row again for some seeds and show the live numbers beside the stored ones: mean ± 2
    standard deviations.

    Arguments and errors as for :func:`again`.
    """
    live = again(row, seeds)
    judged = judging.stored()[row]
    stored = tables.numbers(judged.statement)
    lines = [_("Nothing is stored of this row yet.")]
    if stored:
        line = _("Stored: {interval}, {seeds}.")
        lines = [line.format(interval=shown.interval(judged), seeds=shown.seeds(judged))]
    for seed, value in live.items():
        line = _("Seed {seed}: {live} live, not stored.")
        if seed in stored:
            line = _("Seed {seed}: {live} live, {before} stored.")
        before = shown.number(stored[seed]) if seed in stored else ""
        lines.append(line.format(seed=seed, live=shown.number(value), before=before))
    word = _("Run again")
    if len(stored) > 1:
        mean = statistics.mean(stored.values())
        spread = _WIDTH * statistics.stdev(stored.values())
        largest = max(map(abs, [*stored.values(), *live.values()]))
        inside = all(abs(value - mean) <= spread + _ROUNDING * largest for value in live.values())
        word = _("✓ inside") if inside else _("✗ outside")
        line = _("✗ outside the stored band, {mean} ± {spread:.4f} (two standard deviations).")
        if inside:
            line = _("✓ inside the stored band, {mean} ± {spread:.4f} (two standard deviations).")
        lines.append(line.format(mean=shown.number(mean), spread=spread))
    title = _("{row}: {says}").format(row=row, says=judged.statement.sentence)
    display.publish(display.verdict("fedlab-again", word, title, lines))


def _measured(table: str, wanted: dict[str, Any], measure: str, seed: int) -> float:
    if table not in sweeps.names():
        return _of_experiment(table, wanted, measure, seed)
    path = configs.GRIDS / f"{table}.toml"
    seeds = configs.seeds(table)
    grid = plan.read(path, lambda axes: tables.fits(measures.plain(axes), wanted), seeds)
    by_seed = {run.axes["seed"]: run for run in grid.runs}
    if seed not in by_seed:
        raise ValueError(f"seeds={seed}: must be of the seeds of {table}, {list(by_seed)}")
    return float(_run(json.dumps(by_seed[seed].config), grid.target)[measure])


def _of_experiment(table: str, wanted: dict[str, Any], measure: str, seed: int) -> float:
    """The number of an experiment's row, from the cases that fit it."""
    experiment = all_experiments.EXPERIMENTS[configs.experiment_of(table)]
    part = table.removeprefix(experiment.name).removeprefix("_")
    earlier = {experiment.after: tables.read(experiment.after)} if experiment.after else {}
    columns = experiment.columns or {}
    for case, _ in experiment.units(earlier, [seed]):
        # of a list in a case each row has one element
        known = {
            columns.get(name, name): value
            for name, value in case.items()
            if not isinstance(value, list)
        }
        if tables.fits(known, {name: value for name, value in wanted.items() if name in known}):
            for row in _unit(experiment.name, json.dumps(dict(case)), seed):
                if row.get("table", "") == part and tables.fits(row, wanted):
                    return float(row[measure])
    raise ValueError(f"seeds={seed}: the experiment {experiment.name} has no row with {wanted}")


@lru_cache(maxsize=64)
def _unit(name: str, case: str, seed: int) -> list[dict[str, Any]]:
    return all_experiments.EXPERIMENTS[name].unit(seed, **json.loads(case))


@lru_cache(maxsize=64)
def _run(config: str, target: float | None) -> dict[str, Any]:
    """Run a configuration now and measure it; kept, since several numbers need it."""
    own = json.loads(config)
    fed = plan.dealt(dataset_name(own), json.dumps(own["partition"]), own["seed"])
    history, _ = measured_runs.finished(prepared(own, fed=fed, progress=False))
    return measures.measured(history, measures.curve(history, own), own, target)
