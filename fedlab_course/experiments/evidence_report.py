"""The reports in ``results``, from the stored tables: ``REPRODUCTION.md`` with its pages, and
``COURSE.md``.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedlab_course.evidence import configs, figures, judging, plans, tables
from fedlab_course.evidence.configs import Claim
from fedlab_course.evidence.judging import Finding, JudgedStatement
from fedlab_course.folders import RESULTS

REPORT = RESULTS / "REPRODUCTION.md"
COURSE = RESULTS / "COURSE.md"
CLAIMS = RESULTS / "claims"
REASONS = RESULTS / "reasons.toml"
WORDS = RESULTS / "report"
FIGURES = RESULTS / "figures"
ACCURACIES = configs.CONFIGS / "figures" / "accuracies.toml"
SOURCES_TITLE = "What holds of the sources' claims"
COURSE_TITLE = "What the chapters say beyond the sources"
Reasons = Mapping[str, tuple[str, str]]
_HEAD = "| | statement | measured | n | δ | verdict |\n|---|---|---|---|---|---|"


def write() -> list[Path]:
    """Write all reports, and return their files."""
    reports = {REPORT: sources(), COURSE: course()}
    for name in configs.SOURCES:
        reports[CLAIMS / f"{name}.md"] = details(name)
    for path, text in reports.items():
        path.write_text(text, encoding="utf-8")
    return list(reports)


def sources() -> str:
    """The report on the claims of the sources, a row for each
    claim; its pages have the statements.
    """
    claims = configs.read()
    judged = judging.stored()
    why = reasons()
    forests = [
        (name, title) for name, title in figures.TITLES.items() if name.startswith("verdicts")
    ]
    parts = [
        f"# {SOURCES_TITLE}\n\n{_words('abstract')}\n{counted(judged)}",
        f"## The claims\n\n{summary(claims, judged, why)}",
        f"## Accuracies\n\n{_words('accuracies')}\n{accuracies()}",
        f"## Methods\n\n{_words('methods')}",
        f"## All statements in pictures\n\n{_pictures(forests)}",
        f"## Deviations from the plan\n\n{deviations(judged)}\n{_words('deviations')}",
        f"## Limitations, versions and machines\n\n{_words('limitations')}",
    ]
    return "\n".join(parts)


def details(source: str) -> str:
    """The page of one source: its claims with their statements, and its figures."""
    claims = [claim for claim in configs.read() if configs.source_of(claim.id) == source]
    mine = []
    for name, words in figures.TITLES.items():
        if configs.source_of(name) == source and "verdicts" not in name:
            mine.append((name, words))
    name = source if source == "others" else f"[{source}]"
    parts = [
        f"# Statements on {name}\n\n[All claims](../REPRODUCTION.md)\n",
        sections(claims, judging.stored(), reasons()),
        _pictures(mine, "../"),
    ]
    return "\n".join(parts)


def course() -> str:
    """The report on what the chapters say beyond the sources."""
    claims = configs.read(configs.COURSE)
    judged = judging.course()
    untold = sections(configs.told(claims, False), judged, {})
    parts = [
        f"# {COURSE_TITLE}\n\n{counted(judged)}",
        f"## Methods\n\n{_words('methods')}",
        sections(configs.told(claims), judged, {}),
        f"## Examined, and told in no chapter\n\n{untold}",
        f"## Deviations from the plan\n\n{deviations(judged)}",
    ]
    return "\n".join(parts)


def summary(claims: Sequence[Claim], judged: Mapping[str, JudgedStatement], why: Reasons) -> str:
    """A row for each claim: our setting, the verdict in words, and the number of its leading
    statement.
    """
    lines = [
        "| | source | it says | here | verdict | its first number |",
        "|---|---|---|---|---|---|",
    ]
    for claim in claims:
        lead = judged[claim.lead or claim.statements[0].id]
        reason = why[claim.id][1] if claim.id in why else "planned, and not yet put into words"
        words = re.split(r"(?<=[.;])\s", reason)[0].rstrip(";.")
        number = f"{lead.statement.says} {measured(lead.finding)}, n = {lead.finding.n}"
        link = f"[{claim.id}](claims/{configs.source_of(claim.id)}.md#{claim.id})"
        lines.append(
            f"| {link} | {claim.source} | {claim.claim} | {claim.distance} | {words}. | {number} |"
        )
    return "\n".join(lines) + "\n"


def accuracies() -> str:
    """A table of final test accuracies, method × setting: mean ± standard deviation over seeds, in
    %.
    """
    given = tomllib.loads(ACCURACIES.read_text(encoding="utf-8"))
    lines = [f"| | {' | '.join(given['settings'])} |", f"|---|{'---|' * len(given['settings'])}"]
    for name, algorithm in given["methods"].items():
        cells = [_accuracy(algorithm, setting) for setting in given["settings"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _accuracy(algorithm: str, setting: Mapping[str, Any]) -> str:
    wanted = {"algorithm": algorithm} | setting.get("where", {}) | setting.get(algorithm, {})
    whole = rows = tables.read(setting["table"])
    for column, value in wanted.items():
        rows = rows[[tables.fits({column: cell}, {column: value}) for cell in rows[column]]]
    if rows.empty:
        return ""
    spread = f" ± {100 * rows.end_accuracy.std():.1f}" if len(rows) > 1 else ""
    tiers = sorted(rows.server_updates // whole.server_updates[~whole.diverged].min())
    turns = (
        f", {tiers[0]} to {tiers[-1]} tiers" if tiers[-1] > 1 and not rows.diverged.any() else ""
    )
    lost = f", {rows.diverged.sum()} of {len(rows)} diverged" if rows.diverged.any() else ""
    return f"{100 * rows.end_accuracy.mean():.1f}{spread}{turns}{lost}"


def sections(claims: Sequence[Claim], judged: Mapping[str, JudgedStatement], why: Reasons) -> str:
    """A section for each claim, with its statements. ``why``: claim → the verdicts that its
    sentence is about, and it.

    Raises ``ValueError`` where a sentence is about other verdicts than the stored ones.
    """
    parts = []
    for claim in claims:
        rows = [judged[statement.id] for statement in claim.statements]
        parts.append(_section(claim, rows, why.get(claim.id)))
    return "\n".join(parts)


def deviations(judged: Mapping[str, JudgedStatement]) -> str:
    """List the statements whose plan is not older than their data, and why."""
    by_reason: dict[str, list[str]] = {}
    for id, row in judged.items():
        about = plans.deviation(row.statement)
        if about:
            by_reason.setdefault(about, []).append(id)
    return "".join(f"- {', '.join(ids)}: {about}.\n" for about, ids in by_reason.items())


def _words(name: str) -> str:
    return (WORDS / f"{name}.md").read_text(encoding="utf-8")


def _pictures(drawn: Iterable[tuple[str, str]], root: str = "") -> str:
    return "\n".join(
        f"### {title}\n\n![{title}]({root}figures/{name}.svg)\n" for name, title in drawn
    )


def reasons(path: Path = REASONS) -> dict[str, tuple[str, str]]:
    """Claim → the verdicts its sentence was written for, as in
    :func:`signature`, and the sentence.
    """
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    return {id: (reason["verdicts"], reason["why"]) for id, reason in given.items()}


def signature(judged: Iterable[JudgedStatement]) -> str:
    """The verdicts of a claim in one line, such as "a holds, b opposite"."""
    named = [(row.statement.id.removeprefix(row.claim.id), row.finding.verdict) for row in judged]
    return ", ".join(f"{letter} {verdict}".strip() for letter, verdict in named)


def counted(judged: Mapping[str, JudgedStatement], folder: Path = tables.TABLES) -> str:
    """How many statements have which verdict, with and without chance, and what the runs took."""
    exact = [
        row for row in judged.values() if row.finding.n and row.finding.low == row.finding.high
    ]
    chance = [row for row in judged.values() if row not in exact]
    names = sorted({name for row in judged.values() for name in row.claim.tables})
    seconds = 0.0
    for name in names:
        table = tables.read(name, folder)
        if "seconds" in table:
            seconds += float(table.seconds.sum())
    decided = [row for row in chance if row.finding.verdict not in judging.OPEN]
    clear = sum(row.finding.corrected for row in decided)
    return (
        f"{len(judged)} statements were examined. {len(chance)} of them rest on seeds: "
        f"{_listed(chance)}. {len(exact)} have no chance in them: {_listed(exact)}. With so many, "
        f"some come out by chance: {clear} of the {len(decided)} decided ones that rest on seeds "
        "are significant after Holm's correction, and in **bold**. All runs together took "
        f"{seconds / 3600:.1f} hours of one core.\n"
    )


def _listed(judged: Iterable[JudgedStatement]) -> str:
    """The verdicts and how often each occurs, in their order."""
    counts = Counter(row.finding.verdict for row in judged)
    return ", ".join(f"{counts[word]} {word}" for word in judging.VERDICTS if word in counts)


def _section(claim: Claim, judged: Sequence[JudgedStatement], why: tuple[str, str] | None) -> str:
    verdicts = signature(judged)
    if why is not None and why[0] != verdicts:
        raise ValueError(
            f"{REASONS.name}: the sentence on {claim.id} speaks of {why[0]!r}, and the data say "
            f"{verdicts!r}"
        )
    lines = [
        f'## <a id="{claim.id}"></a>{claim.id}: {claim.claim}',
        "",
        f"Source: {claim.source}. Expected: {claim.expected}.\\",
        f"Setting: {claim.setting}.\\",
        f"Here: {claim.ours}.\\",
        f"Command: `python -m fedlab_course evidence run --again --only {' '.join(claim.tables)}`",
        "",
        _HEAD,
        *(_row(row) for row in judged),
    ]
    return "\n".join(lines) + (f"\n\n{why[1]}\n" if why else "\n")


def _row(judged: JudgedStatement) -> str:
    finding = judged.finding
    statement = judged.statement
    word = f"**{finding.verdict}**" if finding.corrected else finding.verdict
    planned = f" of {finding.planned}" if finding.n < finding.planned else ""
    numbers = f"{measured(finding)} ({finding.about})" if finding.about else measured(finding)
    word = f"{word} †" if plans.deviation(statement) else word
    cells = (
        statement.id,
        statement.says,
        numbers,
        f"{finding.n}{planned}",
        f"{finding.margin:g}",
        word,
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def measured(finding: Finding) -> str:
    """The mean and its interval, in as many digits as the interval is worth; "–" for what was not
    measured.
    """
    if finding.n == 0:
        return "–"
    if finding.low == finding.high:
        return f"{finding.mean:+.4g}{' exactly' if finding.n == 1 else ' in all'}"
    width = finding.high - finding.low
    if finding.n == 1:
        return f"{finding.mean:+.3g}"
    digits = _decimals(width)
    return f"{finding.mean:+.{digits}f} [{finding.low:+.{digits}f}, {finding.high:+.{digits}f}]"


def _decimals(width: float) -> int:
    """The decimals that an interval of this ``width`` is worth."""
    if width >= 1:
        return 1
    if width >= 0.3:
        return 2
    if width >= 0.01:
        return 3
    return 4
