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
COURSE, OVERVIEW = RESULTS / "COURSE.md", RESULTS.parent / "docs" / "teaching" / "evidence.md"
SOURCES_TITLE, COURSE_TITLE = "What holds of the sources' claims", "What the chapters say beyond the sources"
Reasons = Mapping[str, tuple[str, str]]
_INTRODUCTION = """\
Written by `python -m fedlab_course evidence report` from the tables in [evidence/](evidence); `make evidence` makes
these from nothing. Do not edit it by hand.

Each statement is a difference of runs that share their seed: same partition, first weights, cohorts and batches. Its
95 % t-interval over seeds is compared with a margin δ that was written into the [configuration](configs) before the
runs were made:

- **holds**: the interval lies beyond δ, in the direction that the source says; or, where the source says that something
  is equal, within ±δ;
- **opposite**: it lies beyond δ in the other direction; or, where something is said to be equal, outside ±δ;
- **equivalent**: it lies within ±δ: the difference is too small to matter;
- **undecided**: none of these; more seeds could tell.
"""
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
    return text(configs.read(), judging.stored(), reasons(), drawn)


def course() -> str:
    """The report on what the chapters say beyond the sources."""
    return text(configs.read(configs.COURSE), judging.course(), {}, {}, title=COURSE_TITLE)


def overview() -> str:
    """The page for teachers: a line for each claim of the sources, with its verdicts and the first words on why."""
    judged, why = judging.stored(), reasons()
    lines = [_OVERVIEW, "| | the source says | verdicts | in a sentence |", "|---|---|---|---|"]
    for claim in configs.read():
        counts = Counter(judged[one.id].finding.verdict for one in claim.statements)
        found = ", ".join(f"{number} {word}" for word, number in counts.most_common())
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
    parts = [f"# {title}\n\n{_INTRODUCTION}", _counted(judged, folder), _summary(claims, judged)]
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
    counts = Counter(one.finding.verdict for one in judged.values())
    clear = sum(one.finding.corrected for one in judged.values())
    used = [
        tables.read(name, folder) for name in sorted({name for one in judged.values() for name in one.claim.tables})
    ]
    seconds = sum(float(table.seconds.sum()) for table in used if "seconds" in table)
    decided = sum(counts[name] for name in judging.VERDICTS if name != "undecided")
    listed = ", ".join(f"{counts[name]} {name}" for name in _words(judged))
    return (
        f"{len(judged)} statements were examined: {listed}. With so many, some come out by chance: {clear} of "
        f"the {decided} decided ones are significant after Holm's correction for all of them, and are in **bold**.\n\n"
        f"All runs together took {seconds / 3600:.1f} hours of one core of an AMD EPYC, beside other work. Runs that "
        "diverge count with the accuracy and the loss of chance.\n"
    )


def _words(judged: Mapping[str, Judged]) -> list[str]:
    """The verdicts, and what else stands in the place of one."""
    return list(dict.fromkeys([*judging.VERDICTS, *(one.finding.verdict for one in judged.values())]))


def _summary(claims: Sequence[Claim], judged: Mapping[str, Judged]) -> str:
    words = _words(judged)
    lines = [f"| claim | source | says | {' | '.join(words)} |", "|---" * (3 + len(words)) + "|"]
    for claim in claims:
        counts = Counter(judged[one.id].finding.verdict for one in claim.statements)
        cells = [str(counts[name] or "") for name in words]
        lines.append(f"| [{claim.id}](#{claim.id}) | {claim.source} | {claim.claim} | {' | '.join(cells)} |")
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
        f"Command: `python -m fedlab_course evidence run --only {' '.join(claim.tables)}`",
        "",
        _HEAD,
        *(_row(one) for one in judged),
    ]
    return "\n".join(lines) + (f"\n\n{why[1]}\n" if why else "\n")


def _row(one: Judged) -> str:
    found, statement = one.finding, one.statement
    word = f"**{found.verdict}**" if found.corrected else found.verdict
    planned = f" of {found.planned}" if found.n < found.planned else ""
    cells = (statement.id, statement.says, measured(found), f"{found.n}{planned}", f"{found.margin:g}", word)
    return f"| {' | '.join(cells)} |"


def measured(found: Finding) -> str:
    """The mean and its interval, in as many digits as the interval is worth; "–" for what was not measured."""
    if found.n == 0:
        return "–"
    if found.low == found.high:
        return f"{found.mean:+.4g} exactly"
    width = found.high - found.low
    if found.n == 1:
        return f"{found.mean:+.3g}"
    digits = 1 if width >= 1 else 2 if width >= 0.3 else 3 if width >= 0.01 else 4
    return f"{found.mean:+.{digits}f} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"
