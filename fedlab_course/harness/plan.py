"""One pass through the notebooks: their parameter values, their output folder and their results."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fedlab_course.harness import output_folder
from fedlab_course.harness.parameters import Parameter


@dataclass(frozen=True)
class Result:
    """The result of one notebook. ``status``: "ok", "failed" or "not run"; ``error``: cell and exception."""

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


@dataclass(frozen=True)
class Notebook:
    """The source of a notebook: its path, its declared parameters and its number of cells."""

    path: Path
    declared: Mapping[str, Parameter]
    cells: int

    @property
    def name(self) -> str:
        """Its file's name without the ending."""
        return self.path.stem


@dataclass(eq=False)
class Plan:
    """The ``notebooks``, the parameter ``values`` and a result for each, and the output folder ``out``.

    ``cache``: the folder of explorers' runs. ``title``: its name among the plans of a run. ``digest``: of everything
    that the results depend on, for the summary. ``assets``: the site's assets, if they are in another folder.
    """

    notebooks: Sequence[Notebook]
    values: Mapping[str, dict[str, Any]]
    profile: str
    out: Path
    cache: Path
    title: str = ""
    digest: str | None = None
    assets: str | None = None
    results: list[Result] = field(init=False)
    reported: bool = field(init=False, default=False)
    _pages: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.results = [
            Result(
                one.name, parameters={key: entry.default for key, entry in one.declared.items()} | self.values[one.name]
            )
            for one in self.notebooks
        ]

    @property
    def begun(self) -> bool:
        """True if at least one notebook has been run."""
        return any(result.status != "not run" for result in self.results)

    @property
    def finished(self) -> bool:
        """True if all notebooks have been run."""
        return all(result.status != "not run" for result in self.results)

    def clear(self) -> None:
        """Remove the files of an earlier run from the folder, and write a summary without results."""
        output_folder.clear(self.out)
        self.write_summary(finished=False)

    def write_summary(self, *, finished: bool) -> None:
        """Write ``summary.json``."""
        summary = {
            "profile": self.profile,
            "python": sys.version.split()[0],
            "finished": finished,
            "seconds": round(sum(result.seconds for result in self.results), 1),
            "notebooks": [asdict(result) for result in self.results],
        }
        output_folder.write_summary(self.out, summary | ({"digest": self.digest} if self.digest else {}))

    def prepare_page(self, result: Result) -> None:
        """Prepare the page of a notebook while others run; :meth:`report` writes it."""
        from fedlab_course.publish import pages

        names = [one.name for one in self.notebooks]
        self._pages[result.name] = pages.page(asdict(result), self.out / "notebooks", names, self.cache)

    def report(self) -> None:
        """Build the site of the notebooks that were run, then write the summary, which is always last."""
        from fedlab_course.publish import pages

        self.reported = True
        names = [result.name for result in self.results if result.status != "not run"]
        if not self.finished:
            self._pages.clear()  # they link to pages that will not exist
        for result in self.results:
            if result.name in names and result.name not in self._pages:
                self._pages[result.name] = pages.page(asdict(result), self.out / "notebooks", names, self.cache)
        missing = [result.name for result in self.results if result.status == "not run"]
        built = [self._pages[name] for name in names]
        pages.build(built, self.out / "site", self.profile, missing, self.assets)
        self.write_summary(finished=self.finished)
        self._pages.clear()
