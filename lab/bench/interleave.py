"""Two sides that take turns, and what comes out of it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter

Work = Callable[[], object]


def seconds(work: Work, calls: int) -> float:
    """Seconds of one call, of so many in a row."""
    turns = range(calls)
    start = perf_counter()
    for _ in turns:
        work()
    return (perf_counter() - start) / calls


def faster(base: Work, ours: Work, calls: int, rounds: int) -> tuple[float, float, float]:
    """Median seconds of either, and the median of how many times faster ``ours`` is."""
    pairs = []
    for turn in range(rounds):
        # Whoever comes second finds warmer caches, so the order changes.
        if turn % 2:
            mine, theirs = seconds(ours, calls), seconds(base, calls)
        else:
            theirs, mine = seconds(base, calls), seconds(ours, calls)
        pairs.append((theirs, mine))
    ratio = statistics.median(theirs / mine for theirs, mine in pairs)
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), ratio


def row(what: str, target: str, theirs: float, mine: float, ratio: float) -> None:
    print(f"{what:<46} {scaled(theirs):>10} {scaled(mine):>10} {ratio:>7.2f}x   {target}")


def judged(what: str, least: float, peer: str, result: tuple[float, float, float]) -> None:
    """A row that should be so many times as fast as its peer."""
    row(what, f">= {least:g}x {peer}: {'OK' if result[2] >= least else 'SHORT'}", *result)


def scaled(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
