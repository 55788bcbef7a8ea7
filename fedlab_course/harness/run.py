"""Run the notebooks with papermill, and write executed notebooks, a static site and ``summary.json``."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_core.engines import cores
from fedlab_course import folders
from fedlab_course.harness import executed, kernel, output_folder, parameters
from fedlab_course.harness.kernel import Kernels
from fedlab_course.harness.plan import Notebook, Plan, Result
from fedlab_course.harness.progress import Progress
from fedlab_course.publish import api

PROFILES = ("quick", "full")
TIMEOUTS = {"quick": 300, "full": 7200}
_POLL = 0.5  # seconds; some systems deliver Ctrl-C only between two waits


def run_course(
    *,
    profile: str = "quick",
    dataset: str | None = None,
    only: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    out: Path = Path("build"),
    timeout: int | None = None,
    notebooks: Path | None = None,
    jobs: int | None = None,
    reference: bool = False,
) -> list[Result]:
    """Run the notebooks, ``jobs`` at once; write executed notebooks, site and summary under ``out``.

    ``only``: numbers or names of notebooks; ``settings``: parameter → text; ``timeout``: whole seconds for one cell;
    ``jobs``: by default one for each core; ``reference``: whether the site gets the API reference. Prints the progress,
    and at the end the results in order. A failed notebook does not stop the others. Raises ``ValueError`` before
    anything runs for an unknown profile, notebook or parameter, a value of the wrong type, a formula that the site
    cannot show, and an ``out`` that is not writable, has ``notebooks`` in it, or is in use by another run.
    """
    check(profile, timeout, jobs)
    source = notebooks or folders.NOTEBOOKS
    chosen = [read(path) for path in folders.select(source, only)]
    common = {"profile": profile} | ({"dataset": dataset} if dataset is not None else {})
    values = parameters.resolve({one.name: one.declared for one in chosen}, common, settings or {})
    plan = Plan(chosen, values, profile, out, out / "runs")
    with output_folder.claimed(out, source):
        if reference:
            api.write(out / "site" / "api")
        carry_out([plan], jobs, timeout)
    tell(plan.results)
    return plan.results


def tell(results: Sequence[Result], notes: Sequence[str] = ()) -> None:
    """Print a line for each result and one for each error; ``notes`` are appended to the lines."""
    for number, result in enumerate(results, start=1):
        print(f"[{number}/{len(results)}] {result.name:<28} {result.line}{notes[number - 1] if notes else ''}")
        if result.error is not None:
            print(f"      {result.error}")


def check(profile: str, timeout: int | None, jobs: int | None) -> None:
    """Raise ``ValueError`` for an unknown ``profile`` and an invalid ``timeout`` or ``jobs``."""
    validation.choice("profile", profile, PROFILES)
    if timeout is not None and not (isinstance(timeout, int) and timeout > 0):
        raise ValueError(f"timeout={timeout!r}: must be a whole number of seconds > 0, or None for the profile's limit")
    if jobs is not None:
        validation.integer("jobs", jobs, minimum=1)


def read(path: Path) -> Notebook:
    """Read the notebook at ``path``. Raises ``ValueError`` for a formula that the site cannot show."""
    import nbformat

    from fedlab_course.publish import markdown

    cells = nbformat.read(path, as_version=4).cells
    for number, cell in enumerate(cells, start=1):
        if cell.cell_type == "markdown":
            try:
                markdown.to_html(cell.source)
            except ValueError as error:
                raise ValueError(f"{path.stem}: cell {number}: {error}") from error
    return Notebook(path, parameters.declared(path), len(cells))


def carry_out(
    plans: Sequence[Plan], jobs: int | None, timeout: int | None, changed: Callable[[Plan], None] = lambda plan: None
) -> None:
    """Run the notebooks of all ``plans``, ``jobs`` at once, in each plan the longest of the last run first.

    When a plan is finished, its report is written and ``changed`` is called with it. If anything stops the run, the
    finished notebooks are still reported; an error in that report is added to the first error as a note.
    """
    tasks = _longest_first(plans)
    for plan in plans:
        plan.clear()
    try:
        _run_all(tasks, jobs or default_jobs(), timeout, changed)
    except BaseException as error:
        for plan in plans:
            if not plan.reported and (plan.begun or len(plans) == 1):
                try:
                    plan.report()
                except Exception as second:
                    error.add_note(f"The report on the finished notebooks failed too: {second!r}")
        raise


def _longest_first(plans: Sequence[Plan]) -> list[tuple[Plan, int]]:
    """Order all notebooks plan by plan, and in a plan by their seconds in the last run into its folder.

    The number of cells estimates unknown seconds. A plan ends before most of the next begins, because a stopped run
    keeps finished plans only.
    """
    tasks = []
    for plan in plans:
        seconds = output_folder.seconds(plan.out, plan.profile)
        known = [(seconds[one.name], one.cells) for one in plan.notebooks if one.name in seconds]
        rate = sum(measured for measured, _ in known) / sum(cells for _, cells in known) if known else 1.0
        expected = [seconds.get(one.name, rate * one.cells) for one in plan.notebooks]
        tasks += [(plan, number) for number in sorted(range(len(expected)), key=lambda number: -expected[number])]
    return tasks


def _run_all(
    tasks: Sequence[tuple[Plan, int]], jobs: int, timeout: int | None, changed: Callable[[Plan], None]
) -> None:
    """Run every task. After each, write the summary and prepare its page while other notebooks run."""
    kernels = Kernels()

    def done(task: tuple[Plan, int]) -> None:
        plan, number = task
        plan.write_summary(finished=False)
        if plan.finished and not plan.reported:
            plan.report()
            changed(plan)
        elif not plan.finished:
            with suppress(Exception):  # the report tries again and raises the error
                plan.prepare_page(plan.results[number])

    with Progress() as progress, kernel.environment(min(jobs, len(tasks) or 1)) as workspace:

        def work(task: tuple[Plan, int]) -> None:
            _run(*task, workspace, timeout, kernels, progress)

        each(tasks, jobs, work, done, kernels.stop)


def _run(plan: Plan, number: int, workspace: Path, timeout: int | None, kernels: Kernels, progress: Progress) -> None:
    """Execute one notebook and set its result, unless the run was stopped meanwhile."""
    one, result, start = plan.notebooks[number], plan.results[number], time.perf_counter()
    name = f"{plan.title}/{one.name}" if plan.title else one.name
    progress.started(name, one.cells)

    def reached(cell: int) -> None:
        if kernels.stopped:
            raise RuntimeError("stopped")
        progress.reached(name, cell)

    limit = timeout or TIMEOUTS[plan.profile]
    notebook = kernel.execute(one.path, plan.values[one.name], workspace, limit, kernels, reached)
    if kernels.stopped:
        return
    seconds = round(time.perf_counter() - start, 1)
    problems = executed.problems(notebook)
    status, error = "failed" if problems else "ok", "; ".join(problems) or None
    result = replace(result, seconds=seconds, status=status, error=error)
    result = replace(result, verdicts=executed.verdicts(notebook), stored=executed.stored(notebook))
    executed.write(notebook, plan.out / "notebooks" / one.path.name)
    plan.results[number] = result
    progress.finished(name, " ".join(result.line.split()))


def default_jobs() -> int:
    """The number of kernels that fill the usable cores with their threads; at least 1."""
    threads = os.environ.get(kernel.THREADS, "1")
    return max(1, cores.usable() // int(threads) if threads.isdecimal() and int(threads) else cores.usable())


def each(
    tasks: Sequence[Any], jobs: int, work: Callable[[Any], None], done: Callable[[Any], None], stop: Callable[[], None]
) -> None:
    """Run ``work`` on all tasks in threads, ``jobs`` at once, and ``done`` in this thread for each finished task.

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
