"""Write results/peers.csv as a table into docs/speed.md: ``python -m benchmarks.peers.page``."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "results" / "peers.csv"
PAGE = ROOT / "docs" / "speed.md"
BEGIN = "<!-- from results/peers.csv -->"
END = "<!-- end -->"


def read(path: Path) -> list[dict[str, str]]:
    """The rows of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cell(row: dict[str, str]) -> str:
    """Seconds and ratio of a peer in a task, or that there is none."""
    if not row["seconds"]:
        return "failed"
    text = f"{float(row['seconds']):.2g} s ({float(row['ratio']):.2g}×)"
    return text if row["check"] == "same work" else text + " *"


def remarks(rows: list[dict[str, str]]) -> list[str]:
    """A line for every row that failed, or whose peer did other work."""
    found = []
    for row in rows:
        reason = row["failure"] or row["check"]
        if reason != "same work":
            found.append(f"- \\* {row['peer']}, {row['task']}: {reason}.")
    return found


def tables(rows: list[dict[str, str]]) -> str:
    """The text between the two marks of the page."""
    names = list(dict.fromkeys(row["task"] for row in rows))
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    cells = {(row["peer"], row["task"]): cell(row) for row in rows}
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for peer in peers:
        lines.append(f"| {peer} | " + " | ".join(cells[peer, name] for name in names) + " |")
    measured = f"Measured on {rows[0]['date']}: {rows[0]['machine']}; `{rows[0]['command']}`."
    return "\n".join([*lines, "", *remarks(rows), "", measured]).replace("\n\n\n", "\n\n")


def page_with(page: str, rows: list[dict[str, str]]) -> str:
    """The page with these tables between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(rows)}\n{END}{after}"


def main() -> None:
    page = page_with(PAGE.read_text(encoding="utf-8"), read(TABLE))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
