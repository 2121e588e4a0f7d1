"""Times one call of several contenders in interleaved rounds.

The speed of a machine changes over time. Therefore the contenders are not timed one after another but in
rounds: each round times every contender once, in a random order. The result of a contender is the median of
its rounds, with the quartiles.
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
"""Makes that many calls and returns the seconds of all of them together."""


@dataclass(frozen=True)
class Effort:
    """The time that a measurement may take.

    Parameters
    ----------
    budget : float
        Seconds for all contenders together. The minimum number of rounds runs even if it takes longer.
    min_seconds : float
        Seconds that one contender takes in one round, by repetition: the clock is too coarse for a single
        call of a microsecond.
    rounds : (int, int)
        The minimum and the maximum number of rounds.
    """

    budget: float
    min_seconds: float = 0.002
    rounds: tuple[int, int] = (5, 101)


@dataclass(frozen=True)
class Summary:
    """Seconds of one call: the median, both quartiles, and the number of rounds."""

    median: float
    low: float
    high: float
    n: int


def summary(samples: Sequence[float]) -> Summary:
    """Summarizes the times of all rounds, of which there must be at least one."""
    if len(samples) == 1:
        return Summary(samples[0], samples[0], samples[0], 1)
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Summary(median, low, high, len(samples))


def timed(work: Work, reset: Work | None = None, clock: Clock = time.perf_counter) -> Timed:
    """Returns a timed loop over ``work``. The time of ``reset``, called before each call, is not counted."""

    def loop(calls: int) -> float:
        repetitions = range(calls)
        began = clock()
        for _ in repetitions:
            work()
        return clock() - began

    def with_reset(calls: int) -> float:
        assert reset is not None
        seconds = 0.0
        for _ in range(calls):
            reset()
            began = clock()
            work()
            seconds += clock() - began
        return seconds

    return loop if reset is None else with_reset


def calls_for(timed: Timed, min_seconds: float) -> int:
    """Returns the number of calls that take ``min_seconds``.

    The calls that find it out also warm the caches.
    """
    if timed(1) >= 10 * min_seconds:
        return 1
    calls = 1
    while (seconds := timed(calls)) < min_seconds:
        # At most ten times as many: the first calls are slow, and an estimate from them would be
        # far too low.
        wanted = int(calls * min_seconds / seconds * 1.2) + 1 if seconds > 0 else calls * 10
        calls = max(calls + 1, min(wanted, calls * 10))
    return calls


def order(names: Sequence[str], round_number: int) -> list[str]:
    """Returns the order of the contenders in a round: random, but the same in every run.

    A contender finds the caches and the memory as the one before it left them. With a rotated order, each
    would always follow the same one.
    """
    return random.Random(round_number).sample(names, len(names))


def measure(
    contenders: Mapping[str, Timed],
    effort: Effort,
    clock: Clock = time.perf_counter,
    failed: Callable[[str, Exception], object] | None = None,
) -> dict[str, list[float]]:
    """Returns the seconds of one call of every contender, one sample per round.

    A contender that raises is reported to ``failed`` and has no samples. Without ``failed`` the error is
    raised.
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
            calls[name] = calls_for(contenders[name], effort.min_seconds)
            samples[name] = []

        def sample(name: str) -> None:
            samples[name].append(contenders[name](calls[name]) / calls[name])

        for name in contenders:
            attempt(name, functools.partial(warm, name))
        min_rounds, max_rounds = effort.rounds
        rounds_began = clock()
        for number in range(max_rounds):
            now = clock()
            a_round = (now - rounds_began) / number if number else 0.0
            if not calls or (number >= min_rounds and now + a_round - began > effort.budget):
                break
            for name in order(list(calls), number):
                attempt(name, functools.partial(sample, name))
    finally:
        if collecting:
            gc.enable()
    return samples
