"""The reports in ``results``, from the stored tables: ``REPRODUCTION.md`` with its pages, and ``COURSE.md``."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedlab_course.evidence import configs, figures, judging, plans, tables
from fedlab_course.evidence.configs import Claim
from fedlab_course.evidence.judging import Finding, Judged
from fedlab_course.folders import RESULTS

REPORT, COURSE, CLAIMS = RESULTS / "REPRODUCTION.md", RESULTS / "COURSE.md", RESULTS / "claims"
REASONS, WORDS, FIGURES = RESULTS / "reasons.toml", RESULTS / "report", RESULTS / "figures"
ACCURACIES = configs.CONFIGS / "figures" / "accuracies.toml"
SOURCES_TITLE, COURSE_TITLE = "What holds of the sources' claims", "What the chapters say beyond the sources"
Reasons = Mapping[str, tuple[str, str]]
_HEAD = "| | statement | measured | n | δ | verdict |\n|---|---|---|---|---|---|"


def write() -> list[Path]:
    """Write all reports, and return their files."""
    made = {REPORT: sources(), COURSE: course()} | {CLAIMS / f"{name}.md": details(name) for name in configs.SOURCES}
    for path, written in made.items():
        path.write_text(written, encoding="utf-8")
    return [*made]


def sources() -> str:
    """The report on the claims of the sources, a row for each claim; its pages have the statements."""
    claims, judged, why = configs.read(), judging.stored(), reasons()
    forests = [(name, title) for name, title in figures.TITLES.items() if name.startswith("verdicts")]
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
    mine = [one for one in figures.TITLES.items() if configs.source_of(one[0]) == source and "verdicts" not in one[0]]
    title = f"# Statements on {source if source == 'others' else f'[{source}]'}\n\n[All claims](../REPRODUCTION.md)\n"
    return f"{title}\n{sections(claims, judging.stored(), reasons())}\n{_pictures(mine, '../')}"


def course() -> str:
    """The report on what the chapters say beyond the sources."""
    claims, judged = configs.read(configs.COURSE), judging.course()
    parts = [
        f"# {COURSE_TITLE}\n\n{counted(judged)}",
        f"## Methods\n\n{_words('methods')}",
        sections(configs.told(claims), judged, {}),
        f"## Examined, and told in no chapter\n\n{sections(configs.told(claims, False), judged, {})}",
    ]
    return "\n".join([*parts, f"## Deviations from the plan\n\n{deviations(judged)}"])


def summary(claims: Sequence[Claim], judged: Mapping[str, Judged], why: Reasons) -> str:
    """A row for each claim: our setting, the verdict in words, and the number of its leading statement."""
    lines = ["| | source | it says | here | verdict | its first number |", "|---|---|---|---|---|---|"]
    for claim in claims:
        lead = judged[claim.lead or claim.statements[0].id]
        words = re.split(r"(?<=[.;])\s", why[claim.id][1])[0].rstrip(";.")
        number = f"{lead.statement.says} {measured(lead.finding)}, n = {lead.finding.n}"
        link = f"[{claim.id}](claims/{configs.source_of(claim.id)}.md#{claim.id})"
        lines.append(f"| {link} | {claim.source} | {claim.claim} | {claim.distance} | {words}. | {number} |")
    return "\n".join(lines) + "\n"


def accuracies() -> str:
    """A table of final test accuracies, method × setting: mean ± standard deviation over seeds, in %."""
    given = tomllib.loads(ACCURACIES.read_text(encoding="utf-8"))
    lines = [f"| | {' | '.join(given['settings'])} |", f"|---|{'---|' * len(given['settings'])}"]
    for name, algorithm in given["methods"].items():
        cells = [_accuracy(algorithm, one) for one in given["settings"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _accuracy(algorithm: str, one: Mapping[str, Any]) -> str:
    wanted = {"algorithm": algorithm} | one.get("where", {}) | one.get(algorithm, {})
    whole = rows = tables.read(one["table"])
    for column, value in wanted.items():
        rows = rows[[tables.fits({column: cell}, {column: value}) for cell in rows[column]]]
    if rows.empty:
        return ""
    spread = f" ± {100 * rows.end_accuracy.std():.1f}" if len(rows) > 1 else ""
    tiers = sorted(rows.server_updates // whole.server_updates[~whole.diverged].min())
    turns = f", {tiers[0]} to {tiers[-1]} tiers" if tiers[-1] > 1 and not rows.diverged.any() else ""
    lost = f", {rows.diverged.sum()} of {len(rows)} diverged" if rows.diverged.any() else ""
    return f"{100 * rows.end_accuracy.mean():.1f}{spread}{turns}{lost}"


def sections(claims: Sequence[Claim], judged: Mapping[str, Judged], why: Reasons) -> str:
    """A section for each claim, with its statements. ``why``: claim → the verdicts that its sentence is about, and it.

    Raises ``ValueError`` where a sentence is about other verdicts than the stored ones.
    """
    return "\n".join(
        _section(claim, [judged[one.id] for one in claim.statements], why.get(claim.id)) for claim in claims
    )


def deviations(judged: Mapping[str, Judged]) -> str:
    """List the statements whose plan is not older than their data, and why."""
    found: dict[str, list[str]] = {}
    for id, one in judged.items():
        if about := plans.deviation(one.statement):
            found.setdefault(about, []).append(id)
    return "".join(f"- {', '.join(ids)}: {about}.\n" for about, ids in found.items())


def _words(name: str) -> str:
    return (WORDS / f"{name}.md").read_text(encoding="utf-8")


def _pictures(drawn: Iterable[tuple[str, str]], root: str = "") -> str:
    return "\n".join(f"### {title}\n\n![{title}]({root}figures/{name}.svg)\n" for name, title in drawn)


def reasons(path: Path = REASONS) -> dict[str, tuple[str, str]]:
    """Claim → the verdicts its sentence was written for, as in :func:`signature`, and the sentence."""
    return {id: (one["verdicts"], one["why"]) for id, one in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def signature(judged: Iterable[Judged]) -> str:
    """The verdicts of a claim in one line, such as "a holds, b opposite"."""
    named = [(one.statement.id.removeprefix(one.claim.id), one.finding.verdict) for one in judged]
    return ", ".join(f"{letter} {verdict}".strip() for letter, verdict in named)


def counted(judged: Mapping[str, Judged], folder: Path = tables.TABLES) -> str:
    """How many statements have which verdict, with and without chance, and what the runs took."""
    exact = [one for one in judged.values() if one.finding.n and one.finding.low == one.finding.high]
    chance = [one for one in judged.values() if one not in exact]
    names = sorted({name for one in judged.values() for name in one.claim.tables})
    seconds = sum(float(table.seconds.sum()) for name in names if "seconds" in (table := tables.read(name, folder)))
    decided = [one for one in chance if one.finding.verdict not in judging.OPEN]
    clear = sum(one.finding.corrected for one in decided)
    return (
        f"{len(judged)} statements were examined. {len(chance)} of them rest on seeds: {_listed(chance)}. "
        f"{len(exact)} have no chance in them: {_listed(exact)}. With so many, some come out by chance: {clear} of the "
        f"{len(decided)} decided ones that rest on seeds are significant after Holm's correction, and in **bold**. "
        f"All runs together took {seconds / 3600:.1f} hours of one core.\n"
    )


def _listed(judged: Iterable[Judged]) -> str:
    """The verdicts and how often each occurs, in their order."""
    counts = Counter(one.finding.verdict for one in judged)
    return ", ".join(f"{counts[word]} {word}" for word in judging.VERDICTS if word in counts)


def _section(claim: Claim, judged: Sequence[Judged], why: tuple[str, str] | None) -> str:
    found = signature(judged)
    if why is not None and why[0] != found:
        raise ValueError(f"{REASONS.name}: the sentence on {claim.id} speaks of {why[0]!r}, and the data say {found!r}")
    lines = [
        f'## <a id="{claim.id}"></a>{claim.id}: {claim.claim}',
        "",
        f"Source: {claim.source}. Expected: {claim.expected}.\\",
        f"Setting: {claim.setting}.\\",
        f"Here: {claim.ours}.\\",
        f"Command: `python -m fedlab_course evidence run --again --only {' '.join(claim.tables)}`",
        "",
        _HEAD,
        *(_row(one) for one in judged),
    ]
    return "\n".join(lines) + (f"\n\n{why[1]}\n" if why else "\n")


def _row(one: Judged) -> str:
    found, statement = one.finding, one.statement
    word = f"**{found.verdict}**" if found.corrected else found.verdict
    planned = f" of {found.planned}" if found.n < found.planned else ""
    numbers = f"{measured(found)} ({found.about})" if found.about else measured(found)
    word = f"{word} †" if plans.deviation(statement) else word
    cells = (statement.id, statement.says, numbers, f"{found.n}{planned}", f"{found.margin:g}", word)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def measured(found: Finding) -> str:
    """The mean and its interval, in as many digits as the interval is worth; "–" for what was not measured."""
    if found.n == 0:
        return "–"
    if found.low == found.high:
        return f"{found.mean:+.4g}{' exactly' if found.n == 1 else ' in all'}"
    width = found.high - found.low
    if found.n == 1:
        return f"{found.mean:+.3g}"
    digits = 1 if width >= 1 else 2 if width >= 0.3 else 3 if width >= 0.01 else 4
    return f"{found.mean:+.{digits}f} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"
