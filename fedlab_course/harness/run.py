"""Run the notebooks through papermill and report: executed notebooks, a static site and ``summary.json``."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_course import folders
from fedlab_course.harness import executed, kernel, output_folder, parameters

PROFILES = ("quick", "full")
TIMEOUTS = {"quick": 300, "full": 7200}


@dataclass
class Result:
    """What became of one notebook. ``status``: "ok", "failed" or "not run"; ``error`` names cell and exception."""

    name: str
    status: str = "not run"
    seconds: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    stored: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    @property
    def line(self) -> str:
        """One line for the terminal."""
        held = sum(verdict["holds"] for verdict in self.verdicts)
        claims = f"  {held} of {len(self.verdicts)} claims hold" if self.verdicts else ""
        kept = f"  {len(self.stored)} stored verdict{'s' * (len(self.stored) != 1)}" if self.stored else ""
        return f"{self.status:<7}{self.seconds:6.1f} s{claims}{kept}"


def run_course(
    *,
    profile: str = "quick",
    dataset: str | None = None,
    only: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    out: Path = Path("build"),
    timeout: int | None = None,
    notebooks: Path | None = None,
) -> list[Result]:
    """Run the notebooks in order, one printed line each; write executed notebooks, site and summary under ``out``.

    ``only``: numbers or names of notebooks; ``settings``: parameter → text; ``timeout``: whole seconds for one cell.
    A notebook that fails does not stop the others. Raises ``ValueError`` before anything runs for an unknown profile,
    notebook or parameter, a value of the wrong type, a formula that cannot be shown, and an ``out`` that cannot be
    written, holds ``notebooks``, or is being written by another run.
    """
    validation.choice("profile", profile, PROFILES)
    if timeout is not None and not (isinstance(timeout, int) and timeout > 0):
        raise ValueError(f"timeout = {timeout!r}: must be a whole number of seconds > 0, or None")
    source = notebooks or folders.NOTEBOOKS
    paths = folders.select(source, only)
    for path in paths:
        check_text(path)
    declared = {path.stem: parameters.declared(path) for path in paths}
    common = {"profile": profile} | ({"dataset": dataset} if dataset is not None else {})
    values = parameters.resolve(declared, common, settings or {})
    defaults = {name: {key: entry.default for key, entry in entries.items()} for name, entries in declared.items()}
    results = [Result(name, parameters=defaults[name] | values[name]) for name in declared]
    with output_folder.claimed(out, source):
        output_folder.clear(out)
        output_folder.write_summary(out, _summary(results, profile, finished=False))
        try:
            _run_all(paths, results, values, profile, out, timeout or TIMEOUTS[profile])
        except BaseException as error:  # Ctrl-C too: what is finished is reported, and no second error hides the first
            try:
                _report(results, profile, out)
            except Exception as second:
                error.add_note(f"The report on what was finished failed too: {second!r}")
            raise
        _report(results, profile, out)
    return results


def check_text(path: Path) -> None:
    """Raise ``ValueError`` if a notebook's text holds a formula that the site could not show."""
    import nbformat

    from fedlab_course.site import markdown

    for number, cell in enumerate(nbformat.read(path, as_version=4).cells, start=1):
        if cell.cell_type == "markdown":
            try:
                markdown.to_html(cell.source)
            except ValueError as error:
                raise ValueError(f"{path.stem}: cell {number}: {error}") from error


def _run_all(
    paths: list[Path], results: list[Result], values: dict[str, dict[str, Any]], profile: str, out: Path, timeout: int
) -> None:
    """Execute the notebooks one after another; printed lines and the summary keep up."""
    with kernel.environment() as workspace:
        for number, (path, result) in enumerate(zip(paths, results, strict=True), start=1):
            print(f"[{number}/{len(paths)}] {path.stem:<28} ", end="", flush=True)
            _run(path, result, values[path.stem], out / "notebooks", workspace, timeout)
            output_folder.write_summary(out, _summary(results, profile, finished=False))
            print(result.line if result.error is None else f"{result.line}\n      {result.error}", flush=True)


def _run(path: Path, result: Result, values: dict[str, Any], folder: Path, workspace: Path, timeout: int) -> None:
    """Execute one notebook and fill in its ``result``."""
    start = time.perf_counter()
    notebook = kernel.execute(path, values, workspace, timeout)
    result.seconds = round(time.perf_counter() - start, 1)
    problems, result.verdicts = executed.problems(notebook), executed.verdicts(notebook)
    result.stored = executed.stored(notebook)
    executed.write(notebook, folder / path.name)
    result.status, result.error = "failed" if problems else "ok", "; ".join(problems) or None


def _report(results: list[Result], profile: str, out: Path) -> None:
    """Build the site of what was run, and then say so in the summary: it is the last to be written."""
    from fedlab_course.site import pages

    ran = [asdict(result) for result in results if result.status != "not run"]
    missing = [result.name for result in results if result.status == "not run"]
    pages.build(ran, out / "notebooks", out / "site", profile, missing)
    output_folder.write_summary(out, _summary(results, profile, finished=len(ran) == len(results)))


def _summary(results: list[Result], profile: str, *, finished: bool) -> dict[str, Any]:
    return {
        "profile": profile,
        "python": sys.version.split()[0],
        "finished": finished,
        "seconds": round(sum(result.seconds for result in results), 1),
        "notebooks": [asdict(result) for result in results],
    }
