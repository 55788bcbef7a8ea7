"""Any row again: the runs or experiments behind a statement, made anew for a seed or two, beside what is stored."""

import json
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from fedlab_core import validation
from fedlab_core.progress import watched
from fedlab_core.reproduce.rerun import dataset_name, prepared
from fedlab_core.simulation import Diverged
from fedlab_core.sweep import plan
from fedlab_course.display import GOOD, MIXED, OPEN, box, publish
from fedlab_course.evidence import judging, measures, shown, sweeps, tables
from fedlab_course.evidence.experiments.registry import EXPERIMENTS, of_table
from fedlab_course.evidence.judging import Judged
from fedlab_course.evidence.live import WIDTH

_ROUNDING = 1e-4  # of the largest number in a contrast: tables keep six digits, and processors differ in the last bits


def seconds(row: str) -> float:
    """About how long :func:`again` takes for one seed, by what the stored runs took. ``ValueError`` as there."""
    parts = _judged(row).statement.rows()
    return sum(_seconds(name, wanted) for _, name, wanted in parts)


def _seconds(name: str, wanted: Mapping[str, Any]) -> float:
    """A further table of an experiment has no seconds of its own: they stand in its main one."""
    rows = tables.matching(tables.present(name), name, wanted)
    if "seconds" not in rows:
        main = tables.present(of_table(name).name)
        rows = tables.matching(main, name, {column: value for column, value in wanted.items() if column in main})
    return float(rows.groupby("seed").seconds.sum().mean())


def again(row: str, seeds: Sequence[int] = (0,)) -> dict[int, float]:
    """Seed → the number of a statement, from runs made now as the grids of its tables say.

    Raises ``ValueError`` for an unknown row and a seed that its grid does not have, and ``DatasetNotFound``.
    """
    statement = _judged(row).statement
    found = {}
    for seed in seeds:
        parts = [sign * _measured(name, wanted, statement.measure, seed) for sign, name, wanted in statement.rows()]
        found[seed] = sum(parts) - statement.constant
    return found


def show(row: str, seeds: Sequence[int] = (0,)) -> None:
    """Run a row again for some seeds and show the live numbers beside the stored ones: mean ± 2 standard deviations.

    Arguments and errors as for :func:`again`.
    """
    one = _judged(row)
    stored = tables.numbers(one.statement)
    live = again(row, seeds)
    lines = [f"Stored: {shown.interval(one)}, {shown.seeds(one)}." if stored else "Nothing is stored of this row yet."]
    lines += [_line(seed, value, stored.get(seed)) for seed, value in live.items()]
    if len(stored) < 2:
        sign, colour = "Run again", OPEN
    else:
        mean, spread = statistics.mean(stored.values()), WIDTH * statistics.stdev(stored.values())
        largest = max(map(abs, [*stored.values(), *live.values()]))
        inside = all(abs(value - mean) <= spread + _ROUNDING * largest for value in live.values())
        sign, colour = ("✓ inside", GOOD) if inside else ("✗ outside", MIXED)
        lines.append(f"{sign} the stored band, {shown.number(mean)} ± {spread:.4f} (two standard deviations).")
    below = "".join(f'<div style="font-size: .9em">{line}</div>' for line in lines)
    text = f"{row}: {one.statement.says}"
    publish({"text/html": box("fedlab-again", colour, sign, text, below), "text/plain": "\n".join([text, *lines])})


def choose(most_seconds: float = 60.0) -> None:
    """Rows to choose from, and a button that runs one again for seed 0; where nobody watches, a line that says so.

    ``most_seconds``: rows that take longer by :func:`seconds` are left out.
    """
    rows = [id for id, one in judging.stored().items() if one.verdict.n and seconds(id) <= most_seconds]
    if not watched():
        print(f"In JupyterLab a list of {len(rows)} rows stands here, with a button that runs one again.")
        return
    import ipywidgets
    from IPython.display import display

    every = judging.stored()
    options = [(f"{id}: {every[id].statement.says} (about {max(1, round(seconds(id)))} s)", id) for id in rows]
    choice = ipywidgets.Dropdown(options=options, description="Row", layout={"width": "auto"})
    button = ipywidgets.Button(description="Run again", button_style="primary")
    output = ipywidgets.Output()

    def run(_: Any) -> None:
        button.disabled = True
        output.clear_output()
        with output:
            show(choice.value)
        button.disabled = False

    button.on_click(run)
    display(ipywidgets.VBox([choice, button, output]))


def _line(seed: int, live: float, stored: float | None) -> str:
    before = "not stored" if stored is None else f"{shown.number(stored)} stored"
    return f"Seed {seed}: {shown.number(live)} live, {before}."


def _judged(row: str) -> Judged:
    every = judging.stored()
    return every[validation.choice("row", row, every)]


def _measured(table: str, wanted: dict[str, Any], measure: str, seed: int) -> float:
    if table not in sweeps.names():
        return _experiment(table, wanted, measure, seed)
    grid = plan.read(sweeps.GRIDS / f"{table}.toml", only=lambda axes: tables.fits(measures.plain(axes), wanted))
    run = next((run for run in grid.runs if run.axes["seed"] == seed), None)
    if run is None:
        raise ValueError(f"seeds={seed}: must be of the seeds of {table}, {[run.axes['seed'] for run in grid.runs]}")
    return float(_row(json.dumps(run.config), grid.target)[measure])


def _experiment(table: str, wanted: dict[str, Any], measure: str, seed: int) -> float:
    """The number of an experiment's row; the cases that share most values with the row are tried first."""
    one = of_table(table)
    part = table.removeprefix(one.name).removeprefix("_")
    earlier = {one.after: tables.read(one.after)} if one.after else {}
    cases = [case for case, _ in one.units(earlier, [seed]) if _agree(case, wanted)]
    values = list(wanted.values())
    for case in sorted(cases, key=lambda case: -sum(value in values for value in case.values())):
        for row in _unit(one.name, json.dumps(dict(case)), seed):
            if row.get("table", "") == part and tables.fits(row, wanted):
                return float(row[measure])
    raise ValueError(f"seeds={seed}: the experiment {one.name} has no row with {wanted}")


def _agree(case: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return tables.fits(case, {name: value for name, value in wanted.items() if name in case})


@lru_cache(maxsize=64)
def _unit(name: str, case: str, seed: int) -> list[dict[str, Any]]:
    return EXPERIMENTS[name].unit(seed, **json.loads(case))


@lru_cache(maxsize=64)
def _row(config: str, target: float | None) -> dict[str, Any]:
    """What is measured of a run, made now, as it is needed for several numbers."""
    own = json.loads(config)
    fed = plan.dealt(dataset_name(own), json.dumps(own["partition"]), own["seed"])
    simulation = prepared(own, fed=fed, progress=False)
    try:
        history = simulation.run()
    except Diverged as error:
        history = error.history
    return measures.measured(history, measures.curve(history, own), own, target)
