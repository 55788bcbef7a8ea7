"""One pass through the notebooks. Until it is finished, ``summary.json`` says so, and the site has
no start page.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from fedlab_core import files
from fedlab_core.language import SOURCE, current
from fedlab_course import folders


@dataclass(frozen=True)
class Options:
    """What a run is asked for.

    ``only``: numbers or names of notebooks; ``settings``: parameter → value, or its text;
    ``timeout``: whole seconds for one cell; ``jobs``: notebooks at once, by default one for each
    core.
    """

    profile: str = "quick"
    dataset: str | None = None
    only: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    out: Path = Path("build")
    timeout: int | None = None
    notebooks: Path = folders.NOTEBOOKS
    jobs: int | None = None
    language: str = field(default_factory=current)

    @property
    def site(self) -> Path:
        """The folder of the site. That of a translation is inside that of the English one."""
        return self._of_language("site")

    @property
    def executed(self) -> Path:
        """The folder of the executed notebooks."""
        return self._of_language("notebooks")

    @property
    def summary(self) -> Path:
        """The file with the results."""
        code = "" if self.language == SOURCE else f".{self.language}"
        return self.out / f"summary{code}.json"

    def _of_language(self, name: str) -> Path:
        folder = self.out / name
        return folder if self.language == SOURCE else folder / self.language


@dataclass(frozen=True)
class Result:
    """The result of one notebook. ``status``: "ok", "failed" or "not run"; ``error``: cell and
    exception.
    """

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
        return f"{self.status:<7}{self.seconds:6.1f} s{claims}"


@dataclass
class Notebook:
    """A notebook of a run: its file, its number of cells, the values that it is given, and its
    result so far.
    """

    path: Path
    cells: int
    given: dict[str, Any]
    result: Result


@dataclass(eq=False)
class CoursePlan:
    """The notebooks of one pass.

    For a row of a table there is more: ``row``, its parameters; ``above``, what the run of all rows
    is asked for, whose folder has the assets of the sites and the explorers' runs; ``digest``, of
    everything that the results depend on.
    """

    options: Options
    notebooks: Sequence[Notebook]
    row: Mapping[str, Any] = field(default_factory=dict)
    above: Options | None = None
    digest: str = ""
    _pages: dict[str, Any] = field(init=False, default_factory=dict)
    _files: list[str] = field(init=False, default_factory=list)

    @property
    def results(self) -> list[Result]:
        """The results of all notebooks."""
        return [notebook.result for notebook in self.notebooks]

    @property
    def done(self) -> list[Result]:
        """The results of the notebooks that have been run."""
        return [result for result in self.results if result.status != "not run"]

    @property
    def finished(self) -> bool:
        """True if all notebooks have been run."""
        return len(self.done) == len(self.results)

    def longest_first(self) -> list[Notebook]:
        """Order the notebooks by their seconds in the last run,
        or else by their numbers of cells.
        """
        last = summary(self.options)
        entries = last.get("notebooks", []) if last.get("profile") == self.options.profile else []
        seconds = {entry["name"]: entry["seconds"] for entry in entries if entry.get("seconds")}
        return sorted(
            self.notebooks, key=lambda notebook: -seconds.get(notebook.result.name, notebook.cells)
        )

    def clear(self) -> None:
        """Remove the start page and all files of the last run. Begin a new summary."""
        (self.options.site / "index.html").unlink(missing_ok=True)
        clear(self.options)
        self.write_summary(finished=False)

    def write_summary(self, *, finished: bool) -> None:
        """Write ``summary.json``."""
        seconds = round(sum(result.seconds for result in self.results), 1)
        entries = [asdict(result) for result in self.results]
        content = {
            "seconds": seconds,
            "notebooks": entries,
            "digest": self.digest,
            "files": self._files,
        }
        write_summary(self.options, finished=finished, **content)

    def prepare_page(self, result: Result, names: Sequence[str] = ()) -> None:
        """Prepare the page of a notebook, while others run; :meth:`report` writes it. It links to
        ``names``.
        """
        from fedlab_course.publish import pages

        names = names or [each.name for each in self.results]
        cache = (self.above or self.options).out / "runs"
        folder = self.options.executed
        self._pages[result.name] = pages.page(asdict(result), folder, names, cache)

    def report(self) -> None:
        """Build the site of the notebooks that were run, then write the summary, which is always
        last.
        """
        from fedlab_course.publish import pages

        names = [result.name for result in self.done]
        for result in self.done:
            # a link to a page that will not exist
            if result.name not in self._pages or not self.finished:
                self.prepare_page(result, names)
        missing = [result.name for result in self.results if result.name not in names]
        built = [self._pages.pop(name) for name in names]
        target = self.options.site
        assets = os.path.relpath(self.above.site / "assets", target) if self.above else None
        written = pages.build(built, target, self.options.profile, missing, assets)
        self._files = relative(self.options.out, written)
        self.write_summary(finished=self.finished)


@contextmanager
def claimed(options: Options) -> Iterator[None]:
    """Make the folder ``out`` and lock it. Raises ``ValueError`` like :func:`make`, and if another
    run has it.
    """
    make(options)
    try:
        held = FileLock(options.out / ".lock").acquire(timeout=0)
    except Timeout:
        busy = "another run writes there now; wait for it or name another folder"
        raise ValueError(f"--out {options.out}: {busy}") from None
    with held:
        yield


def make(options: Options) -> None:
    """Make ``out`` and its folders. Raises ``ValueError`` if one cannot be written or has the
    notebooks to run.
    """
    out = options.out
    folder = options.executed
    if folder.resolve() == options.notebooks.resolve():
        raise ValueError(
            f"--out {out}: would overwrite the notebooks in {folder}; name another folder"
        )
    for each in (out, folder, options.site):
        folders.make(each)


def clear(options: Options) -> None:
    """Remove the files that the summary of the last run lists, and no others.

    Notebooks and their pages are listed by name before they are written, the other files at the end
    of the run.
    """
    out = options.out
    last = summary(options)
    names = [entry["name"] for entry in last.get("notebooks", [])]
    listed = last.get("files", [])
    # If this is killed before all are removed, the next run finds the rest.
    write_summary(
        options, finished=False, notebooks=[{"name": name} for name in names], files=listed
    )
    pages = [options.site / f"{name}{end}" for name in names for end in (".html", "_slides.html")]
    notebooks = [options.executed / f"{name}.ipynb" for name in names]
    for path in (*pages, *notebooks, *(out / file for file in listed)):
        if path.resolve().is_relative_to(out.resolve()):
            path.unlink(missing_ok=True)


def relative(out: Path, paths: Sequence[Path]) -> list[str]:
    """The ``paths`` as ``summary.json`` lists them: sorted, and relative to ``out``."""
    return sorted(path.relative_to(out).as_posix() for path in paths)


def write_summary(options: Options, *, finished: bool, **content: Any) -> None:
    """Write ``summary.json`` atomically."""
    written = {
        "profile": options.profile,
        "python": sys.version.split()[0],
        "finished": finished,
        **content,
    }
    with files.replacing(options.summary) as file:
        file.write((json.dumps(written, indent=2, ensure_ascii=False) + "\n").encode())


def summary(options: Options) -> dict[str, Any]:
    """The content of the summary of the last run; empty if there is none."""
    path = options.summary
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
