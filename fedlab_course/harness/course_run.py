"""Run the notebooks with papermill, and write executed notebooks, a static site and
``summary.json``.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from tqdm.auto import tqdm

from fedlab_core import language, validation
from fedlab_core.data import load_dataset
from fedlab_core.engines import cores
from fedlab_core.progress import watched
from fedlab_course import folders, processes
from fedlab_course.harness import course_plan, executed, kernel, notebook_parameters
from fedlab_course.harness.course_plan import CoursePlan, Notebook, Options, Result
from fedlab_course.publish import api
from fedlab_course.publish import build as builder

TIMEOUTS = {"quick": 300, "full": 7200}  # seconds for one cell, by profile
_POLL = 0.5  # seconds; some systems deliver Ctrl-C only between two waits


def run_course(options: Options) -> list[Result]:
    """Run the notebooks; write executed notebooks, site and summary under ``options.out``.

    A site of the whole course has the API reference. A failed notebook does not stop the others.
    Raises ``ValueError`` before anything runs for what cannot be run, shown or written.
    """
    whole = prepare(options)
    with course_plan.claimed(options):
        whole_course = not options.only and options.notebooks == folders.NOTEBOOKS
        if whole_course and options.language == language.SOURCE:
            api.write(options.site / "api")
        carry_out(whole)
    tell(whole.results)
    return whole.results


def prepare(options: Options) -> CoursePlan:
    """Plan a run. Raises ``ValueError`` as :func:`run_course`."""
    cells = {path: _count_cells(path) for path in _paths(options)}
    declared = {path.stem: notebook_parameters.declared(path) for path in cells}
    common = {"profile": validation.choice("profile", options.profile, TIMEOUTS)}
    if options.dataset is not None:
        # reports an unknown name or missing files before anything runs
        load_dataset(options.dataset)
        common["dataset"] = options.dataset
    values = notebook_parameters.resolve(declared, common, options.settings)
    notebooks = []
    for path, count in cells.items():
        used = {name: entry.default for name, entry in declared[path.stem].items()} | values[
            path.stem
        ]
        notebooks.append(
            Notebook(path, count, values[path.stem], Result(path.stem, parameters=used))
        )
    return CoursePlan(options, notebooks)


def _paths(options: Options) -> list[Path]:
    """The notebooks to run, those of another language as they are translated now."""
    if options.language == language.SOURCE:
        return folders.select(options.notebooks, options.only)
    out = options.out / "translated" / options.language
    return builder.build(
        builder.PLAIN, out, options.language, only=options.only, notebooks=options.notebooks
    )


def tell(results: Sequence[Result], kept: Sequence[bool] = ()) -> None:
    """Print a line for each result; ``kept``: which results come from an earlier run."""
    for number, result in enumerate(results):
        note = "  (kept)" if kept and kept[number] else ""
        print(f"[{number + 1}/{len(results)}] {result.name:<28} {result.line}{note}")


def _count_cells(path: Path) -> int:
    """Return the number of cells of a notebook. Raises ``ValueError`` for a formula that the site
    cannot show.
    """
    import nbformat

    from fedlab_course.publish import markdown

    cells = nbformat.read(path, as_version=4).cells
    for number, cell in enumerate(cells, start=1):
        if cell.cell_type == "markdown":
            try:
                markdown.to_html(cell.source)
            except ValueError as error:
                raise ValueError(f"{path.stem}: cell {number}: {error}") from error
    return len(cells)


def carry_out(plan: CoursePlan) -> None:
    """Run the notebooks of a plan, the longest of the last run first, and always report them."""
    order = plan.longest_first()
    plan.clear()
    try:
        _run_all(plan, order)
    finally:
        plan.report()


def _run_all(plan: CoursePlan, order: Sequence[Notebook]) -> None:
    """Run the notebooks. After each, write the summary and prepare its page while other notebooks
    run.
    """
    jobs = min(plan.options.jobs or default_jobs(), len(order))
    stopped = Event()
    others = processes.below()

    def done(notebook: Notebook) -> None:
        plan.write_summary(finished=False)
        plan.prepare_page(notebook.result)

    def stop() -> None:
        stopped.set()
        processes.end(process for process in processes.below() if process not in others)

    with kernel.environment(jobs) as workspace:
        each(
            order,
            jobs,
            lambda notebook: _run(notebook, plan.options, workspace, stopped),
            done,
            stop,
        )


def _run(entry: Notebook, options: Options, workspace: Path, stopped: Event) -> None:
    """Execute one notebook and set its result, unless the run was stopped meanwhile."""
    name = entry.path.stem
    start = time.perf_counter()
    tqdm.write(f"{name}: started")

    def before_cell() -> None:
        if stopped.is_set():
            raise RuntimeError("stopped")

    bar = {"desc": name, "leave": False, "disable": not watched()}
    limit = options.timeout or TIMEOUTS[options.profile]
    notebook = kernel.execute(entry.path, entry.given, workspace, limit, bar, before_cell)
    if stopped.is_set():
        return
    problems = executed.problems(notebook)
    entry.result = replace(
        entry.result,
        seconds=round(time.perf_counter() - start, 1),
        status="failed" if problems else "ok",
        error="; ".join(problems) or None,
        verdicts=executed.verdicts(notebook),
        stored=executed.stored(notebook),
    )
    executed.write(notebook, options.executed / entry.path.name)
    tqdm.write(f"{name}: {' '.join(entry.result.line.split())}")


def default_jobs() -> int:
    """The number of kernels that fill the usable cores with their threads; at least 1."""
    threads = os.environ.get(kernel.THREADS, "1")
    return max(1, cores.usable() // max(1, int(threads))) if threads.isdecimal() else cores.usable()


def each(
    tasks: Sequence[Any],
    jobs: int,
    work: Callable[[Any], None],
    done: Callable[[Any], None],
    stop: Callable[[], None],
) -> None:
    """Run ``work`` on all tasks in threads, ``jobs`` at once, and ``done`` in this thread for each
    finished task.

    After an error or Ctrl-C no further task begins; ``stop`` must end the running ones.
    """
    with ThreadPoolExecutor(min(jobs, max(1, len(tasks)))) as pool:
        futures = {pool.submit(work, task): task for task in tasks}
        try:
            while futures:
                for future in wait(futures, _POLL, FIRST_COMPLETED).done:
                    task = futures.pop(future)
                    future.result()
                    done(task)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
