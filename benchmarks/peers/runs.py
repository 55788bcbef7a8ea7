"""Run the adapters in turn, and store each report, so that an interrupted comparison goes on."""

import contextlib
import datetime
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.adapters.protocol import Report
from benchmarks.peers.contestants import Contestant
from benchmarks.peers.tasks import Task

ROOT = Path(__file__).parents[2]
ADAPTERS = Path(__file__).parent / "adapters"
LONGEST = 900  # seconds; a run that takes longer has failed


@dataclass(frozen=True)
class Key:
    """Which run. ``digest``: of everything that its figures depend on."""

    task: str
    contestant: str
    repetition: int
    digest: str


@dataclass(frozen=True)
class Outcome:
    """A run that ended: with a report, or with the reason of its failure."""

    key: Key
    date: str
    report: Report | None
    failure: str = ""


class RunFailed(RuntimeError):
    """A peer did not finish its run; the message says why."""


Measure = Callable[[Task, Contestant], Report]


def digest_of(task: Task, contestant: Contestant) -> str:
    """A digest of the task, the contestant, its adapter and what it imports."""
    files = [ADAPTERS / f"{contestant.adapter}.py"]
    if contestant.requirements:
        files.append(ADAPTERS.parent / "requirements" / f"{contestant.requirements}.txt")
    else:
        files += sorted((ROOT / "fedlab_core").rglob("*.py"))
    parts = [task.digest(), repr(contestant)]
    parts += [file.read_text(encoding="utf-8") for file in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def plan(
    tasks: Iterable[Task], contestants: Iterable[Contestant], repeats: int
) -> list[tuple[Task, Contestant, int]]:
    """All runs in order: a repetition has every peer once, so that a busy minute hits all alike."""
    order = []
    contestants = list(contestants)
    for repetition in range(repeats):
        for task in tasks:
            first = repetition % len(contestants)
            turn = contestants[first:] + contestants[:first]
            order += [(task, contestant, repetition) for contestant in turn]
    return order


def read(path: Path) -> dict[Key, Outcome]:
    """The outcomes in a file, the last one of each run. A line that was cut off is left out."""
    found: dict[Key, Outcome] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            fields = json.loads(line)
        except json.JSONDecodeError:
            continue
        key = Key(**fields["key"])
        report = Report(**fields["report"]) if fields["report"] else None
        found[key] = Outcome(key, fields["date"], report, fields["failure"])
    return found


def run_all(
    order: Iterable[tuple[Task, Contestant, int]],
    measure: Measure,
    path: Path,
    today: datetime.date,
) -> dict[Key, Outcome]:
    """Do the runs that have no report yet, and write each to ``path`` as it ends."""
    known = read(path)
    outcomes = {}
    path.parent.mkdir(parents=True, exist_ok=True)
    for task, contestant, repetition in order:
        key = Key(task.name, contestant.name, repetition, digest_of(task, contestant))
        outcome = known.get(key)
        if outcome is None or outcome.report is None:
            outcome = attempt(key, task, contestant, measure, today)
            append(path, json.dumps(asdict(outcome)))
        outcomes[key] = outcome
        print(described(outcome), file=sys.stderr, flush=True)
    return outcomes


def append(path: Path, line: str) -> None:
    """Add a line to a file, whose last line may have been cut off."""
    is_cut = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if is_cut else "") + line + "\n")


def attempt(
    key: Key, task: Task, contestant: Contestant, measure: Measure, today: datetime.date
) -> Outcome:
    """Do one run. A failure is an outcome too."""
    try:
        return Outcome(key, today.isoformat(), measure(task, contestant))
    except Exception as error:
        return Outcome(key, today.isoformat(), None, f"{error}")


def described(outcome: Outcome) -> str:
    """One line on a run, for the person who waits."""
    key = outcome.key
    place = f"{key.repetition + 1}: {key.task}, {key.contestant}"
    if outcome.report is None:
        return f"{place}: {outcome.failure}"
    seconds = statistics.median(outcome.report.seconds)
    return f"{place}: {seconds:.4f} s a round, accuracy {outcome.report.accuracy:.3f}"


def run_adapter(python: Path, contestant: Contestant, task_file: Path, rounds: int) -> Report:
    """Run an adapter in a process of its own. Raises ``RunFailed`` with the last words of it."""
    module = f"benchmarks.peers.adapters.{contestant.adapter}"
    options = ["--rounds", str(rounds), "--processes", str(contestant.processes)]
    command = [str(python), "-m", module, str(task_file), *options]
    return report_in(output_of(command, contestant.environment()))


def output_of(command: list[str], variables: dict[str, str], longest: float = LONGEST) -> str:
    """What a command prints. Raises ``RunFailed``; ends all processes that the command started."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, **variables}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **pipes)
    try:
        output, errors = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"stopped after {longest:.0f} seconds") from error
    finally:
        end(process)
    if process.returncode:
        raise RunFailed(last_words(errors) or f"exit status {process.returncode}")
    return output


def end(process: subprocess.Popen[str]) -> None:
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def last_words(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def report_in(text: str) -> Report:
    """The report in the last line of an adapter's output that begins with a brace."""
    for line in reversed(text.splitlines()):
        begin = line.find('{"seconds"')
        if begin >= 0:
            return Report(**json.loads(line[begin:]))
    raise RunFailed("the adapter printed no report")
