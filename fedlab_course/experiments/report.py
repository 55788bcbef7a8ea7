"""The reports ``REPRODUCTION.md`` and ``COURSE.md`` in ``results``, and a page for teachers, from the stored tables."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fedlab_course.evidence import configs, figures, judging, tables
from fedlab_course.evidence.configs import Claim
from fedlab_course.evidence.judging import Finding, Judged
from fedlab_course.folders import RESULTS

REPORT, REASONS, FIGURES = RESULTS / "REPRODUCTION.md", RESULTS / "reasons.toml", RESULTS / "figures"
METHODS, DEVIATIONS = RESULTS / "methods.md", RESULTS / "deviations.md"
COURSE, OVERVIEW = RESULTS / "COURSE.md", RESULTS.parent / "docs" / "teaching" / "evidence.md"
SOURCES_TITLE, COURSE_TITLE = "What holds of the sources' claims", "What the chapters say beyond the sources"
Reasons = Mapping[str, tuple[str, str]]
_OVERVIEW = """\
# The evidence on one page

Written by `python -m fedlab_course evidence report`. Verdicts come from runs over many seeds with a margin that was
fixed beforehand; [results/REPRODUCTION.md](../../results/REPRODUCTION.md) has every statement with its numbers, and
[results/COURSE.md](../../results/COURSE.md) what the chapters say beyond the sources.
"""
_HEAD = "| | statement | measured | n | δ | verdict |\n|---|---|---|---|---|---|"


def write() -> list[Path]:
    """Write all reports, and return their files; the page for teachers only in a checkout."""
    made = {REPORT: sources, COURSE: course, OVERVIEW: overview}
    written = [path for path in made if path.parent.is_dir()]
    for path in written:
        path.write_text(made[path](), encoding="utf-8")
    return written


def sources() -> str:
    """The report on the claims of the sources."""
    drawn = {name: title for name, title in figures.TITLES.items() if (FIGURES / f"{name}.svg").is_file()}
    report = text(configs.read(), judging.stored(), reasons(), drawn)
    return f"{report}\n{DEVIATIONS.read_text(encoding='utf-8')}"


def course() -> str:
    """The report on what the chapters say beyond the sources."""
    return text(configs.read(configs.COURSE), judging.course(), {}, {}, title=COURSE_TITLE)


def overview() -> str:
    """The page for teachers: a line for each claim of the sources, with its verdicts and the first words on why."""
    judged, why = judging.stored(), reasons()
    lines = [_OVERVIEW, "| | the source says | verdicts | in a sentence |", "|---|---|---|---|"]
    for claim in configs.read():
        found = _listed(judged[one.id] for one in claim.statements)
        first = re.split(r"(?<=[.;])\s", why[claim.id][1])[0].rstrip(";.") if claim.id in why else ""
        lines.append(f"| {claim.id} | {claim.claim} | {found} | {first}. |")
    return "\n".join(lines) + "\n"


def text(
    claims: Sequence[Claim],
    judged: Mapping[str, Judged],
    why: Reasons,
    drawn: Mapping[str, str],
    folder: Path = tables.TABLES,
    title: str = SOURCES_TITLE,
) -> str:
    """Write a report. ``why``: claim → the verdicts that its sentence is about, and the sentence; ``drawn``: titles.

    Raises ``ValueError`` where a sentence is about other verdicts than the stored ones.
    """
    parts = [f"# {title}\n\n{METHODS.read_text(encoding='utf-8')}", _counted(judged, folder), _summary(claims, judged)]
    parts += [_section(claim, [judged[one.id] for one in claim.statements], why.get(claim.id)) for claim in claims]
    if drawn:
        parts.append("## Figures\n\nBands are one standard deviation over seeds to either side of the mean.\n")
        parts += [f"### {title}\n\n![{title}](figures/{name}.svg)\n" for name, title in drawn.items()]
    return "\n".join(parts)


def reasons(path: Path = REASONS) -> dict[str, tuple[str, str]]:
    """Claim → the verdicts its sentence was written for, as in :func:`signature`, and the sentence."""
    return {id: (one["verdicts"], one["why"]) for id, one in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def signature(judged: Iterable[Judged]) -> str:
    """The verdicts of a claim in one line, such as "a holds, b opposite"."""
    named = [(one.statement.id.removeprefix(one.claim.id), one.finding.verdict) for one in judged]
    return ", ".join(f"{letter} {verdict}".strip() for letter, verdict in named)


def _counted(judged: Mapping[str, Judged], folder: Path) -> str:
    clear = sum(one.finding.corrected for one in judged.values())
    used = [
        tables.read(name, folder) for name in sorted({name for one in judged.values() for name in one.claim.tables})
    ]
    seconds = sum(float(table.seconds.sum()) for table in used if "seconds" in table)
    decided = sum(one.finding.verdict not in judging.OPEN for one in judged.values())
    exact = sum(one.finding.n > 0 and one.finding.low == one.finding.high for one in judged.values())
    return (
        f"{len(judged)} statements were examined: {_listed(judged.values())}. {exact} of them are without chance: "
        "their number is exact or the same under all seeds. With so many, some come out by chance: "
        f"{clear} of the {decided} decided ones are significant after Holm's correction for all of them, and are in "
        "**bold**.\n\n"
        f"All runs together took {seconds / 3600:.1f} hours of one core of an AMD EPYC, beside other work. Runs that "
        "diverge count with the accuracy and the loss of chance.\n"
    )


def _listed(judged: Iterable[Judged]) -> str:
    """The verdicts and how often each occurs, in their order."""
    counts = Counter(one.finding.verdict for one in judged)
    return ", ".join(f"{counts[word]} {word}" for word in judging.VERDICTS if word in counts)


def _summary(claims: Sequence[Claim], judged: Mapping[str, Judged]) -> str:
    lines = ["| claim | source | says | verdicts |", "|---|---|---|---|"]
    for claim in claims:
        found = _listed(judged[one.id] for one in claim.statements)
        lines.append(f"| [{claim.id}](#{claim.id}) | {claim.source} | {claim.claim} | {found} |")
    return "\n".join(lines) + "\n"


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
    cells = (statement.id, statement.says, numbers, f"{found.n}{planned}", f"{found.margin:g}", word)
    return f"| {' | '.join(cells)} |"


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
