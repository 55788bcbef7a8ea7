"""The background runner: newest wins, one round at a time, stop within one round, nothing trained twice."""

import re
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field

import pytest

from fedlab_course.explore import runner as runner_module
from fedlab_course.explore.runner import Runner


@dataclass(frozen=True)
class Long:
    """A curve that wants so many rounds; its name alone says which run it is."""

    name: str
    rounds: int = field(compare=False)


@dataclass
class World:
    """What a runner does to simulations: which rounds were trained, in which order, and how many at once."""

    rounds: int = 5
    started: Counter = field(default_factory=Counter)
    trained: list[str] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    at_once: int = 0
    most_at_once: int = 0
    failing: dict[str, BaseException] = field(default_factory=dict)
    warning: str | None = None
    gate: threading.Semaphore | None = None

    def start(self, curve: str, before: "Fake | None" = None) -> "Fake":
        if before is None:
            self.started[getattr(curve, "name", curve)] += 1
        return Fake(self, curve, before)


class Fake:
    """A simulation that only tells what it does; with a gate, each of its rounds must be let through."""

    def __init__(self, world: World, curve: str, before: "Fake | None" = None) -> None:
        self.world, self.curve = world, getattr(curve, "name", curve)
        self.rounds = getattr(curve, "rounds", world.rounds)
        self.history = list(before.history) if before is not None else []

    def __next__(self) -> int:
        world = self.world
        if len(self.history) == self.rounds:
            raise StopIteration
        if world.gate is not None:
            assert world.gate.acquire(timeout=60)
        world.at_once += 1
        world.most_at_once = max(world.most_at_once, world.at_once)
        time.sleep(0.001)
        world.at_once -= 1
        if self.curve in world.failing:
            raise world.failing[self.curve]
        if world.warning:
            warnings.warn(world.warning, stacklevel=1)
        world.trained.append(self.curve)
        world.threads.add(threading.get_ident())
        self.history.append(len(self.history) + 1)
        return self.history[-1]


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_curves_grow_together_in_one_other_thread() -> None:
    world = World()
    runner = Runner(world.start)
    runner.request(["a", "b"])
    runner.wait(60)
    assert world.trained == ["a", "b"] * 5
    assert len(world.threads) == 1
    assert threading.get_ident() not in world.threads
    assert [run.history for run in runner.runs()] == [[1, 2, 3, 4, 5]] * 2
    assert all(run.finished for run in runner.runs())
    assert not runner.busy


def test_a_finished_curve_is_not_trained_again() -> None:
    world = World()
    runner = Runner(world.start)
    for curves in (["a", "b"], ["a", "c"], ["a", "b"], ["c", "a"]):
        runner.request(curves)
        runner.wait(60)
        assert [run.curve for run in runner.runs()] == curves
        assert all(run.history == [1, 2, 3, 4, 5] for run in runner.runs())
    assert world.started == {"a": 1, "b": 1, "c": 1}
    assert Counter(world.trained) == {"a": 5, "b": 5, "c": 5}


def test_more_rounds_go_on_where_the_run_is_and_fewer_train_nothing() -> None:
    world = World()
    runner = Runner(world.start)
    for rounds, trained in ((5, 5), (8, 8), (3, 8), (8, 8), (9, 9)):
        runner.request([Long("a", rounds)])
        assert runner.busy == (trained > len(world.trained))
        runner.wait(60)
        (run,) = runner.runs()
        assert len(world.trained) == trained
        assert (run.rounds, run.curve.rounds, run.finished) == (trained, rounds, True)
        assert run.history == list(range(1, trained + 1))
    assert world.started == {"a": 1}


@pytest.mark.parametrize("rounds", [1, 3, 8])
def test_another_number_of_rounds_while_it_trains(rounds: int) -> None:
    world = World(gate=threading.Semaphore(2))
    runner = Runner(world.start)
    runner.request([Long("a", 5)])
    until(lambda: len(world.trained) == 2)
    runner.request([Long("a", rounds)])
    world.gate.release(100)
    runner.wait(60)
    assert max(2, rounds) <= len(world.trained) <= max(3, rounds)  # the round that was on its way may still end
    assert runner.runs()[0].history == list(range(1, len(world.trained) + 1))
    assert world.started == {"a": 1}


def test_a_finished_run_that_is_not_wanted_keeps_its_history_and_gives_up_its_state() -> None:
    world = World()
    runner = Runner(world.start)
    for name in "aba":
        runner.request([Long(name, 5)])
        runner.wait(60)
        assert runner.runs()[0].history == [1, 2, 3, 4, 5]
    assert world.started == {"a": 1, "b": 1}
    runner.request([Long("a", 6)])
    runner.wait(60)
    assert runner.runs()[0].history == [1, 2, 3, 4, 5, 6]
    assert world.started == {"a": 2, "b": 1}


def test_the_newest_request_wins_and_a_shared_curve_goes_on() -> None:
    world = World(gate=threading.Semaphore(3))
    runner = Runner(world.start)
    runner.request(["a", "b"])
    until(lambda: world.trained == ["a", "b", "a"])
    runner.request(["a", "c"])
    world.gate.release(100)
    runner.wait(60)
    assert Counter(world.trained)["a"] == 5
    assert Counter(world.trained)["b"] <= 2  # the round that was on its way may still end
    assert Counter(world.trained)["c"] == 5
    assert world.started == {"a": 1, "b": 1, "c": 1}


def test_requests_within_the_delay_are_skipped() -> None:
    world = World()
    runner = Runner(world.start)
    for curve in "abcde":
        runner.request([curve], delay=60)
    runner.request(["f"], delay=0.01)
    runner.wait(60)
    assert set(world.trained) == {"f"}
    assert world.started == {"f": 1}


def test_stop_takes_effect_within_one_round_and_the_run_goes_on_later() -> None:
    world = World(gate=threading.Semaphore(2))
    runner = Runner(world.start)
    runner.request(["a"])
    until(lambda: len(world.trained) == 2)
    runner.stop()
    assert runner.stopped
    world.gate.release(100)
    runner.wait(60)
    assert len(world.trained) <= 3
    assert not runner.busy
    runner.request(["a"])
    runner.wait(60)
    assert len(world.trained) == 5
    assert world.started == {"a": 1}


def test_one_round_at_a_time_over_several_runners() -> None:
    world = World(rounds=20)
    runners = [Runner(world.start) for _ in range(3)]
    for number, runner in enumerate(runners):
        runner.request([f"{number}a", f"{number}b"])
    for runner in runners:
        runner.wait(60)
    assert world.most_at_once == 1
    assert len(world.trained) == 3 * 2 * 20


def test_an_error_ends_its_run_only_stays_with_it_and_is_raised_by_wait() -> None:
    error = ValueError("lr=-1: must be > 0")
    world = World(failing={"bad": error})
    runner = Runner(world.start)
    runner.request(["bad", "good"])
    with pytest.raises(ValueError, match="lr=-1"):
        runner.wait(60)
    bad, good = runner.runs()
    assert bad.error is error
    assert good.history == [1, 2, 3, 4, 5]
    del world.failing["bad"]
    runner.request(["bad", "good"])  # a failed run is tried again
    runner.wait(60)
    assert runner.runs()[0].history == [1, 2, 3, 4, 5]
    assert world.started == {"bad": 2, "good": 1}


def test_an_error_of_the_listener_is_raised_by_wait() -> None:
    def listener() -> None:
        raise KeyError("drawing")

    runner = Runner(World().start, listener)
    runner.request(["a"])
    with pytest.raises(KeyError, match="drawing"):
        runner.wait(60)


@pytest.mark.parametrize("stop", [SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_what_would_end_the_thread_is_an_error_like_others(stop: BaseException) -> None:
    world = World(failing={"bad": stop})
    runner = Runner(world.start)
    runner.request(["bad", "good"])
    with pytest.raises(RuntimeError, match=re.escape(f"ended with {stop!r}")) as caught:
        runner.wait(60)
    assert caught.value.__cause__ is stop
    assert runner.runs()[1].history == [1, 2, 3, 4, 5]

    def listener() -> None:
        raise stop

    runner = Runner(World().start, listener)
    runner.request(["a"])
    with pytest.raises(RuntimeError, match=re.escape(f"ended with {stop!r}")):
        runner.wait(10)


def test_the_listener_is_called_after_every_round_and_when_all_is_done() -> None:
    world, seen = World(), []
    runner = Runner(world.start, lambda: seen.append((len(world.trained), runner.busy)))
    runner.request(["a"])
    runner.wait(60)
    assert [count for count, _ in seen[:5]] == [1, 2, 3, 4, 5]
    assert seen[-1] == (5, False)


def test_warnings_of_the_run_are_kept_with_it_and_printed_nowhere(capfd, recwarn) -> None:
    world = World(warning="λ=24 is unstable")
    runner = Runner(world.start)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _printed
        runner.request(["a"])
        runner.wait(60)
        assert runner.runs()[0].warnings == ["λ=24 is unstable"]
        warnings.warn("from the main thread", stacklevel=1)
    assert capfd.readouterr().out == "from the main thread\n"


def test_a_warning_that_repeats_at_its_place_is_told_by_every_run_and_by_the_main_thread() -> None:
    world, text = World(warning="λ=24 is unstable"), "λ=24 is unstable"
    runner = Runner(world.start)
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("default")  # Python's own: once at each place
        next(world.start("before"))
        runner.request(["a", "b"])
        runner.wait(60)
        runner.request(["c"])
        runner.wait(60)
        next(world.start("after"))
    assert [run.warnings for run in (*runner.runs(), runner._runs["a"], runner._runs["b"])] == [[text]] * 3
    assert [str(warning.message) for warning in printed] == [text] * 2


def _printed(message, *place, **more) -> None:
    print(message)


def test_only_so_many_finished_runs_are_kept(monkeypatch) -> None:
    world = World(rounds=1)
    monkeypatch.setattr(runner_module, "_KEPT", 2)
    runner = Runner(world.start)
    for curve in "abcdea":
        runner.request([curve])
        runner.wait(60)
    assert world.started["a"] == 2
    runner.request("e")
    runner.wait(60)
    assert world.started["e"] == 1


def test_wait_gives_up_after_its_time() -> None:
    world = World(gate=threading.Semaphore(0))
    runner = Runner(world.start)
    runner.request(["a"])
    with pytest.raises(TimeoutError, match=r"0\.05"):
        runner.wait(0.05)
    world.gate.release(100)
    runner.wait(60)
