"""The background runner: newest wins, one round at a time, stop within one round, nothing trained
twice.
"""

import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from fedlab_core.history import History
from fedlab_core.simulation import Diverged
from fedlab_course.explore.runner import Runner


@dataclass(frozen=True)
class Curve:
    """A curve of so many rounds; its name alone says which run it is."""

    name: str
    rounds: int = field(default=5, compare=False)


def curves(names: str, rounds: int = 5) -> list[Curve]:
    return [Curve(name, rounds) for name in names]


@dataclass
class World:
    """What a runner does to simulations: the rounds that it trains, their order, and how many at
    once.
    """

    started: Counter = field(default_factory=Counter)
    trained: list[str] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    at_once: int = 0
    most_at_once: int = 0
    failing: dict[str, BaseException] = field(default_factory=dict)
    warning: str | None = None
    gate: threading.Semaphore | None = None

    def start(self, curve: Curve, before: "Fake | None" = None) -> "Fake":
        if before is None:
            self.started[curve.name] += 1
        return Fake(self, curve, before)


class Fake:
    """A simulation that records what it does; with a gate,
    each of its rounds must be let through.
    """

    def __init__(self, world: World, curve: Curve, before: "Fake | None" = None) -> None:
        self.world = world
        self.settings = curve
        self.cohorts = [[1, 0], [2]]
        self.history = SimpleNamespace(
            records=list(before.history.records) if before is not None else []
        )

    def __next__(self) -> None:
        world = self.world
        name = self.settings.name
        assert len(self.history.records) < self.settings.rounds
        if world.gate is not None:
            assert world.gate.acquire(timeout=60)
        world.at_once += 1
        world.most_at_once = max(world.most_at_once, world.at_once)
        time.sleep(0.001)
        world.at_once -= 1
        if name in world.failing:
            raise world.failing[name]
        if world.warning:
            warnings.warn(world.warning, stacklevel=1)
        world.trained.append(name)
        world.threads.add(threading.get_ident())
        self.history.records.append(len(self.history.records) + 1)


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_curves_grow_together_in_one_other_thread_and_are_not_trained_again() -> None:
    world = World()
    seen = []
    runner = Runner(world.start, lambda: seen.append((len(world.trained), runner.busy)))
    runner.request(curves("ab"))
    runner.wait(60)
    assert world.trained == ["a", "b"] * 5
    assert len(world.threads) == 1 and threading.get_ident() not in world.threads
    assert [count for count, _ in seen[:10]] == list(range(1, 11))
    assert seen[-1] == (10, False)
    for names in ("ac", "ab", "ca"):
        runner.request(curves(names))
        runner.wait(60)
        assert [(run.curve.name, run.history.records, run.finished) for run in runner.runs()] == [
            (name, [1, 2, 3, 4, 5], True) for name in names
        ]
    assert Counter(world.trained) == {"a": 5, "b": 5, "c": 5}
    assert world.started == {"a": 1, "b": 1, "c": 1}


def test_more_rounds_go_on_where_the_run_is_and_fewer_train_nothing() -> None:
    world = World()
    runner = Runner(world.start)
    for rounds, trained in ((5, 5), (8, 8), (3, 8), (8, 8), (9, 9)):
        runner.request(curves("a", rounds))
        assert runner.busy == (trained > len(world.trained))
        runner.wait(60)
        (run,) = runner.runs()
        assert len(world.trained) == trained
        assert (run.rounds, run.curve.rounds, run.finished) == (trained, rounds, True)
        assert run.history.records == list(range(1, trained + 1))
    assert world.started == {"a": 1}


@pytest.mark.parametrize("rounds", [1, 3, 8])
def test_another_number_of_rounds_while_it_trains(rounds: int) -> None:
    world = World(gate=threading.Semaphore(2))
    runner = Runner(world.start)
    runner.request(curves("a"))
    until(lambda: len(world.trained) == 2)
    runner.request(curves("a", rounds))
    world.gate.release(100)
    runner.wait(60)
    assert max(2, rounds) <= len(world.trained) <= max(3, rounds)  # the present round may still end
    assert runner.runs()[0].history.records == list(range(1, len(world.trained) + 1))
    assert world.started == {"a": 1}


def test_a_finished_run_that_is_not_requested_keeps_its_history_and_loses_its_state() -> None:
    world = World()
    runner = Runner(world.start)
    for name in "aba":
        runner.request(curves(name))
        runner.wait(60)
        assert runner.runs()[0].history.records == [1, 2, 3, 4, 5]
    assert world.started == {"a": 1, "b": 1}
    runner.request(curves("a", 6))
    runner.wait(60)
    assert runner.runs()[0].history.records == [1, 2, 3, 4, 5, 6]
    assert world.started == {"a": 2, "b": 1}


def test_the_newest_request_wins_and_a_shared_curve_goes_on() -> None:
    world = World(gate=threading.Semaphore(3))
    runner = Runner(world.start)
    runner.request(curves("ab"))
    until(lambda: world.trained == ["a", "b", "a"])
    runner.request(curves("ac"))
    world.gate.release(100)
    runner.wait(60)
    trained = Counter(world.trained)
    # the present round may still end
    assert trained["a"] == trained["c"] == 5 and trained["b"] <= 2
    assert world.started == {"a": 1, "b": 1, "c": 1}


def test_requests_within_the_delay_are_skipped() -> None:
    world = World()
    runner = Runner(world.start)
    for name in "abcde":
        runner.request(curves(name), delay=60)
    runner.request(curves("f"), delay=0.01)
    runner.wait(60)
    assert world.started == {"f": 1}


def test_stop_takes_effect_within_one_round_and_the_run_goes_on_later() -> None:
    world = World(gate=threading.Semaphore(2))
    runner = Runner(world.start)
    runner.request(curves("a"))
    until(lambda: len(world.trained) == 2)
    with pytest.raises(TimeoutError, match=r"0\.05"):
        runner.wait(0.05)
    runner.stop()
    world.gate.release(100)
    runner.wait(60)
    assert len(world.trained) <= 3 and not runner.busy and runner.stopped
    runner.request(curves("a"))
    runner.wait(60)
    assert len(world.trained) == 5
    assert world.started == {"a": 1}


def test_one_round_at_a_time_over_several_runners() -> None:
    world = World()
    runners = [Runner(world.start) for _ in range(3)]
    for names, runner in zip(("ab", "cd", "ef"), runners, strict=True):
        runner.request(curves(names))
    for runner in runners:
        runner.wait(60)
    assert world.most_at_once == 1
    assert len(world.trained) == 3 * 2 * 5


@pytest.mark.parametrize("error", [ValueError("lr=-1: must be > 0"), SystemExit(3)], ids=repr)
def test_an_error_ends_its_run_only_and_wait_raises_it(error: BaseException) -> None:
    world = World(failing={"a": error})
    runner = Runner(world.start)
    runner.request(curves("ab"))
    with pytest.raises(type(error), match=str(error)):
        runner.wait(60)
    bad, good = runner.runs()
    assert good.cohorts == [[0, 1, 2]] * 5
    assert bad.error is error and good.history.records == [1, 2, 3, 4, 5]
    world.failing.clear()
    runner.request(curves("ab"))  # a failed run is tried again
    runner.wait(60)
    assert runner.runs()[0].history.records == [1, 2, 3, 4, 5]
    assert world.started == {"a": 2, "b": 1}


def test_a_run_that_diverged_is_no_error_and_hides_none() -> None:
    lost = Diverged("FedAvg", 1, None, 0.1, History({}))
    runner = Runner(World(failing={"a": lost}).start)
    runner.request(curves("ab"))
    runner.wait(60)
    assert [one.error for one in runner.runs()] == [lost, None]
    runner = Runner(World(failing={"a": lost, "b": KeyError("fails")}).start)
    runner.request(curves("ab"))
    with pytest.raises(KeyError, match="fails"):
        runner.wait(60)


@pytest.mark.parametrize("error", [KeyError("drawing"), SystemExit(3)], ids=repr)
def test_wait_raises_an_error_of_the_listener(error: BaseException) -> None:
    def listener() -> None:
        raise error

    runner = Runner(World().start, listener)
    runner.request(curves("a"))
    with pytest.raises(type(error)):
        runner.wait(60)


def test_every_run_has_its_warnings_and_other_threads_print_theirs() -> None:
    """Python itself shows a warning once at each place: neither thread hides a warning from the
    other.
    """
    world = World(warning="λ=24 is unstable")
    text = "λ=24 is unstable"
    runner = Runner(world.start)
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("default")
        next(world.start(Curve("before")))
        for names in ("ab", "abc"):
            runner.request(curves(names))
            runner.wait(60)
        next(world.start(Curve("after")))
    assert [run.warnings for run in runner.runs()] == [[text]] * 3
    assert [str(warning.message) for warning in printed] == [text] * 2
