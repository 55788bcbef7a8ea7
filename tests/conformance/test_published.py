"""The published tables say what the stored rows say, and each finding has its report."""

import csv
import re
from pathlib import Path

from fedconform.entries import ENTRIES
from fedconform.environment import needs_of
from fedconform.mistakes.readings import readings_of

RESULTS = Path(__file__).parents[2] / "results"
PAGE = (RESULTS / "CONFORMANCE.md").read_text(encoding="utf-8")
ADAPTERS = sorted((RESULTS / "conformance").glob("*.py"))
STARTS = {  # a line of the table → how the algorithms of its rows begin
    "FedAvg": ("FedAvg()",),
    "FedAvg with local momentum": ("FedAvg(local_momentum=",),
    "SCAFFOLD, option 1": ("Scaffold(option=1",),
    "SCAFFOLD, option 2": ("Scaffold(option=2, server_lr=1.0)",),
    "SCAFFOLD, option 2, η_g ≠ 1": ("Scaffold(option=2, server_lr=0.",),
    "FedNova": ("FedNova(mu=0.0)",),
    "FedNova with local momentum": ("FedNova(mu=0.0, local",),
    "FedNova with μ": ("FedNova(mu=0.5", "FedNova(mu=1.3"),
    "q-FedAvg": ("QFedAvg",),
    "FedCurv, FedMas, stratified weights, MAS": ("FedCurv", "FedMas", "Stratified", "MAS"),
}
DOCUMENTATION = {("flower_strategies", "FedProx")}  # the adapter runs the code of the docstring
READINGS = {str(one) for entry in ENTRIES for one in readings_of(entry.formula)}


def tables() -> list[list[list[str]]]:
    """The cells of each line of both tables, from the line with the names of the files."""
    found = []
    for block in PAGE.split("\n\n"):
        cells = [line.strip("|").split("|") for line in block.splitlines() if line[:1] == "|"]
        stripped = [[cell.strip() for cell in line] for line in cells]
        firsts = [place for place, line in enumerate(stripped) if line[0] == "rows"]
        found += [stripped[first:] for first in firsts]
    return found


def mark(file: str, algorithm: str) -> str:
    """The mark that the rows of a file give an algorithm."""
    with (RESULTS / "conformance" / f"{file}.csv").open(encoding="utf-8", newline="") as stored:
        rows = list(csv.DictReader(stored))
    starts = STARTS.get(algorithm, (f"{algorithm}(",))
    own = [row for row in rows if row["algorithm"].startswith(starts)]
    failed = [row for row in own if row["passed"] == "FAIL"]
    if failed and (file, algorithm) in DOCUMENTATION:
        return "docs"
    if any(not is_reading(row["mistake"]) for row in failed):
        return "✗"
    marks = {row["passed"] for row in own}
    if failed or "convention" in marks:
        return "≈"
    return "✓" if "pass" in marks else "–"


def is_reading(mistake: str) -> bool:
    """Whether one of the explanations of a row has readings alone."""
    sets = [text.split(" AND ") for text in mistake.split(" OR ") if text]
    return any(set(one) <= READINGS for one in sets)


def test_the_published_tables_are_those_of_the_stored_rows() -> None:
    published = []
    for names, *table in tables():
        files = [re.fullmatch(r"\[csv\]\(conformance/(\w+)\.csv\)", cell)[1] for cell in names[1:]]
        published += files
        assert len(table) == 16
        for line in table:
            assert len(line) == len(names), line
            for file, cell in zip(files, line[1:], strict=True):
                assert cell.split()[0] == mark(file, line[0]), (file, line[0])
    stored = [path.stem for path in (RESULTS / "conformance").glob("*.csv")]
    assert sorted(published) == sorted(stored) and len(stored) >= 20


def test_every_finding_of_the_tables_is_explained_and_has_a_report_if_it_differs() -> None:
    cells = [cell for table in tables() for line in table[1:] for cell in line[1:]]
    numbers = {number for cell in cells for number in re.findall(r"\d+", cell)}
    assert all((cell in "✓–") != bool(re.search(r"\d", cell)) for cell in cells)
    findings = re.findall(r"^(\d+)\. \*\*", PAGE, re.MULTILINE)
    assert findings == [str(number) for number in range(1, len(findings) + 1)]
    assert numbers <= set(findings)
    differing = {cell for cell in cells if cell.startswith(("✗", "docs"))}
    reports = sorted((RESULTS / "conformance" / "reports").glob("*.md"))
    assert len(reports) >= 12 and len(differing) >= 11


def test_a_report_has_all_that_its_reader_needs() -> None:
    for path in (RESULTS / "conformance" / "reports").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for part in (
            "**Version**",
            "**Where**",
            "**The equation.**",
            "**What the code computes.**",
        ):
            assert part in text, path
        assert re.search(r"\w+\.py(:\d+)?", text) and "**A suggested fix.**" in text
        (adapter,) = re.findall(r"environment results/conformance/(\w+\.py)", text)
        assert (RESULTS / "conformance" / adapter).is_file()


def test_each_adapter_names_its_environment_and_its_changes() -> None:
    assert len(ADAPTERS) >= 19
    for path in ADAPTERS:
        needs = needs_of(path)
        assert needs.requires and bool(needs.source) == bool(needs.commit), path
        assert "CHANGES = {" in path.read_text(encoding="utf-8"), path
    needed = {path.stem: needs_of(path).requires for path in ADAPTERS}
    assert "seaborn" in needed["fedlab"]
    assert {"h5py", "ujson", "pynvml"} <= set(needed["pfllib"])
