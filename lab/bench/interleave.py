"""Times two functions in interleaved rounds and prints their ratio."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter

Work = Callable[[], object]


def seconds(work: Work, calls: int) -> float:
    """Returns the seconds of one call, averaged over consecutive calls."""
    repetitions = range(calls)
    start = perf_counter()
    for _ in repetitions:
        work()
    return (perf_counter() - start) / calls


def faster(base: Work, ours: Work, calls: int, rounds: int) -> tuple[float, float, float]:
    """Returns the median seconds of both, and the median of the rounds' ratios ``base / ours``.

    On a machine whose speed drifts, a ratio within one round is meaningful; two figures from different
    minutes are not.
    """
    pairs = []
    for number in range(rounds):
        # The order alternates, because the second function finds warmer caches.
        if number % 2:
            mine, theirs = seconds(ours, calls), seconds(base, calls)
        else:
            theirs, mine = seconds(base, calls), seconds(ours, calls)
        pairs.append((theirs, mine))
    ratio = statistics.median(theirs / mine for theirs, mine in pairs)
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), ratio


def print_ratio(label: str, target: str, theirs: float, mine: float, ratio: float) -> None:
    """Prints one line of the table."""
    print(f"{label:<46} {scaled(theirs):>10} {scaled(mine):>10} {ratio:>7.2f}x   {target}")


def print_judged(label: str, target: float, peer: str, result: tuple[float, float, float]) -> None:
    """Prints one line with its target, the least factor by which sealane should be faster than the peer."""
    verdict = "OK" if result[2] >= target else "SHORT"
    print_ratio(label, f">= {target:g}x {peer}: {verdict}", *result)


def scaled(value: float) -> str:
    """Returns a time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
