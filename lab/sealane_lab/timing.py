"""How long one call takes, of several ways that take turns.

A machine is not equally fast all the time, so the ways are not timed one after another but in rounds: each
once a round, in an order that changes. What is told of a way is the median of its rounds and their quartiles.
"""

from __future__ import annotations

import functools
import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Work = Callable[[], object]
Clock = Callable[[], float]

Timed = Callable[[int], float]
"""Does its work so many times and returns the seconds of all of them together."""


@dataclass(frozen=True)
class Effort:
    """How much time a measurement may take.

    Parameters
    ----------
    budget : float
        Seconds for all ways together. The least number of rounds is done even if it takes longer.
    least : float
        Seconds that one way takes in one round, by repetition: a clock tells little of a microsecond.
    rounds : (int, int)
        The fewest and the most.
    """

    budget: float
    least: float = 0.002
    rounds: tuple[int, int] = (5, 101)


@dataclass(frozen=True)
class Summary:
    """Seconds of one call: the median, both quartiles, and of how many rounds."""

    median: float
    low: float
    high: float
    n: int


def summary(samples: Sequence[float]) -> Summary:
    """Of at least one sample."""
    if len(samples) == 1:
        return Summary(samples[0], samples[0], samples[0], 1)
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Summary(median, low, high, len(samples))


def timed(work: Work, reset: Work | None = None, clock: Clock = time.perf_counter) -> Timed:
    """``work`` in a loop; with ``reset`` before each call, whose time does not count."""

    def loop(calls: int) -> float:
        turns = range(calls)
        began = clock()
        for _ in turns:
            work()
        return clock() - began

    def apart(calls: int) -> float:
        assert reset is not None
        seconds = 0.0
        for _ in range(calls):
            reset()
            began = clock()
            work()
            seconds += clock() - began
        return seconds

    return loop if reset is None else apart


def calls_for(way: Timed, least: float) -> int:
    """How often to repeat it, so that a round takes ``least`` seconds. Warms up as well."""
    if way(1) >= 10 * least:
        return 1  # Too long for the first call to mean much; a second one to find out would be waste.
    calls = 1
    while (seconds := way(calls)) < least:
        # Never more than tenfold: the first calls are slow, and a guess from them would be far off.
        wanted = int(calls * least / seconds * 1.2) + 1 if seconds > 0 else calls * 10
        calls = max(calls + 1, min(wanted, calls * 10))
    return calls


def order(names: Sequence[str], turn: int) -> list[str]:
    """Who comes when: shuffled anew every round, the same in every run, so that nobody always finds caches
    and memory as the same other one left them. (Turning the list round did not do: neighbours stay so.)
    """
    return random.Random(turn).sample(names, len(names))


def measure(
    ways: Mapping[str, Timed],
    effort: Effort,
    clock: Clock = time.perf_counter,
    failed: Callable[[str, Exception], object] | None = None,
) -> dict[str, list[float]]:
    """Seconds of one call, a sample a round, of every way.

    A way that raises is given to ``failed`` and has no samples; without ``failed`` it raises here.
    """
    samples: dict[str, list[float]] = {}
    began = clock()
    collecting = gc.isenabled()
    gc.disable()
    try:
        calls: dict[str, int] = {}

        def attempt(name: str, work: Work) -> None:
            try:
                work()
            except Exception as error:
                if failed is None:
                    raise
                failed(name, error)
                calls.pop(name, None)
                samples.pop(name, None)

        def warm(name: str) -> None:
            calls[name] = calls_for(ways[name], effort.least)
            samples[name] = []

        def sample(name: str) -> None:
            samples[name].append(ways[name](calls[name]) / calls[name])

        for name in ways:
            attempt(name, functools.partial(warm, name))
        fewest, most = effort.rounds
        rounds_began = clock()
        for turn in range(most):
            now = clock()
            a_round = (now - rounds_began) / turn if turn else 0.0
            if not calls or (turn >= fewest and now + a_round - began > effort.budget):
                break
            for name in order(list(calls), turn):
                attempt(name, functools.partial(sample, name))
    finally:
        if collecting:
            gc.enable()
    return samples
