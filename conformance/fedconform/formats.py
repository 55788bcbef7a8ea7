"""A report as files for other programs: CSV, JSON, and JUnit XML."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

from fedconform.report import Report, Row


def write_csv(report: Report, path: Path) -> None:
    """Write the table, with numbers of six digits."""
    table = report.table()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        for row in table:
            writer.writerow({name: _text(value) for name, value in row.items()})


def _text(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def write_json(report: Report, path: Path) -> None:
    """Write the rows, the counts, the mistakes and the changes. Numbers that are not finite are
    text.
    """
    content = {
        "passed": report.passed,
        "counts": report.count(),
        "changes": dict(report.changes),
        "mistakes": {name: [list(one) for one in sets] for name, sets in report.mistakes.items()},
        "rows": [{name: _finite(value) for name, value in row.items()} for row in report.table()],
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _finite(value: object) -> object:
    is_finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if is_finite else str(value)


def write_junit(report: Report, path: Path) -> None:
    """Write a suite of tests for each algorithm: a row is a test, a failed row a failure, and what
    is not offered a skipped test.
    """
    root = ElementTree.Element("testsuites", name="fedconform")
    for name in dict.fromkeys(row.algorithm for row in report.rows):
        rows = [row for row in report.rows if row.algorithm == name]
        marks = [row.mark() for row in rows]
        counts = {"tests": len(rows), "failures": marks.count("FAIL"), "skipped": marks.count("–")}
        texts = {"name": name} | {key: str(count) for key, count in counts.items()}
        suite = ElementTree.SubElement(root, "testsuite", texts)
        for row in rows:
            _add_case(suite, row, report.mistake(row))
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _add_case(suite: ElementTree.Element, row: Row, mistake: str) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=row.algorithm, name=f"{row.property} ({row.problem})"
    )
    if row.mark() == "–":
        ElementTree.SubElement(case, "skipped", message=row.note)
    elif row.mark() == "FAIL":
        numbers = f"{row.value}: expected {row.expected}, got {row.got}"
        failure = ElementTree.SubElement(case, "failure", message=row.note or numbers)
        failure.text = mistake or "No known mistake gives these numbers."
    elif row.reading:
        ElementTree.SubElement(case, "system-out").text = f"{row.reading}. {row.note}"
